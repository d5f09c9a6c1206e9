use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use crate::plan::Stdin;
use crate::pool::{Keeper, Pool};
use crate::wire::{self, Report};

/// How long a program may clean up after SIGTERM, before it is killed.
const GRACE: Duration = Duration::from_secs(3);

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

/// What ends a program, wherever it runs: on the host, confined, or in a container.
pub trait Ends: Send + Sync + std::fmt::Debug {
    /// Sends SIGTERM to the program and to all that it started.
    fn terminate(&self);
    /// Kills the program and all that it started.
    fn kill(&self);
}

/// A program that runs, confined. When this is dropped, it and all that it started are killed at once.
#[derive(Debug)]
pub struct Running {
    ends: Arc<dyn Ends>,
    stdin: Option<pipe::Sender>,
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    pub(crate) proxy: Option<TcpListener>,
    ended: oneshot::Receiver<Ending>,
    ending: Option<Ending>,
}

impl Running {
    /// A program that runs. Who makes it answers `ended` when the program and all that it started are gone.
    #[must_use]
    pub fn new(ends: Arc<dyn Ends>, streams: Streams, ended: oneshot::Receiver<Ending>) -> Self {
        let Streams { stdin, stdout, stderr } = streams;
        Self { ends, stdin, stdout: Some(stdout), stderr: Some(stderr), proxy: None, ended, ending: None }
    }

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
        self.ends.terminate();
    }

    /// Kills the program and all that it started. [`Running::wait`] tells when they are gone.
    pub fn kill(&self) {
        self.ends.kill();
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

/// The socket of a program alone.
#[derive(Debug)]
pub(crate) struct Control(pub(crate) AsyncFd<OwnedFd>);

impl Ends for Control {
    fn terminate(&self) {
        let _gone = wire::send(self.0.get_ref().as_fd(), wire::TERMINATE, &[]);
    }

    fn kill(&self) {
        let _gone = rustix::net::shutdown(self.0.get_ref(), rustix::net::Shutdown::Both);
    }
}

/// The gateway's ends of a program's streams.
#[derive(Debug)]
pub struct Streams {
    stdin: Option<pipe::Sender>,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
}

/// The program's ends of its streams.
#[derive(Debug)]
pub struct ChildStreams {
    /// Standard input; none where the plan asks for no pipe.
    pub stdin: Option<OwnedFd>,
    /// Standard output.
    pub stdout: OwnedFd,
    /// Standard error.
    pub stderr: OwnedFd,
}

impl Streams {
    /// Both ends.
    ///
    /// # Errors
    /// Where the system gives no more pipes.
    pub fn open(stdin: Stdin) -> io::Result<(Self, ChildStreams)> {
        let pipe = || pipe_with(PipeFlags::CLOEXEC);
        let (stdout, child_stdout) = pipe()?;
        let (stderr, child_stderr) = pipe()?;
        let (child_stdin, stdin) = match stdin {
            Stdin::Empty => (None, None),
            Stdin::Piped => {
                let (read, write) = pipe()?;
                (Some(read), Some(pipe::Sender::from_owned_fd(write)?))
            }
        };
        let (stdout, stderr) = (pipe::Receiver::from_owned_fd(stdout)?, pipe::Receiver::from_owned_fd(stderr)?);
        Ok((
            Self { stdin, stdout, stderr },
            ChildStreams { stdin: child_stdin, stdout: child_stdout, stderr: child_stderr },
        ))
    }
}

/// Passes on the first word about a program, waits for the last one and for the end of everything, and gives the keeper back.
pub(crate) async fn watch(
    (pool, mut keeper): (Arc<Pool>, Keeper),
    control: Arc<Control>,
    first: oneshot::Sender<(Report, Vec<OwnedFd>)>,
    tell: oneshot::Sender<Ending>,
) {
    let mut last = None;
    if let Some(said) = receive(&control.0).await {
        let started = said.0 == Report::Started;
        let _nobody_waits = first.send(said);
        if started {
            last = receive(&control.0).await.map(|(report, _)| report);
        }
    }
    // Closes this end for good, so that what has not ended ends.
    let _gone = rustix::net::shutdown(control.0.get_ref(), rustix::net::Shutdown::Both);
    let whole = keeper.is_done().await;
    let ending = match last {
        Some(Report::Exited(code)) => Ending::Exited(code),
        Some(Report::Signalled(signal)) => Ending::Signalled(signal),
        Some(Report::Started | Report::Failed(_)) | None => Ending::Signalled(libc::SIGKILL),
    };
    let short = keeper.ran_out_of_memory();
    pool.give_back(keeper, whole).await;
    let _nobody_waits = tell.send(if short && ending != Ending::Exited(0) { Ending::OutOfMemory } else { ending });
}

async fn receive(control: &AsyncFd<OwnedFd>) -> Option<(Report, Vec<OwnedFd>)> {
    let (bytes, descriptors) = wire::next(control).await?;
    Some((serde_json::from_slice(&bytes).ok()?, descriptors))
}
