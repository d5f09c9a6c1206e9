//! Off wasm there is no gate, and so nothing runs.

use super::{Code, Command, Event, Failure, Finished, Line};

/// There is none.
#[derive(Debug)]
pub(super) enum Running {}

pub(super) fn run(command: Command) -> Result<Finished, Failure> {
    Err(nobody(&command))
}

pub(super) fn start(command: Command) -> Result<Running, Failure> {
    Err(nobody(&command))
}

impl Running {
    pub(super) fn next(&mut self, _limit: u32, _wait_ms: u32) -> Result<Event, Failure> {
        match *self {}
    }

    pub(super) fn write(&mut self, _chunk: &[u8]) -> Result<usize, Failure> {
        match *self {}
    }

    pub(super) fn close_input(&mut self) {
        match *self {}
    }
}

fn nobody(command: &Command) -> Failure {
    let Command { line, directory: _, env: _, stdin: _, timeout: _ } = command;
    let what = match line {
        Line::Shell(_) => "a shell command",
        Line::Program(_) => "a program",
    };
    Failure {
        code: Code::Unavailable,
        message: format!("{what} needs the host's gate: run the plugin with `caisson call`"),
        retry_after_ms: None,
        details: None,
    }
}
