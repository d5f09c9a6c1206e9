use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFlags, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};
use rustix::thread::{CapabilitySet, CapabilitySets};
use rustix::thread::{Gid, Uid, UnshareFlags};

use super::keeper::{Identity, own_process, write_maps};
use super::sys::{self, Side};
use super::{At, Fault, Step, program, view};
use crate::plan::Network;
use crate::wire::{self, Report, Settings};

/// The user and group that a program sees itself as.
pub const INSIDE: u32 = 1000;
/// The host name that a program sees.
const HOST_NAME: &[u8] = b"sandbox";

/// Process 1 before it has something to do.
pub struct Waiting {
    pub settings: Settings,
    pub identity: Identity,
    /// Where the order comes from, which ends when the keeper does.
    pub keeper: OwnedFd,
}

/// Process 1, to its end.
pub fn run(waiting: Waiting) -> ! {
    let Waiting { settings, identity, keeper } = waiting;
    // A keeper that has nothing more to do closes its end.
    let given: Option<[OwnedFd; 6]> = wire::receive(keeper.as_fd()).ok().and_then(|(_, given)| given.try_into().ok());
    let Some([control, plan, stdin, stdout, stderr, workspace]) = given else { sys::exit(0) };
    match start(settings, identity, Given { plan, streams: [stdin, stdout, stderr], workspace }) {
        Ok(Started { program, children, proxy }) => {
            wire::report(control.as_fd(), &Report::Started, proxy.as_ref().map(AsFd::as_fd).as_slice());
            // From now on only the gateway accepts.
            drop(proxy);
            serve(program, &children, &keeper, control.as_fd());
        }
        Err(fault) => wire::report(control.as_fd(), &Report::Failed(fault), &[]),
    }
    sys::exit(0)
}

struct Given {
    plan: OwnedFd,
    /// Standard input, output and error of the program.
    streams: [OwnedFd; 3],
    /// As root the mount that the keeper made, else the directory that the gateway opened.
    workspace: OwnedFd,
}

struct Started {
    program: Pid,
    children: OwnedFd,
    proxy: Option<TcpListener>,
}

fn start(settings: Settings, identity: Identity, given: Given) -> Result<Started, Fault> {
    let Given { plan, streams, workspace } = given;
    let plan = wire::read_plan(plan).at(Step::Order, "read the plan")?;
    become_inside(identity).at(Step::Identity, "become the mapped user")?;
    sys::enter_new(UnshareFlags::NEWNS).at(Step::Namespaces, "mounts")?;
    let tree = match settings.host {
        Some(_) => workspace,
        None => view::workspace_tree(&workspace, plan.workspace)?,
    };
    view::build(&plan, tree)?;
    let proxy = match plan.network {
        Network::None => None,
        Network::Proxy { port } => Some(listen(port).at(Step::Loopback, "listen")?),
    };
    give_up(identity).at(Step::Privileges, "give up every privilege")?;
    let children = sys::child_signals().at(Step::Start, "watch children")?;
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at(Step::Start, "pipe")?;
    match sys::fork(0).at(Step::Start, "fork")? {
        Side::Parent(program) => {
            drop((write, streams));
            program::await_exec(read)?;
            Ok(Started { program, children, proxy })
        }
        Side::Child => program::become_program(&plan, settings, streams, write),
    }
}

fn become_inside(identity: Identity) -> rustix::io::Result<()> {
    let (user, group) = (Uid::from_raw(identity.user), Gid::from_raw(identity.group));
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)
}

fn listen(port: u16) -> io::Result<TcpListener> {
    sys::loopback_up()?;
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// Moves into a second user namespace and drops every capability. Mounts and network belong to the first namespace, so that
/// a process which found its way to all capabilities of this one would still have no power over them.
fn give_up(identity: Identity) -> io::Result<()> {
    rustix::system::sethostname(HOST_NAME)?;
    sys::enter_new(UnshareFlags::NEWUSER)?;
    // Changing credentials made this process's files in /proc root's.
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable)?;
    write_maps(&own_process()?, (INSIDE, identity.user), (INSIDE, identity.group))?;
    rustix::thread::clear_ambient_capability_set()?;
    for capability in CapabilitySet::all() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // Newer than this kernel.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    rustix::thread::set_no_new_privs(true)?;
    // Nobody of the same user inside looks into process 1 or its descriptors.
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    // After the last change of credentials, which would clear it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(())
}

/// Reaps until the program ends, the gateway goes, or the keeper dies. When this process ends, the kernel ends all others.
fn serve(program: Pid, children: &OwnedFd, keeper: &OwnedFd, control: BorrowedFd<'_>) {
    loop {
        let mut events = [wire::readable(children), wire::readable(&control), wire::readable(keeper)];
        match poll(&mut events, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        let [child, gateway, keeper] = events.map(|event| event.revents());
        if !keeper.is_empty() || gateway.intersects(PollFlags::HUP | PollFlags::ERR) {
            return;
        }
        if gateway.contains(PollFlags::IN) {
            match wire::receive(control) {
                Ok((message, _)) if message == wire::TERMINATE => sys::terminate_all(),
                Ok(_) | Err(_) => return,
            }
        }
        if child.contains(PollFlags::IN) {
            let _drained = rustix::io::read(children, &mut [0_u8; 1024]);
            if let Some(status) = reap(program) {
                return wire::report(control, &ended(status), &[]);
            }
        }
    }
}

/// Takes every child that ended; the program's status once it is among them.
fn reap(program: Pid) -> Option<WaitStatus> {
    let mut ended = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == program {
            ended = Some(status);
        }
    }
    ended
}

fn ended(status: WaitStatus) -> Report {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exited(code),
        (None, Some(signal)) => Report::Signalled(signal),
        (None, None) => Report::Signalled(libc::SIGKILL),
    }
}
