//! What gateway and stub say to each other, over a socket that keeps messages apart. It is the stub's standard input, so that
//! nothing is named in its arguments and no descriptor has to be inherited by number.

use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use serde::{Deserialize, Serialize};

use crate::plan::{Access, HostId, Plan};

pub use crate::packets::{next, pair, receive, send, watch};

/// A keeper's answer to an order when all that it started has ended.
pub const DONE: &[u8] = b"done";

/// The first message to a keeper: what is the same for all programs. Its descriptors are the files that take a process into a
/// control group.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Settings {
    /// The Landlock version whose rules are enforced, all or nothing.
    pub landlock: u8,
    /// Whom programs are to the host, where the gateway is root.
    pub host: Option<HostId>,
    /// Whether a control group bounds the memory.
    pub memory_group: bool,
    /// Whether a program gets a view of its own on control groups, which not every kernel has.
    pub cgroup_namespace: bool,
}

/// The rest of the messages to a keeper: what it must know itself of a program. Comes with six descriptors: a socket for this
/// program alone, the plan, the three standard streams, and the workspace.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Order {
    /// What may be done with the workspace.
    pub workspace: Access,
}

/// What is said about a program.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The program runs. Carries the proxy's listener where one was granted.
    Started,
    /// Nothing runs.
    Failed(Fault),
    /// The program ended by itself.
    Exited(i32),
    /// The program was ended by a signal.
    Signalled(i32),
}

/// Which part of the set-up failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub step: Step,
    /// The kernel's error number; 0 where none was given.
    pub errno: i32,
    pub detail: String,
}

/// The steps of the set-up, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    Order,
    Group,
    Namespaces,
    Identity,
    Workspace,
    System,
    Proc,
    Root,
    Loopback,
    Privileges,
    Start,
    Limits,
    Directory,
    Landlock,
    Seccomp,
    Program,
}

/// What the gateway says to a program's process 1: send SIGTERM to everything. To end everything, it closes its end.
pub const TERMINATE: &[u8] = b"T";

/// Sends what the stub has to say. There is nobody else to tell when that fails.
pub fn report(socket: BorrowedFd<'_>, report: &Report, descriptors: &[BorrowedFd<'_>]) {
    if let Ok(bytes) = serde_json::to_vec(report) {
        let _gone = send(socket, &bytes, descriptors);
    }
}

/// Puts a plan into a memory file, which has no size that a socket would refuse and no name that another could open.
pub fn write_plan(plan: &Plan) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("plan", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(file);
    file.write_all(&serde_json::to_vec(plan)?)?;
    file.rewind()?;
    Ok(file.into())
}

/// Reads what [`write_plan`] wrote.
pub fn read_plan(file: OwnedFd) -> io::Result<Plan> {
    let mut bytes = Vec::new();
    std::fs::File::from(file).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// The end of a socket for a poll that waits until it can be read.
pub fn readable<'fd>(descriptor: &'fd impl AsFd) -> rustix::event::PollFd<'fd> {
    rustix::event::PollFd::new(descriptor, rustix::event::PollFlags::IN)
}
