use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::sync::oneshot;

use crate::cgroup::Group;
use crate::wire::{self, Report};

/// How long a program may clean up after SIGTERM, before it is killed.
const GRACE: Duration = Duration::from_secs(3);
/// How long the stub may take to fall after its processes, before it is killed itself. Only a machine that hangs gets there.
const COLLAPSE: Duration = Duration::from_secs(2);

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status (0 to 255).
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was still running at the deadline.
    TimedOut,
    /// The kernel ended it, or something that it started and failed with, for want of memory. Known only where a control group
    /// bounds memory; elsewhere the program sees its allocations fail.
    OutOfMemory,
}

/// A program that runs, confined. When this is dropped, it and all that it started are killed at once.
#[derive(Debug)]
pub struct Running {
    pub(crate) control: Arc<AsyncFd<OwnedFd>>,
    pub(crate) stdin: Option<pipe::Sender>,
    pub(crate) stdout: Option<pipe::Receiver>,
    pub(crate) stderr: Option<pipe::Receiver>,
    pub(crate) proxy: Option<TcpListener>,
    pub(crate) ended: oneshot::Receiver<Ending>,
    pub(crate) ending: Option<Ending>,
}

impl Running {
    /// The program's standard input, once, where the plan asked for a pipe. Dropping it ends the input.
    pub fn take_stdin(&mut self) -> Option<pipe::Sender> {
        self.stdin.take()
    }

    /// The program's standard output, once. It ends when the program and all that it started have ended or closed it.
    pub fn take_stdout(&mut self) -> Option<pipe::Receiver> {
        self.stdout.take()
    }

    /// The program's standard error, once.
    pub fn take_stderr(&mut self) -> Option<pipe::Receiver> {
        self.stderr.take()
    }

    /// Where the program's connections to its proxy port arrive, once, where the plan granted a proxy. It is bound in the
    /// program's network and accepted from here; non-blocking.
    pub fn take_proxy(&mut self) -> Option<TcpListener> {
        self.proxy.take()
    }

    /// Waits for the program's end. When it ends, what it left running is killed.
    pub async fn wait(&mut self) -> Ending {
        if let Some(ending) = self.ending {
            return ending;
        }
        // The task that watches always answers, unless its runtime ends, and then everything is killed.
        let ending = (&mut self.ended).await.unwrap_or(Ending::Signalled(libc::SIGKILL));
        self.ending = Some(ending);
        ending
    }

    /// Sends SIGTERM to the program and to all that it started.
    pub fn terminate(&self) {
        let _gone = wire::send(std::os::fd::AsFd::as_fd(self.control.get_ref()), wire::TERMINATE, &[]);
    }

    /// Kills the program and all that it started. [`Running::wait`] tells when they are gone.
    pub fn kill(&self) {
        let _gone = rustix::net::shutdown(self.control.get_ref(), rustix::net::Shutdown::Both);
    }

    /// Waits for the program's end, at most `timeout`. Then everything gets SIGTERM, three seconds later SIGKILL.
    pub async fn finish(&mut self, timeout: Duration) -> Ending {
        if let Ok(ending) = tokio::time::timeout(timeout, self.wait()).await {
            return ending;
        }
        self.terminate();
        if tokio::time::timeout(GRACE, self.wait()).await.is_err() {
            self.kill();
            self.wait().await;
        }
        Ending::TimedOut
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What ends with a program.
pub(crate) struct Watched {
    pub stub: Child,
    pub control: Arc<AsyncFd<OwnedFd>>,
    pub group: Group,
}

/// Passes on the stub's first word, waits for its last one and for its end, then clears away what it needed.
pub(crate) async fn watch(
    watched: Watched,
    first: oneshot::Sender<(Report, Vec<OwnedFd>)>,
    tell: oneshot::Sender<Ending>,
) {
    let Watched { mut stub, control, group } = watched;
    let mut report = None;
    if let Some(said) = receive(&control).await {
        let started = said.0 == Report::Started;
        let _nobody_waits = first.send(said);
        if started {
            report = receive(&control).await.map(|(report, _)| report);
        }
    }
    if tokio::time::timeout(COLLAPSE, stub.wait()).await.is_err() {
        // Init dies with the keeper, and the namespace with init.
        let _gone = stub.kill().await;
    }
    let ending = match report {
        Some(Report::Exited(code)) => Ending::Exited(code),
        Some(Report::Signalled(signal)) => Ending::Signalled(signal),
        Some(Report::Started | Report::Failed(_)) | None => Ending::Signalled(libc::SIGKILL),
    };
    let failed = ending != Ending::Exited(0);
    let ending = if failed && group.ran_out_of_memory() { Ending::OutOfMemory } else { ending };
    drop(group);
    let _nobody_waits = tell.send(ending);
}

/// The stub's next word, with what came along; `None` when there is none.
pub(crate) async fn receive(control: &AsyncFd<OwnedFd>) -> Option<(Report, Vec<OwnedFd>)> {
    loop {
        let mut ready = control.readable().await.ok()?;
        match ready.try_io(|socket| wire::receive(std::os::fd::AsFd::as_fd(socket.get_ref()))) {
            Ok(Ok((bytes, descriptors))) => return Some((serde_json::from_slice(&bytes).ok()?, descriptors)),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(Err(_)) => return None,
            Err(_would_block) => {}
        }
    }
}
