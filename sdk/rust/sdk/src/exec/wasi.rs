//! The way to the host's gate.

use super::{Captured, Code, Command, Ending, Event, Failure, Finished, Line, milliseconds};
use crate::export::wasm::host::{exec, failures};

#[derive(Debug)]
pub(super) struct Running(exec::Process);

pub(super) fn run(command: Command) -> Result<Finished, Failure> {
    let (command, options) = parts(command);
    Ok(exec::run(&command, &options)?.into())
}

pub(super) fn start(command: Command) -> Result<Running, Failure> {
    let (command, options) = parts(command);
    Ok(Running(exec::Process::start(&command, &options)?))
}

impl Running {
    pub(super) fn next(&mut self, limit: u32, wait_ms: u32) -> Result<Event, Failure> {
        Ok(self.0.next(limit, wait_ms)?.into())
    }

    pub(super) fn write(&mut self, chunk: &[u8]) -> Result<usize, Failure> {
        Ok(self.0.write(chunk)? as usize)
    }

    pub(super) fn close_input(&mut self) {
        self.0.close_input();
    }
}

fn parts(command: Command) -> (exec::Command, exec::Options) {
    let line = match command.line {
        Line::Shell(text) => exec::Command::Shell(text),
        Line::Program(words) => exec::Command::Program(words),
    };
    let options = exec::Options {
        directory: command.directory,
        env: command.env.into_iter().map(|(name, value)| exec::Variable { name, value }).collect(),
        stdin: command.stdin,
        timeout_ms: command.timeout.map(milliseconds),
    };
    (line, options)
}

impl From<exec::Ending> for Ending {
    fn from(ending: exec::Ending) -> Self {
        match ending {
            exec::Ending::Exited(status) => Self::Exited(status),
            exec::Ending::Signalled(signal) => Self::Signalled(signal),
            exec::Ending::TimedOut => Self::TimedOut,
            exec::Ending::OutOfMemory => Self::OutOfMemory,
        }
    }
}

impl From<exec::Finished> for Finished {
    fn from(finished: exec::Finished) -> Self {
        let captured = |stream: exec::Captured| Captured { kept: stream.kept, dropped_bytes: stream.dropped_bytes };
        Self { ending: finished.ending.into(), stdout: captured(finished.stdout), stderr: captured(finished.stderr) }
    }
}

impl From<exec::Event> for Event {
    fn from(event: exec::Event) -> Self {
        match event {
            exec::Event::Stdout(piece) => Self::Stdout(piece),
            exec::Event::Stderr(piece) => Self::Stderr(piece),
            exec::Event::Ended(ending) => Self::Ended(ending.into()),
            exec::Event::Pending => Self::Pending,
        }
    }
}

impl From<failures::Failure> for Failure {
    fn from(failure: failures::Failure) -> Self {
        let code = match failure.code {
            failures::Code::NotGranted => Code::NotGranted,
            failures::Code::Denied => Code::Denied,
            failures::Code::NeedsApproval => Code::NeedsApproval,
            failures::Code::Invalid => Code::Invalid,
            failures::Code::NotFound => Code::NotFound,
            failures::Code::Conflict => Code::Conflict,
            failures::Code::Quota => Code::Quota,
            failures::Code::RateLimited => Code::RateLimited,
            failures::Code::Cancelled => Code::Cancelled,
            failures::Code::Unavailable => Code::Unavailable,
            failures::Code::Failed => Code::Failed,
        };
        Self { code, message: failure.message, retry_after_ms: failure.retry_after_ms, details: failure.details }
    }
}
