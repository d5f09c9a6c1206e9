use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use caisson_confine::{Ending, Stdin};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::sync::{Notify, oneshot};

use crate::kept::Kept;
use crate::wire::{self, End, Report};

/// How long a program may clean up after SIGTERM, before it is killed.
const GRACE: Duration = Duration::from_secs(3);
/// How long process 1 may take to kill everything, before its container is taken away.
const COLLAPSE: Duration = Duration::from_secs(2);
/// How long a program may take to start. Long enough for a container whose other processes take all of its time; only one that stops
/// whoever would tell of it gets there.
const FIRST_WORD: Duration = Duration::from_secs(30);

/// A program that runs in a container. When this is dropped, it and all that it started are killed at once.
#[derive(Debug)]
pub struct Running {
    control: Arc<Control>,
    stdin: Option<pipe::Sender>,
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    ended: oneshot::Receiver<Ending>,
    ending: Option<Ending>,
}

impl Running {
    pub(crate) fn new(control: Arc<Control>, streams: Streams, ended: oneshot::Receiver<Ending>) -> Self {
        let Streams { stdin, stdout, stderr } = streams;
        Self { control, stdin, stdout: Some(stdout), stderr: Some(stderr), ended, ending: None }
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
        let _gone = wire::send(self.control.socket.get_ref().as_fd(), wire::TERMINATE, &[]);
    }

    /// Kills the program and all that it started. [`Running::wait`] tells when they are gone.
    pub fn kill(&self) {
        // What comes from the other end is still read: its end says that everything is gone.
        let _gone = rustix::net::shutdown(self.control.socket.get_ref(), rustix::net::Shutdown::Write);
        self.control.killed.notify_one();
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

/// A program's own socket.
#[derive(Debug)]
pub struct Control {
    socket: AsyncFd<OwnedFd>,
    killed: Notify,
}

impl Control {
    pub fn new(socket: OwnedFd) -> std::io::Result<Arc<Self>> {
        Ok(Arc::new(Self { socket: wire::watch(socket)?, killed: Notify::new() }))
    }

    async fn next(&self) -> Option<Report> {
        Report::read(&wire::next(&self.socket).await?)
    }

    /// The last word about a program, or nothing where it was killed.
    async fn last(&self, container: &Kept) -> Option<Report> {
        tokio::select! {
            report = self.next() => report,
            () = self.killed.notified() => match tokio::time::timeout(COLLAPSE, self.next()).await {
                Ok(report) => report,
                Err(_late) => {
                    container.destroy();
                    self.next().await
                }
            },
        }
    }
}

/// Passes on the first word about a program, waits for the last one and for the end of everything.
pub async fn watch(
    container: Arc<Kept>,
    control: Arc<Control>,
    first: oneshot::Sender<Report>,
    tell: oneshot::Sender<Ending>,
) {
    let said = tokio::time::timeout(FIRST_WORD, control.next()).await.ok().flatten();
    if let Some(report) = said {
        // Where nobody waits any more, everything is being killed.
        let _nobody_waits = first.send(report);
    }
    let last = if said == Some(Report::Started) { control.last(&container).await } else { said };
    if last.is_none() {
        // Whoever stood over the program was killed or stopped, so what the program left cannot be told from the rest.
        container.destroy();
    }
    let ending = match last {
        Some(Report::Ended { end: End::Exited(0), .. }) => Ending::Exited(0),
        Some(Report::Ended { out_of_memory: true, .. }) => Ending::OutOfMemory,
        Some(Report::Ended { end: End::Exited(code), .. }) => Ending::Exited(code),
        Some(Report::Ended { end: End::Signalled(signal), .. }) => Ending::Signalled(signal),
        Some(Report::Started | Report::Gone | Report::Failed(..)) | None => Ending::Signalled(libc::SIGKILL),
    };
    container.touch();
    drop(container);
    let _nobody_waits = tell.send(ending);
}

/// The gateway's ends of a program's streams.
pub struct Streams {
    stdin: Option<pipe::Sender>,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
}

impl Streams {
    /// And the program's: standard input, if it has one, output and error.
    pub fn open(stdin: Stdin) -> std::io::Result<(Self, [Option<OwnedFd>; 3])> {
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
        let stdout = pipe::Receiver::from_owned_fd(stdout)?;
        let stderr = pipe::Receiver::from_owned_fd(stderr)?;
        Ok((Self { stdin, stdout, stderr }, [child_stdin, Some(child_stdout), Some(child_stderr)]))
    }
}
