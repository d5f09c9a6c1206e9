//! A command that runs while its guest goes on.

use crate::bindings::caisson::host::exec::{Ending, Event};
use caisson_call::Outside;
use caisson_confine::{Running, Through};
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
    stdout: Source,
    stderr: Source,
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
        through: Option<[Box<dyn Through>; 2]>,
    ) -> Self {
        let (through_out, through_err) = through.map_or((None, None), |[out, err]| (Some(out), Some(err)));
        let stdin = running.take_stdin();
        let stdout = Source { pipe: running.take_stdout(), through: through_out, ready: Vec::new() };
        let stderr = Source { pipe: running.take_stderr(), through: through_err, ready: Vec::new() };
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

    /// Safe to give up and ask again: what is read and not handed on stays.
    async fn event(&mut self, limit: u32) -> Event {
        let limit = usize::try_from(limit).unwrap_or(1);
        let (mut buffer, mut other) = (vec![0; limit], vec![]);
        loop {
            if let Some(bytes) = self.stdout.take(limit) {
                return Event::Stdout(bytes);
            }
            if let Some(bytes) = self.stderr.take(limit) {
                return Event::Stderr(bytes);
            }
            if self.stdout.pipe.is_none() && self.stderr.pipe.is_none() {
                break;
            }
            other.resize(if self.stderr.pipe.is_some() { limit } else { 0 }, 0);
            tokio::select! {
                () = self.stdout.read(&mut buffer) => {}
                () = self.stderr.read(&mut other) => {}
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

/// One stream of a command.
struct Source {
    /// Until its end.
    pipe: Option<pipe::Receiver>,
    /// What it goes through first.
    through: Option<Box<dyn Through>>,
    /// What was read and not handed on yet.
    ready: Vec<u8>,
}

impl Source {
    fn take(&mut self, limit: usize) -> Option<Vec<u8>> {
        if self.ready.is_empty() {
            return None;
        }
        let rest = self.ready.split_off(self.ready.len().min(limit));
        Some(std::mem::replace(&mut self.ready, rest))
    }

    /// Reads once; never done where there is no stream.
    async fn read(&mut self, buffer: &mut [u8]) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        let read = pipe.read(buffer).await.unwrap_or(0);
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            self.pipe = None;
        }
        match &mut self.through {
            None => self.ready.extend_from_slice(bytes),
            Some(through) if bytes.is_empty() => self.ready.extend(through.finish()),
            Some(through) => self.ready.extend(through.push(bytes)),
        }
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
