use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFlags, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};
use rustix::thread::{CapabilitySet, CapabilitySets};
use rustix::thread::{Gid, Uid};

use super::keeper::{Identity, own_process, write_maps};
use super::sys::{self, Side};
use super::{At, Fault, Step, program, view};
use crate::plan::Network;
use crate::wire::{self, Order, Report};

/// The user and group that a program sees itself as.
pub const INSIDE: u32 = 1000;
/// The host name that a program sees.
const HOST_NAME: &[u8] = b"sandbox";

/// What process 1 starts with.
pub struct Inside<'fd> {
    pub order: Order,
    pub identity: Identity,
    pub plan: OwnedFd,
    /// Standard input, output and error of the program.
    pub streams: [OwnedFd; 3],
    pub workspace: OwnedFd,
    /// The workspace's mount, where the keeper made it.
    pub tree: Option<OwnedFd>,
    /// Where the gateway is told how it goes.
    pub control: BorrowedFd<'fd>,
}

/// Process 1, to its end. `keeper` ends when the keeper does.
pub fn run(keeper: Option<OwnedFd>, inside: Inside<'_>) -> ! {
    let control = inside.control;
    // A keeper that gave up has told why.
    let Some(keeper) = keeper else { sys::exit(1) };
    match start(inside) {
        Ok(started) => {
            let Started { program, children, proxy } = started;
            wire::report(control, &Report::Started, proxy.as_ref().map(AsFd::as_fd).as_slice());
            // From now on only the gateway accepts.
            drop(proxy);
            serve(program, &children, &keeper, control)
        }
        Err(fault) => wire::report(control, &Report::Failed(fault), &[]),
    }
    sys::exit(0)
}

struct Started {
    program: Pid,
    children: OwnedFd,
    proxy: Option<TcpListener>,
}

fn start(inside: Inside<'_>) -> Result<Started, Fault> {
    let Inside { order, identity, plan, streams, workspace, tree, .. } = inside;
    let plan = wire::read_plan(plan).at(Step::Order, "read the plan")?;
    become_inside(identity).at(Step::Identity, "become the mapped user")?;
    let tree = tree.map_or_else(|| view::workspace_tree(&workspace, order.workspace), Ok)?;
    drop(workspace);
    view::build(&plan, tree)?;
    let proxy = match plan.network {
        Network::None => None,
        Network::Proxy { port } => Some(listen(port).at(Step::Loopback, "listen")?),
    };
    give_up(identity).at(Step::Privileges, "give up every privilege")?;
    let children = sys::child_signals().at(Step::Program, "watch children")?;
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at(Step::Program, "pipe")?;
    match sys::fork(0).at(Step::Program, "fork")? {
        Side::Parent(program) => {
            drop((write, streams));
            program::await_exec(read)?;
            Ok(Started { program, children, proxy })
        }
        Side::Child => program::become_program(&plan, &order, streams, write),
    }
}

fn become_inside(identity: Identity) -> rustix::io::Result<()> {
    let (user, group) = (Uid::from_raw(identity.user), Gid::from_raw(identity.group));
    rustix::process::setsid()?;
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
    sys::enter_user_namespace()?;
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
