use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::ExitCode;

use rustix::fs::{CWD, Mode, OFlags, open, openat};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::init::{self, Inside};
use super::sys::{self, Close, Side};
use super::view;
use super::{At, Fault, Step};
use crate::plan::HostId;
use crate::wire::{self, Order, Report};

/// What comes with an order.
struct Given {
    order: Order,
    stdin: OwnedFd,
    workspace: OwnedFd,
    groups: Vec<OwnedFd>,
}

/// Whom the program is to the host, and which numbers the outer user namespace has for that.
#[derive(Clone, Copy)]
pub struct Identity {
    /// The user inside the outer namespace, which is the workspace's owner on disk where owners are translated.
    pub user: u32,
    pub group: u32,
    host_user: u32,
    host_group: u32,
}

/// Serves the one order that comes over standard input.
pub fn serve() -> ExitCode {
    // What the gateway left open by mistake is closed before anything else is opened.
    let Ok(()) = sys::close_from(3, Close::Now) else { return ExitCode::FAILURE };
    let Ok(socket) = rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3) else { return ExitCode::FAILURE };
    match receive(socket.as_fd()).and_then(|given| run(given, &socket)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            wire::report(socket.as_fd(), &Report::Failed(fault), &[]);
            ExitCode::FAILURE
        }
    }
}

fn receive(socket: BorrowedFd<'_>) -> Result<Given, Fault> {
    let (_, descriptors) = wire::receive(socket).at(Step::Order, "receive")?;
    let mut descriptors = descriptors.into_iter();
    let (Some(plan), Some(stdin), Some(workspace)) = (descriptors.next(), descriptors.next(), descriptors.next())
    else {
        return Err(io::Error::other("the order is incomplete")).at(Step::Order, "receive");
    };
    let order = wire::read_order(plan).at(Step::Order, "read")?;
    Ok(Given { order, stdin, workspace, groups: descriptors.collect() })
}

fn run(given: Given, socket: &OwnedFd) -> Result<(), Fault> {
    let Given { order, stdin, workspace, groups } = given;
    // When the machine runs out of memory, what was confined goes first.
    let _without = std::fs::write("/proc/self/oom_score_adj", "500");
    let (identity, tree) = match order.host {
        Some(host) => as_root(host, &workspace).map(|(identity, tree)| (identity, Some(tree)))?,
        None => (as_user(), None),
    };
    let (go, mut ready) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map(|(read, write)| (std::fs::File::from(read), std::fs::File::from(write)))
        .at(Step::Namespaces, "pipe")?;
    let namespaces = sys::NAMESPACES | if order.cgroup_namespace { libc::CLONE_NEWCGROUP } else { 0 };
    let init = match sys::fork(namespaces).at(Step::Namespaces, "clone")? {
        Side::Parent(init) => init,
        Side::Child => {
            drop((ready, groups));
            let keeper = wait_for_go(go);
            let inside = Inside { order, identity, stdin, workspace, tree, socket: socket.as_fd() };
            init::run(keeper, inside)
        }
    };
    drop((go, stdin));
    let prepared = prepare(init, &order, identity, tree.as_ref(), groups);
    let started = prepared.and_then(|()| ready.write_all(b"g").at(Step::Namespaces, "wake"));
    if started.is_err() {
        // Without the word to go on, init ends by itself as soon as the pipe is closed.
        drop(ready);
        wait(init);
        return started;
    }
    wait(init);
    Ok(())
}

/// Blocks until the keeper has written the maps; `None` when it gave up. The pipe is kept, since its end tells that the keeper died.
fn wait_for_go(mut go: std::fs::File) -> Option<OwnedFd> {
    go.read_exact(&mut [0]).ok().map(|()| go.into())
}

fn wait(init: Pid) {
    while matches!(waitpid(Some(init), WaitOptions::empty()), Err(Errno::INTR)) {}
}

/// As root, the program becomes a user that owns nothing, and the workspace is mounted so that this user stands for the workspace's
/// owner: what the program makes belongs to that owner on disk, as if the gateway had made it.
fn as_root(host: HostId, workspace: &OwnedFd) -> Result<(Identity, OwnedFd), Fault> {
    rustix::thread::set_thread_groups(&[]).at(Step::Identity, "drop the gateway's groups")?;
    let owner = rustix::fs::fstat(workspace).at(Step::Workspace, "stat")?;
    let tree =
        open_tree(workspace, c"", view::CLONE | OpenTreeFlags::AT_EMPTY_PATH).at(Step::Workspace, "clone the mount")?;
    let (host_user, host_group) = (host.number(), host.number());
    Ok((Identity { user: owner.st_uid, group: owner.st_gid, host_user, host_group }, tree))
}

fn as_user() -> Identity {
    let (host_user, host_group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    Identity { user: 0, group: 0, host_user, host_group }
}

fn prepare(init: Pid, order: &Order, who: Identity, tree: Option<&OwnedFd>, groups: Vec<OwnedFd>) -> Result<(), Fault> {
    let number = init.as_raw_pid();
    let process = open(format!("/proc/{number}"), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .at(Step::Identity, "open init's directory in /proc")?;
    write_maps(&process, (who.user, who.host_user), (who.group, who.host_group))
        .at(Step::Identity, "write the maps")?;
    if let Some(tree) = tree {
        let owners = openat(&process, "ns/user", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .at(Step::Workspace, "open the user namespace")?;
        sys::set_mount(tree.as_fd(), view::attributes(order.plan.workspace), false, Some(owners.as_fd()))
            .at(Step::Workspace, "translate owners")?;
    }
    for group in groups {
        std::fs::File::from(group)
            .write_all(number.to_string().as_bytes())
            .at(Step::Groups, "enter the control group")?;
    }
    Ok(())
}

/// Writes one user and one group, as (inside, outside), into the maps of a process.
pub fn write_maps(process: &OwnedFd, user: (u32, u32), group: (u32, u32)) -> io::Result<()> {
    let write = |name: &str, line: String| {
        let file = openat(process, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        std::fs::File::from(file).write_all(line.as_bytes())
    };
    write("setgroups", "deny".into())?;
    write("gid_map", format!("{} {} 1", group.0, group.1))?;
    write("uid_map", format!("{} {} 1", user.0, user.1))
}

/// This process's own directory in `/proc`.
pub fn own_process() -> io::Result<OwnedFd> {
    Ok(openat(CWD, "/proc/self", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}
