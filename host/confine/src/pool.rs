use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::process::{Child, Command};

use crate::cgroup::{Group, Groups};
use crate::find::Stub;
use crate::plan::Limits;
use crate::wire::{self, Order, Settings};

/// How many keepers wait for work at most. One takes the memory of a small process; starting one anew takes some
/// milliseconds, most of which the kernel spends on moving it into its control group.
const IDLE: usize = 8;
/// How long a keeper may take to fall after its processes, before it is killed itself. Only a machine that hangs gets there.
const COLLAPSE: Duration = Duration::from_secs(2);

/// The stub processes. Each serves one program at a time, in a control group of its own, and never reads what it is asked to
/// run, so that nothing of one program is left in it for the next.
#[derive(Debug)]
pub struct Pool {
    stub: Stub,
    groups: Groups,
    settings: Settings,
    /// How many were started.
    started: AtomicU32,
    /// `None` once closed.
    idle: Mutex<Option<Vec<Keeper>>>,
}

/// One stub process that waits for an order, or carries one out.
#[derive(Debug)]
pub struct Keeper {
    process: Child,
    socket: AsyncFd<OwnedFd>,
    group: Group,
}

impl Pool {
    pub fn new(stub: Stub, groups: Groups, settings: Settings) -> Arc<Self> {
        Arc::new(Self { stub, groups, settings, started: AtomicU32::new(0), idle: Mutex::new(Some(Vec::new())) })
    }

    /// A keeper whose control group has these limits.
    pub fn take(&self, limits: &Limits) -> io::Result<Keeper> {
        let waiting = self.idle.lock().unwrap_or_else(PoisonError::into_inner).as_mut().and_then(Vec::pop);
        if let Some(mut keeper) = waiting
            && keeper.process.try_wait().is_ok_and(|ended| ended.is_none())
            // A group that still holds more than it now may is of no use.
            && keeper.group.limit(limits).is_ok()
        {
            return Ok(keeper);
        }
        let mut keeper = self.start()?;
        keeper.group.limit(limits)?;
        Ok(keeper)
    }

    /// Takes back a keeper; one that is not done is of no more use.
    pub async fn give_back(&self, mut keeper: Keeper, done: bool) {
        if !done {
            // Init dies with the keeper, and its namespace with init.
            let _gone = keeper.process.kill().await;
            return;
        }
        if let Some(one_too_many) = self.put_back(keeper) {
            one_too_many.dismiss().await;
        }
    }

    /// Lets all keepers that wait end, and each that is given back from now on.
    pub async fn close(&self) {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        for keeper in idle.into_iter().flatten() {
            keeper.dismiss().await;
        }
    }

    fn put_back(&self, keeper: Keeper) -> Option<Keeper> {
        match self.idle.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(idle) if idle.len() < IDLE => {
                idle.push(keeper);
                None
            }
            Some(_) | None => Some(keeper),
        }
    }

    fn start(&self) -> io::Result<Keeper> {
        let (group, entries) = self.groups.make()?;
        let (ours, theirs) = wire::pair()?;
        let entries: Vec<BorrowedFd<'_>> = entries.iter().map(AsFd::as_fd).collect();
        // Programs that run at the same time are different users to the host, with nothing to share by that.
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let settings = Settings { host: self.settings.host.map(|host| host.pick(number)), ..self.settings };
        wire::send(ours.as_fd(), &serde_json::to_vec(&settings)?, &entries)?;
        let process = Command::new(self.stub.program())
            .arg0("caisson-confine")
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        Ok(Keeper { process, socket: wire::watch(ours)?, group })
    }
}

impl Keeper {
    /// Gives the keeper an order, with its descriptors. It always fits the socket, in which nothing else waits.
    pub fn order(&self, order: Order, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        wire::send(self.socket.get_ref().as_fd(), &serde_json::to_vec(&order)?, descriptors)
    }

    /// Whether the kernel ended a process for want of memory since this was asked last.
    pub fn ran_out_of_memory(&mut self) -> bool {
        self.group.ran_out_of_memory()
    }

    /// Waits until everything that was kept has ended; false when the keeper does not say so.
    pub async fn is_done(&self) -> bool {
        matches!(tokio::time::timeout(COLLAPSE, wire::next(&self.socket)).await, Ok(Some((word, _))) if word == wire::DONE)
    }

    /// Lets the keeper end, so that its control group is empty when it is removed.
    async fn dismiss(self) {
        let Self { mut process, socket, group } = self;
        drop(socket);
        let _gone = tokio::time::timeout(COLLAPSE, process.wait()).await;
        drop(group);
    }
}
