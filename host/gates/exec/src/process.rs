//! A command that runs while its guest goes on.

use crate::bindings::caisson::host::exec::{Ending, Event};
use caisson_call::Outside;
use caisson_confine::Running;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;

/// Most bytes of one event.
pub(crate) const MAX_EVENT: u32 = 64 << 10;

/// Most bytes of one write to a command's input.
const MAX_WRITE: usize = 64 << 10;

/// A running command. Dropping it kills it and all that it started.
pub struct Process {
    stdin: Option<pipe::Sender>,
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    /// Owns the command and ends it at its deadline, whether or not the guest asks.
    watch: JoinHandle<caisson_confine::Ending>,
    /// Serves its connections.
    _proxy: Option<AbortOnDropHandle<()>>,
    /// Until its end was told.
    outside: Option<Outside>,
}

impl Process {
    pub(crate) fn new(
        mut running: Running,
        timeout: Duration,
        outside: Outside,
        proxy: Option<AbortOnDropHandle<()>>,
    ) -> Self {
        let (stdin, stdout, stderr) = (running.take_stdin(), running.take_stdout(), running.take_stderr());
        let watch = tokio::spawn(async move { running.finish(timeout).await });
        Self { stdin, stdout, stderr, watch, _proxy: proxy, outside: Some(outside) }
    }

    /// Gives the command all of its input, and then the end of it, while the guest goes on.
    pub(crate) fn feed(&mut self, input: Vec<u8>) {
        let Some(mut stdin) = self.stdin.take() else { return };
        tokio::spawn(async move {
            // A program need not read all that it is given; where it ends first, the pipe breaks and this task with it.
            let _closed = stdin.write_all(&input).await;
        });
    }

    /// Writes the beginning of a chunk, as much as is taken at once.
    pub(crate) async fn write(&mut self, chunk: &[u8]) -> std::io::Result<u32> {
        let Some(stdin) = &mut self.stdin else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
        let written = stdin.write(chunk.get(..MAX_WRITE).unwrap_or(chunk)).await?;
        Ok(u32::try_from(written).unwrap_or(u32::MAX))
    }

    pub(crate) fn close_input(&mut self) {
        self.stdin = None;
    }

    /// The next thing that happens, waited for at most so long.
    pub(crate) async fn next(&mut self, limit: u32, wait: Duration) -> Event {
        tokio::time::timeout(wait, self.event(limit.clamp(1, MAX_EVENT))).await.unwrap_or(Event::Pending)
    }

    /// Safe to give up and ask again: nothing is read that is not handed on.
    async fn event(&mut self, limit: u32) -> Event {
        let mut buffer = vec![0; usize::try_from(limit).unwrap_or(1)];
        while self.stdout.is_some() || self.stderr.is_some() {
            let mut other = vec![0; if self.stderr.is_some() { buffer.len() } else { 0 }];
            let (read, is_error) = tokio::select! {
                read = read(&mut self.stdout, &mut buffer) => (read, false),
                read = read(&mut self.stderr, &mut other) => (read, true),
            };
            match (read, is_error) {
                (0, false) => self.stdout = None,
                (0, true) => self.stderr = None,
                (read, false) => {
                    buffer.truncate(read);
                    return Event::Stdout(buffer);
                }
                (read, true) => {
                    other.truncate(read);
                    return Event::Stderr(other);
                }
            }
        }
        if self.outside.is_none() {
            return Event::Pending;
        }
        let ending = (&mut self.watch).await;
        self.outside = None;
        Event::Ended(ending.map_or(Ending::Signalled(9), self::ending))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // With its task goes the command.
        self.watch.abort();
    }
}

/// Bytes read, 0 at the end; never done where there is no stream.
async fn read(stream: &mut Option<pipe::Receiver>, buffer: &mut [u8]) -> usize {
    match stream {
        Some(stream) => stream.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

pub(crate) fn ending(ending: caisson_confine::Ending) -> Ending {
    match ending {
        caisson_confine::Ending::Exited(status) => Ending::Exited(status),
        caisson_confine::Ending::Signalled(signal) => Ending::Signalled(signal),
        caisson_confine::Ending::TimedOut => Ending::TimedOut,
        caisson_confine::Ending::OutOfMemory => Ending::OutOfMemory,
    }
}
