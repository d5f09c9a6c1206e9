//! What gateway and stub say to each other, over a socket that keeps messages apart. It is the stub's standard input, so that
//! nothing is named in its arguments and no descriptor has to be inherited by number.

use std::io::{self, IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};
use tokio::io::unix::AsyncFd;

use crate::plan::{Access, HostId, Plan};

/// The most bytes of one message. A plan can be larger and travels in a memory file.
const MAX_MESSAGE: usize = 4096;
/// The most descriptors of one message.
const MAX_DESCRIPTORS: usize = 8;

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

/// Sends `message` and descriptors in one piece.
pub fn send(socket: BorrowedFd<'_>, message: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    sendmsg(socket, &[IoSlice::new(message)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// One message and its descriptors; an empty message means that the other end is gone.
pub fn receive(socket: BorrowedFd<'_>) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; MAX_MESSAGE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    bytes.truncate(got.bytes);
    let mut descriptors = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(given) = part {
            descriptors.extend(given);
        }
    }
    Ok((bytes, descriptors))
}

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

/// A socket pair that keeps messages apart, closed on exec.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?)
}

/// Makes a socket one that the runtime waits for.
pub fn watch(socket: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    rustix::io::ioctl_fionbio(&socket, true)?;
    #[expect(
        unsafe_code,
        reason = "the descriptor is owned by what is returned and is not replaced or closed before it"
    )]
    unsafe { AsyncFd::register(socket) }.map_err(Into::into)
}

/// The next message and its descriptors; `None` when the other end is gone.
pub async fn next(socket: &AsyncFd<OwnedFd>) -> Option<(Vec<u8>, Vec<OwnedFd>)> {
    loop {
        let mut ready = socket.readable().await.ok()?;
        match ready.try_io(|socket| receive(socket.get_ref().as_fd())) {
            Ok(Ok(message)) => return Some(message).filter(|(bytes, _)| !bytes.is_empty()),
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(Err(_)) => return None,
            Err(_would_block) => {}
        }
    }
}

/// The end of a socket for a poll that waits until it can be read.
pub fn readable<'fd>(descriptor: &'fd impl AsFd) -> rustix::event::PollFd<'fd> {
    rustix::event::PollFd::new(descriptor, rustix::event::PollFlags::IN)
}
