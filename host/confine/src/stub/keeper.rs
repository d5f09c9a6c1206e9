use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
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
    control: OwnedFd,
    plan: OwnedFd,
    streams: [OwnedFd; 3],
    workspace: OwnedFd,
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

/// Serves orders that come over standard input, one after the other, until the gateway closes it.
pub fn serve() -> ExitCode {
    match prepare_keeper().and_then(|socket| {
        while let Some(given) = receive(&socket)? {
            if let Err((control, fault)) = run(given) {
                wire::report(control.as_fd(), &Report::Failed(fault), &[]);
            }
            wire::send(socket.as_fd(), wire::DONE, &[])?;
        }
        Ok(())
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Leaves behind what the gateway lent, and enters the control group.
fn prepare_keeper() -> io::Result<OwnedFd> {
    // What the gateway left open by mistake is closed before anything else is opened.
    sys::close_from(3, Close::Now)?;
    let socket = rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    sys::default_signals();
    // When the machine runs out of memory, what is confined goes first.
    let _without = std::fs::write("/proc/self/oom_score_adj", "500");
    let (_, entries) = wire::receive(socket.as_fd())?;
    for entry in entries {
        std::fs::File::from(entry).write_all(b"0")?;
    }
    if rustix::process::geteuid().is_root() {
        rustix::thread::set_thread_groups(&[])?;
    }
    Ok(socket)
}

fn receive(socket: &OwnedFd) -> io::Result<Option<Given>> {
    let (bytes, descriptors) = wire::receive(socket.as_fd())?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let order = serde_json::from_slice(&bytes)?;
    let [control, plan, stdin, stdout, stderr, workspace] =
        descriptors.try_into().map_err(|_| io::Error::other("an order with other descriptors"))?;
    Ok(Some(Given { order, control, plan, streams: [stdin, stdout, stderr], workspace }))
}

/// Carries out one order, to the end of all that it started.
fn run(given: Given) -> Result<(), (OwnedFd, Fault)> {
    let Given { order, control, plan, streams, workspace } = given;
    match start(order, &control, plan, streams, workspace) {
        Ok((init, _alive)) => {
            // From now on only init speaks for the program.
            drop(control);
            wait(init);
            Ok(())
        }
        Err(fault) => Err((control, fault)),
    }
}

/// Process 1, ready to go on, and the pipe whose end tells it that the keeper died.
fn start(
    order: Order,
    control: &OwnedFd,
    plan: OwnedFd,
    streams: [OwnedFd; 3],
    workspace: OwnedFd,
) -> Result<(Pid, OwnedFd), Fault> {
    let (identity, tree) = match order.host {
        Some(host) => as_root(host, &workspace).map(|(identity, tree)| (identity, Some(tree)))?,
        None => (as_user(), None),
    };
    let (go, alive) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at(Step::Namespaces, "pipe")?;
    let namespaces = sys::NAMESPACES | if order.cgroup_namespace { libc::CLONE_NEWCGROUP } else { 0 };
    let init = match sys::fork(namespaces).at(Step::Namespaces, "clone")? {
        Side::Parent(init) => init,
        Side::Child => {
            drop(alive);
            let keeper = wait_for_go(go);
            init::run(keeper, Inside { order, identity, plan, streams, workspace, tree, control: control.as_fd() })
        }
    };
    let prepared = prepare(init, &order, identity, tree.as_ref());
    let woken = prepared.and_then(|()| rustix::io::write(&alive, b"g").at(Step::Namespaces, "wake"));
    if let Err(fault) = woken {
        // Without the word to go on, init ends by itself as soon as the pipe is closed.
        drop(alive);
        wait(init);
        return Err(fault);
    }
    Ok((init, alive))
}

/// Blocks until the keeper has written the maps; `None` when it gave up. The pipe is kept, since its end tells that the keeper died.
fn wait_for_go(go: OwnedFd) -> Option<OwnedFd> {
    matches!(rustix::io::read(&go, &mut [0_u8]), Ok(1)).then_some(go)
}

fn wait(init: Pid) {
    while matches!(waitpid(Some(init), WaitOptions::empty()), Err(Errno::INTR)) {}
}

/// As root, the program becomes a user that owns nothing, and the workspace is mounted so that this user stands for the workspace's
/// owner: what the program makes belongs to that owner on disk, as if the gateway had made it.
fn as_root(host: HostId, workspace: &OwnedFd) -> Result<(Identity, OwnedFd), Fault> {
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

fn prepare(init: Pid, order: &Order, who: Identity, tree: Option<&OwnedFd>) -> Result<(), Fault> {
    let number = init.as_raw_pid();
    let process = open(format!("/proc/{number}"), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .at(Step::Identity, "open init's directory in /proc")?;
    write_maps(&process, (who.user, who.host_user), (who.group, who.host_group))
        .at(Step::Identity, "write the maps")?;
    if let Some(tree) = tree {
        let owners = openat(&process, "ns/user", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .at(Step::Workspace, "open the user namespace")?;
        sys::set_mount(tree.as_fd(), view::attributes(order.workspace), false, Some(owners.as_fd()))
            .at(Step::Workspace, "translate owners")?;
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
