//! What the model reads of a program that ran: its output, shortened where it is long, and how it ended.

mod fit;

use crate::clean::Clean;
use crate::follow::{Followed, Stop};
use crate::stream::{Stream, Text};
use caisson_sdk::Output;
use caisson_sdk::exec::Ending;
use fit::Piece;
use std::time::Duration;

/// Characters that the model is shown in all; the tools name the same number as `max_result_chars`.
const CHARS: usize = 30_000;
/// Where both streams are long, standard error has 3 of 10 characters.
const ERROR_SHARE: usize = CHARS * 3 / 10;

const HEADING: &str = "[stderr]\n";
const OVERWRITTEN: &str = "[of lines that were written over, only the last state is shown]";

/// So many odd characters, and one of so many, make an output binary: as text it would only cost.
const ODD_MIN: usize = 64;
const ODD_SHARE: usize = 5;

/// How the program ended and how much it wrote, as data.
#[derive(Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Where it exited by itself
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<i32>,
    /// Where a signal ended it
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Whether it was stopped since its time, or the call's, was up
    timed_out: bool,
    /// Whether it was ended since its memory was used up
    out_of_memory: bool,
    /// Bytes written to standard output
    stdout_bytes: u64,
    /// Bytes written to standard error
    stderr_bytes: u64,
    /// Bytes of standard output that were not kept
    stdout_dropped_bytes: u64,
    /// Bytes of standard error that were not kept
    stderr_dropped_bytes: u64,
}

/// The answer; `timeout` is what the program had.
pub fn report(followed: &Followed, timeout: Duration) -> Output {
    Output::text(told(followed, timeout)).with_structured(summary(followed))
}

fn summary(followed: &Followed) -> Summary {
    let Followed { stdout, stderr, stop } = followed;
    let (exit_status, signal) = match stop {
        Stop::Ended(Ending::Exited(status)) => (Some(*status), None),
        Stop::Ended(Ending::Signalled(signal)) => (None, Some(*signal)),
        Stop::Ended(Ending::TimedOut | Ending::OutOfMemory) | Stop::CallTime(_) => (None, None),
    };
    Summary {
        exit_status,
        signal,
        timed_out: matches!(stop, Stop::Ended(Ending::TimedOut) | Stop::CallTime(_)),
        out_of_memory: *stop == Stop::Ended(Ending::OutOfMemory),
        stdout_bytes: stdout.bytes(),
        stderr_bytes: stderr.bytes(),
        stdout_dropped_bytes: stdout.dropped(),
        stderr_dropped_bytes: stderr.dropped(),
    }
}

fn told(followed: &Followed, timeout: Duration) -> String {
    let (out, out_overwritten) = piece(&followed.stdout);
    let (err, err_overwritten) = piece(&followed.stderr);
    let mut notes = Vec::new();
    if out_overwritten || err_overwritten {
        notes.push(OVERWRITTEN.to_owned());
    }
    notes.extend(ending(followed.stop, timeout));
    // Each with the line end before it.
    let frame: usize = notes.iter().map(|note| note.chars().count() + 1).sum();
    let heading = if err.is_empty() { 0 } else { HEADING.len() + 1 };
    let room = CHARS.saturating_sub(frame + heading);
    let err_room = err.chars().min(ERROR_SHARE.max(room.saturating_sub(out.chars())));
    let failed = followed.stop != Stop::Ended(Ending::Exited(0));
    let mut parts = Vec::new();
    parts.extend(fit::fit(&out, room.saturating_sub(err_room), failed));
    parts.extend(fit::fit(&err, err_room, failed).map(|err| format!("{HEADING}{err}")));
    if parts.is_empty() {
        parts.push("[no output]".to_owned());
    }
    parts.extend(notes);
    parts.join("\n")
}

/// The stream as what can be shown of it, and whether states of lines are gone.
fn piece(stream: &Stream) -> (Piece, bool) {
    let Text { head, tail } = stream.text();
    let parts: Vec<&Clean> = [Some(&head), tail.as_ref()].into_iter().flatten().collect();
    let odd: usize = parts.iter().map(|part| part.odd).sum();
    let chars: usize = parts.iter().map(|part| part.text.chars().count()).sum();
    let overwritten = parts.iter().any(|part| part.overwritten);
    if odd >= ODD_MIN && odd.saturating_mul(ODD_SHARE) >= chars {
        let bytes = fit::grouped(stream.bytes());
        let text =
            format!("[binary output of {bytes} bytes, not shown; write it to a file, or print a part of it as text]");
        return (Piece { head: text, tail: None, dropped_bytes: 0 }, false);
    }
    (Piece { head: head.text, tail: tail.map(|tail| tail.text), dropped_bytes: stream.dropped() }, overwritten)
}

fn ending(stop: Stop, timeout: Duration) -> Option<String> {
    Some(match stop {
        Stop::Ended(Ending::Exited(0)) => return None,
        Stop::Ended(Ending::Exited(status)) => format!("[exit status {status}]"),
        Stop::Ended(Ending::Signalled(signal)) => format!("[ended by signal {signal}]"),
        Stop::Ended(Ending::TimedOut) => {
            format!("[stopped after {} s: the time limit; raise `timeout_seconds` or run less]", timeout.as_secs())
        }
        Stop::Ended(Ending::OutOfMemory) => {
            "[ended: out of memory; work on less at a time, or ask the operator for more memory]".to_owned()
        }
        Stop::CallTime(after) => {
            format!("[stopped after {} s: the call's own time is up; run less, or run it in parts]", after.as_secs())
        }
    })
}

#[cfg(test)]
mod tests;
