use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use rustix::fs::{CWD, Mode, OFlags, open, openat};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::init::{self, Waiting};
use super::sys::{self, Close, Side};
use super::{At, Fault, Step, filter, view};
use crate::wire::{self, Order, Report, Settings};

/// What comes with an order.
struct Given {
    order: Order,
    control: OwnedFd,
    plan: OwnedFd,
    streams: [OwnedFd; 3],
    workspace: OwnedFd,
}

/// Whom programs are to the host, and which numbers the outer user namespace has for that: as root, those of the gateway, so
/// that they also stand for the owner of the workspaces; else 0.
#[derive(Clone, Copy)]
pub struct Identity {
    pub user: u32,
    pub group: u32,
    host_user: u32,
    host_group: u32,
}

/// Serves orders that come over standard input, one after the other, until the gateway closes it.
pub fn serve() -> ExitCode {
    let served = take_socket().and_then(|socket| {
        let settings = prepare(&socket);
        carry_out(&socket, &settings)
    });
    if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Leaves behind whatever else the gateway lent.
fn take_socket() -> io::Result<OwnedFd> {
    // What it left open by mistake is closed before anything else is opened.
    sys::close_from(3, Close::Now)?;
    let socket = rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(socket)
}

/// Enters the control group, and does what is the same for all programs.
fn prepare(socket: &OwnedFd) -> Result<Settings, Fault> {
    let (settings, entries) = wire::receive(socket.as_fd()).at(Step::Order, "receive the settings")?;
    let settings = serde_json::from_slice(&settings).at(Step::Order, "read the settings")?;
    for entry in entries {
        std::fs::File::from(entry).write_all(b"0").at(Step::Group, "enter the control group")?;
    }
    // A session without a terminal, for all that comes of this process. One for each program would be a new party to the
    // scheduler each time, which lets those wait.
    rustix::process::setsid().at(Step::Identity, "leave the gateway's session")?;
    if rustix::process::geteuid().is_root() {
        rustix::thread::set_thread_groups(&[]).at(Step::Identity, "leave the gateway's groups")?;
    }
    sys::default_signals();
    filter::prepare();
    // When the machine runs out of memory, what is confined goes first.
    let _without = std::fs::write("/proc/self/oom_score_adj", "500");
    Ok(settings)
}

/// Has the next process 1 ready before it is asked for: making its namespaces is most of what a start costs.
fn carry_out(socket: &OwnedFd, settings: &Result<Settings, Fault>) -> io::Result<()> {
    let ready = || settings.clone().and_then(Init::start);
    let mut next = ready();
    while let Some(given) = receive(socket)? {
        if let Err(fault) = next.and_then(|init| init.run(&given)) {
            wire::report(given.control.as_fd(), &Report::Failed(fault), &[]);
        }
        drop(given);
        wire::send(socket.as_fd(), wire::DONE, &[])?;
        next = ready();
    }
    Ok(())
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

/// A process 1 that waits in its namespaces. When this is dropped, it ends.
struct Init {
    pid: Pid,
    /// Where it waits for its order. Taken when that has been carried out, or so that it ends without one.
    socket: Option<OwnedFd>,
    identity: Identity,
    as_root: bool,
}

impl Init {
    fn start(settings: Settings) -> Result<Self, Fault> {
        let identity = identity(settings);
        let (socket, theirs) = wire::pair().at(Step::Namespaces, "socket")?;
        let namespaces = sys::NAMESPACES | if settings.cgroup_namespace { libc::CLONE_NEWCGROUP } else { 0 };
        let pid = match sys::fork(namespaces).at(Step::Namespaces, "clone")? {
            Side::Parent(pid) => pid,
            Side::Child => {
                drop(socket);
                init::run(Waiting { settings, identity, keeper: theirs })
            }
        };
        let init = Self { pid, socket: Some(socket), identity, as_root: settings.host.is_some() };
        init.write_maps().at(Step::Identity, "write the maps")?;
        Ok(init)
    }

    /// Hands over a program, and waits for the end of all that comes of it.
    fn run(mut self, given: &Given) -> Result<(), Fault> {
        let tree = if self.as_root { Some(self.workspace_tree(given)?) } else { None };
        let [stdin, stdout, stderr] = given.streams.each_ref().map(AsFd::as_fd);
        let workspace = tree.as_ref().unwrap_or(&given.workspace).as_fd();
        let descriptors = [given.control.as_fd(), given.plan.as_fd(), stdin, stdout, stderr, workspace];
        if let Some(socket) = &self.socket {
            wire::send(socket.as_fd(), b"order", &descriptors).at(Step::Order, "pass on")?;
            wait(self.pid);
        }
        self.socket = None;
        Ok(())
    }

    fn write_maps(&self) -> io::Result<()> {
        let Identity { user, group, host_user, host_group } = self.identity;
        write_maps(&self.process()?, (user, host_user), (group, host_group))
    }

    /// The mount of the workspace, made so that the program's user stands for the owner: what the program makes belongs to that
    /// owner on disk, as if the gateway had made it.
    fn workspace_tree(&self, given: &Given) -> Result<OwnedFd, Fault> {
        let owner = rustix::fs::fstat(&given.workspace).at(Step::Workspace, "stat")?;
        if (owner.st_uid, owner.st_gid) != (self.identity.user, self.identity.group) {
            let Identity { user, group, .. } = self.identity;
            let detail = format!(
                "it belongs to {}:{} and not to the gateway's {user}:{group}, to whom it must be given",
                owner.st_uid, owner.st_gid
            );
            return Err(Errno::PERM).at(Step::Workspace, detail);
        }
        let flags = view::CLONE | OpenTreeFlags::AT_EMPTY_PATH;
        let tree = open_tree(&given.workspace, c"", flags).at(Step::Workspace, "clone the mount")?;
        let owners = self
            .process()
            .and_then(|process| Ok(openat(process, "ns/user", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?))
            .at(Step::Workspace, "open the user namespace")?;
        sys::set_mount(tree.as_fd(), view::attributes(given.order.workspace), false, Some(owners.as_fd()))
            .at(Step::Workspace, "translate owners")?;
        Ok(tree)
    }

    /// Its directory in `/proc`.
    fn process(&self) -> io::Result<OwnedFd> {
        let path = format!("/proc/{}", self.pid.as_raw_pid());
        Ok(open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        if self.socket.take().is_some() {
            wait(self.pid);
        }
    }
}

fn wait(init: Pid) {
    while matches!(waitpid(Some(init), WaitOptions::empty()), Err(Errno::INTR)) {}
}

fn identity(settings: Settings) -> Identity {
    let (own_user, own_group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    match settings.host {
        Some(host) => {
            Identity { user: own_user, group: own_group, host_user: host.number(), host_group: host.number() }
        }
        None => Identity { user: 0, group: 0, host_user: own_user, host_group: own_group },
    }
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
