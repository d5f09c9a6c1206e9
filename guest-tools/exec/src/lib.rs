//! The built-in plugin `exec`: runs commands by the host's gate, follows them, and makes of what they write a text that a model can
//! take. Which command may run, and confined to what, is the host's decision, not made here.

mod args;
mod clean;
mod follow;
mod refused;
mod report;
mod stream;

use caisson_sdk::exec::Command;
use caisson_sdk::{Output, ToolError, call, plugin, settings, tool};
use std::time::{Duration, Instant};

/// The most bytes of one piece of output.
const PIECE: u32 = 64 * 1024;

/// How long one wait for output takes: so often the time that is left is looked at.
const WAIT: Duration = Duration::from_millis(500);

/// Runs a shell command in the workspace and returns what it writes: standard output, then standard error, then how it ended
/// where that is not exit status 0. At most 30,000 characters are returned; what was left out is said. Nothing goes on running
/// after the call: neither background jobs nor changes of directory or environment last. Standard input is empty.
#[tool(title = "Run shell command", groups("runtime"), max_result_chars = 30000, returns = report::Summary)]
fn exec(args: args::Exec) -> Result<Output, ToolError> {
    let asked = args.asked(&settings::raw())?;
    run(asked)
}

/// Runs one program with its arguments in the workspace, without a shell: nothing is expanded, piped or redirected, so that
/// arguments need no quotes. Returns what it writes, in the same form as `exec`.
#[tool(title = "Run program", groups("runtime"), max_result_chars = 30000, returns = report::Summary)]
fn run_program(args: args::Program) -> Result<Output, ToolError> {
    let asked = args.asked(&settings::raw())?;
    run(asked)
}

plugin!(exec, run_program);

fn run(asked: args::Asked) -> Result<Output, ToolError> {
    let args::Asked { command, directory, timeout } = asked;
    let command = directory.into_iter().fold(command, Command::directory).timeout(timeout);
    Ok(report::report(&watch(command)?, timeout))
}

/// Runs it to its end, or to where it is given up: then the process is dropped, which ends the program and all it started.
fn watch(command: Command) -> Result<follow::Followed, ToolError> {
    let start = Instant::now();
    let mut process = command.spawn().map_err(refused::told)?;
    // What is to be read has been handed over with the command: without this a program that reads on would wait for more.
    process.close_input();
    let ticks = std::iter::from_fn(|| {
        let event = process.next_within(PIECE, WAIT);
        Some(follow::Tick { event, at: start.elapsed(), remaining_ms: call::remaining_ms() })
    });
    follow::follow(ticks, |at, line| call::progress(at.as_secs_f64().round(), None, Some(line)))
}
