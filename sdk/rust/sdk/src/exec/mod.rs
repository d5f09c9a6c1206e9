//! Programs, through the host's gate: the manifest says whether a whole shell (`[capabilities.exec] shell = true`) or which
//! programs are wanted, the operator grants them, the host judges each command and runs it confined to the caller's workspace.
//! Only a tool whose effect is `mutating` may use it. A plugin that does not use this module does not import it either.
//!
//! ```
//! use caisson_sdk::exec::{Command, Ending};
//! use caisson_sdk::{Output, ToolError, tool};
//! use std::time::Duration;
//!
//! /// Counts the lines of every file below `src`.
//! #[tool]
//! fn count_lines() -> Result<Output, ToolError> {
//!     let finished = Command::program(["wc", "-l", "--", "main.rs"]).directory("src").timeout(Duration::from_secs(20)).run()?;
//!     match finished.ending {
//!         Ending::Exited(0) => Ok(Output::text(finished.stdout.text())),
//!         other => Err(ToolError::failed(format!("`wc` did not succeed ({other}): {}", finished.stderr.text()))),
//!     }
//! }
//! ```
//!
//! What takes long, or writes much, is better followed than waited for:
//!
//! ```
//! use caisson_sdk::exec::{Command, Event, Failure};
//!
//! fn follow() -> Result<bool, Failure> {
//!     for event in Command::shell("make check 2>&1").spawn()? {
//!         match event? {
//!             Event::Stdout(piece) => caisson_sdk::call::progress(1.0, None, Some(&String::from_utf8_lossy(&piece))),
//!             Event::Ended(ending) => return Ok(ending.is_success()),
//!             Event::Stderr(_) | Event::Pending => {}
//!         }
//!     }
//!     Ok(false)
//! }
//! # assert!(follow().is_err(), "nothing runs off wasm");
//! ```

mod failure;

#[cfg_attr(target_family = "wasm", path = "wasi.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "native.rs")]
mod place;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

pub use failure::{Code, Failure};

/// The most bytes that the iterator over a [`Process`] asks for at once.
const PIECE: u32 = 64 * 1024;

/// How long one wait of that iterator takes at the host before it asks again: any length would do.
const WAIT: Duration = Duration::from_secs(10);

/// What is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    /// The text of a shell command.
    Shell(String),
    /// The program, then its arguments.
    Program(Vec<String>),
}

/// A command being put together. Nothing is checked before [`Command::run`] or [`Command::spawn`]: the host does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    line: Line,
    directory: Option<String>,
    env: Vec<(String, String)>,
    stdin: Option<Vec<u8>>,
    timeout: Option<Duration>,
}

impl Command {
    /// A text for the shell, for example `grep -c '^ok' log | sort`. It needs `shell = true`.
    pub fn shell(text: impl Into<String>) -> Self {
        Self::new(Line::Shell(text.into()))
    }

    /// A program and its arguments, each as it is: there is no shell that would split, expand or redirect.
    pub fn program<I>(words: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self::new(Line::Program(words.into_iter().map(Into::into).collect()))
    }

    fn new(line: Line) -> Self {
        Self { line, directory: None, env: Vec::new(), stdin: None, timeout: None }
    }

    /// Where it runs, relative to the workspace, which is also where it runs if this is not set.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<String>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// One more environment variable. The host may refuse names that would change what runs, such as `LD_PRELOAD`.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// What it reads from its standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// How long it may take; then it is ended with all it started, and [`Ending::TimedOut`] says so. Without it, the host's
    /// default holds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Runs it and waits for its end. The host keeps so many bytes of each stream and counts those it drops.
    ///
    /// # Errors
    /// The host refused it or could not start it. A program that ran and did not succeed is no error here: see
    /// [`Finished::ending`].
    pub fn run(self) -> Result<Finished, Failure> {
        place::run(self)
    }

    /// Starts it, to be followed while it runs.
    ///
    /// # Errors
    /// The host refused it or could not start it.
    pub fn spawn(self) -> Result<Process, Failure> {
        Ok(Process { running: place::start(self)?, over: false })
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// The timeout passed, and the host ended it.
    TimedOut,
    /// It asked for more memory than it may have.
    OutOfMemory,
}

impl Ending {
    /// Whether it exited with status 0.
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exit status {status}"),
            Self::Signalled(signal) => write!(f, "ended by signal {signal}"),
            Self::TimedOut => f.write_str("stopped at its time limit"),
            Self::OutOfMemory => f.write_str("ended: out of memory"),
        }
    }
}

/// What a stream of a finished program holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The bytes that were kept.
    pub kept: Vec<u8>,
    /// How many bytes more there were.
    pub dropped_bytes: u64,
}

impl Captured {
    /// The kept bytes as text, with replacement characters for what is not UTF-8.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.kept)
    }
}

/// A program that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
}

/// What happened to a running program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The next bytes of its standard output; a piece may end in the middle of a character.
    Stdout(Vec<u8>),
    /// The next bytes of its standard error.
    Stderr(Vec<u8>),
    /// It ended, and all its output has been read.
    Ended(Ending),
    /// Nothing within the wait; only [`Process::next_within`] answers it.
    Pending,
}

/// A running program. Dropping it ends the program and all it started.
///
/// As an iterator it yields its events up to [`Event::Ended`], however long they take, or up to the first failure.
#[derive(Debug)]
pub struct Process {
    running: place::Running,
    over: bool,
}

impl Process {
    /// The next event, of at most `limit` bytes; [`Event::Pending`] where there is none within `wait`.
    ///
    /// # Errors
    /// The host cannot follow the program any longer.
    pub fn next_within(&mut self, limit: u32, wait: Duration) -> Result<Event, Failure> {
        let event = self.running.next(limit, milliseconds(wait));
        self.over |= matches!(event, Err(_) | Ok(Event::Ended(_)));
        event
    }

    /// Writes to its standard input as much as there is room for; the answer is how many bytes that was.
    ///
    /// # Errors
    /// The input is closed.
    pub fn write(&mut self, chunk: &[u8]) -> Result<usize, Failure> {
        self.running.write(chunk)
    }

    /// Ends its standard input: once it has read what was written, there is no more.
    pub fn close_input(&mut self) {
        self.running.close_input();
    }
}

impl Iterator for Process {
    type Item = Result<Event, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.over {
            match self.next_within(PIECE, WAIT) {
                Ok(Event::Pending) => {}
                event => return Some(event),
            }
        }
        None
    }
}

/// Rounded up, so that a wait that is not zero does not become one.
fn milliseconds(duration: Duration) -> u32 {
    let whole = duration.as_nanos().div_ceil(1_000_000);
    u32::try_from(whole).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
