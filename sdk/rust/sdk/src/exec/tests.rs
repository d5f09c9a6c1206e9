#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::{Reason, ToolError};

fn denied() -> Failure {
    Failure {
        code: Code::Denied,
        message: "`rm -rf /` is denied by rule `destructive.rm`".into(),
        retry_after_ms: Some(5),
        details: Some(r#"{"rule":"destructive.rm","group":"destructive_ops","excerpt":"rm -rf /","depth":3}"#.into()),
    }
}

#[test]
fn nothing_runs_off_wasm_and_it_says_what_to_do() {
    let error = Command::shell("true").run().unwrap_err();
    assert_eq!(error.code, Code::Unavailable);
    assert!(error.message.contains("`caisson call`"), "{error}");
    let error = Command::program(["true"]).spawn().unwrap_err();
    assert_eq!(error.code, Code::Unavailable);
    assert_eq!(ToolError::from(error).reason(), Reason::Unavailable);
}

#[test]
fn a_failure_becomes_a_tools_error_whole() {
    let error = ToolError::from(denied());
    assert_eq!((error.reason(), error.message()), (Reason::Unavailable, denied().message.as_str()));
    assert_eq!((error.retry_after_ms, error.details), (Some(5), denied().details));
    let reason = |code| Failure { code, ..denied() }.reason();
    assert_eq!(reason(Code::Invalid), Reason::InvalidArguments);
    assert_eq!(reason(Code::NotFound), Reason::NotFound);
    assert_eq!(reason(Code::NeedsApproval), Reason::Unavailable);
    assert_eq!(reason(Code::Failed), Reason::Failed);
}

#[test]
fn details_are_read_by_name() {
    let failure = denied();
    assert_eq!(failure.rule().unwrap(), "destructive.rm");
    assert_eq!(failure.group().unwrap(), "destructive_ops");
    assert_eq!(failure.excerpt().unwrap(), "rm -rf /");
    assert_eq!(failure.detail("depth"), None, "a number is no text");
    assert_eq!(failure.detail("nothing"), None);
    for details in [None, Some("{"), Some("[]"), Some("\"rule\"")] {
        assert_eq!(Failure { details: details.map(Into::into), ..denied() }.rule(), None, "{details:?}");
    }
}

#[test]
fn a_command_keeps_what_it_was_told() {
    let command = Command::program(["git", "log"]).directory("src").env("LANG", "C").env("TZ", "UTC").stdin("in");
    assert_eq!(command.line, Line::Program(vec!["git".into(), "log".into()]));
    assert_eq!(command.directory.as_deref(), Some("src"));
    assert_eq!(command.env, [("LANG".into(), "C".into()), ("TZ".into(), "UTC".into())]);
    assert_eq!(command.stdin.as_deref(), Some(b"in".as_slice()));
    assert_eq!(command.timeout, None);
}

#[test]
fn only_status_zero_is_a_success() {
    assert!(Ending::Exited(0).is_success());
    for ending in [Ending::Exited(1), Ending::Exited(-1), Ending::Signalled(0), Ending::TimedOut, Ending::OutOfMemory] {
        assert!(!ending.is_success(), "{ending}");
    }
    assert_eq!(Ending::Exited(3).to_string(), "exit status 3");
}

#[test]
fn a_wait_is_rounded_up_and_never_overflows() {
    assert_eq!(milliseconds(Duration::ZERO), 0);
    assert_eq!(milliseconds(Duration::from_nanos(1)), 1);
    assert_eq!(milliseconds(Duration::from_millis(1500)), 1500);
    assert_eq!(milliseconds(Duration::MAX), u32::MAX);
}

#[test]
fn kept_bytes_are_text_whatever_they_are() {
    let captured = Captured { kept: vec![b'a', 0xff, b'b'], dropped_bytes: 7 };
    assert_eq!(captured.text(), "a\u{fffd}b");
}
