//! Host error to WIT error.

use crate::MOUNT;
use crate::decide::Refusal;
use caisson_call::{Capability, Denial};
use rustix::io::Errno;
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// Why a file operation did not happen.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A rule said no.
    Refused(Refusal),
    /// The system said no: the file is not there, the disk is full.
    Os(Errno),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        Self::Os(errno)
    }
}

/// The WIT code of a system error. wasmtime-wasi's own table covers most; these it lacks, and would report as `io`.
pub(crate) fn code(errno: Errno) -> ErrorCode {
    match errno {
        Errno::DQUOT => ErrorCode::Quota,
        Errno::ROFS => ErrorCode::ReadOnly,
        Errno::XDEV => ErrorCode::CrossDevice,
        Errno::TXTBSY => ErrorCode::TextFileBusy,
        Errno::AGAIN => ErrorCode::WouldBlock,
        Errno::MFILE | Errno::NFILE => ErrorCode::InsufficientMemory,
        other => ErrorCode::from(std::io::Error::from(other)),
    }
}

pub(crate) fn os(errno: Errno) -> FsError {
    code(errno).into()
}

/// Bytes of a path in a refusal. Long enough to know the file by, too short to carry a message.
const SUBJECT_CHARS: usize = 160;

/// Guest text made safe to show: control characters escaped, cut to 160 characters.
pub(crate) fn shorten(text: &str) -> String {
    let mut short = String::new();
    let mut chars = 0;
    for c in text.chars() {
        let escaped = c.escape_debug();
        chars += escaped.len();
        if chars > SUBJECT_CHARS {
            short.push('…');
            break;
        }
        match c {
            '\'' | '"' | '\\' => short.push(c),
            _ => short.extend(escaped),
        }
    }
    short
}

/// What is recorded of a refusal. `path` is as the guest gave it, `base` the directory that it was relative to.
pub(crate) fn denial(verb: &str, base: &str, path: &str, refusal: &Refusal) -> Denial {
    let whole = match (base, path.starts_with('/')) {
        (_, true) => path.to_owned(),
        ("", false) => format!("{MOUNT}/{path}"),
        (base, false) => format!("{MOUNT}/{base}/{path}"),
    };
    Denial {
        capability: Capability::Files,
        rule: refusal.rule.clone(),
        subject: format!("{verb} {}", shorten(&whole)),
        grant: refusal.grant.clone(),
        approval: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guest_text_in_a_refusal_is_escaped_and_short() {
        let refusal = Refusal::fixed("files.outside");
        let denial = denial("read", "sub", &format!("a\n\u{202e}{}", "x".repeat(5000)), &refusal);
        assert!(denial.subject.starts_with("read /workspace/sub/a\\n\\u{202e}xxx"), "{}", denial.subject);
        assert!(denial.subject.chars().count() <= 200);
    }

    #[test]
    fn a_full_disk_and_a_quota_have_their_own_codes() {
        assert_eq!(code(Errno::NOSPC), ErrorCode::InsufficientSpace);
        assert_eq!(code(Errno::DQUOT), ErrorCode::Quota);
        assert_eq!(code(Errno::NOENT), ErrorCode::NoEntry);
    }
}
