//! The stub's side. Three processes, so that each can do what the one before it no longer may:
//!
//! - the **keeper** stands outside, writes the identity maps, and waits;
//! - **init** is process 1 inside: builds the view, gives up every privilege, starts the program, reaps, and takes all down
//!   with it when it ends;
//! - the **program** confines itself further (Landlock, seccomp, limits) and is replaced by what was asked for.
//!
//! Each has one thread, so that fork and allocation go together.

mod filter;
mod init;
mod keeper;
mod landlock;
mod program;
mod sys;
mod syscalls;
mod trial;
mod view;

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use crate::wire::{Fault, Step};

/// The stub's answer when asked whether it is one, and which: the version that both sides must share.
pub const GREETING: &str = concat!("caisson-confine ", env!("CARGO_PKG_VERSION"));

/// The stub's whole life. Without arguments it serves one order from the socket that is its standard input; `--version`
/// prints [`GREETING`], `--try` what the machine gives, as JSON.
#[must_use]
pub fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None => keeper::serve(),
        Some("--version") => say(GREETING),
        Some("--try") => match serde_json::to_string(&trial::run()) {
            Ok(given) => say(&given),
            Err(_) => ExitCode::FAILURE,
        },
        Some(other) => {
            let _closed = io::Write::write_all(
                &mut io::stderr(),
                format!("`{other}` is no option; the gateway starts this program, people use `caisson doctor`\n")
                    .as_bytes(),
            );
            ExitCode::from(2)
        }
    }
}

fn say(line: &str) -> ExitCode {
    match io::Write::write_all(&mut io::stdout(), format!("{line}\n").as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Gives an error its place in the set-up.
trait At<T> {
    fn at(self, step: Step, detail: impl Display) -> Result<T, Fault>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, step: Step, detail: impl Display) -> Result<T, Fault> {
        self.map_err(|error| {
            let error = error.into();
            let errno = error.raw_os_error().unwrap_or(0);
            let mut detail = if errno == 0 { format!("{detail}: {error}") } else { detail.to_string() };
            // A message has 4,096 bytes, and a path of somebody's choosing can have as many.
            detail.truncate(detail.floor_char_boundary(512));
            Fault { step, errno, detail }
        })
    }
}
