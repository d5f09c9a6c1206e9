//! What the host's refusals mean for the model. The host's sentence stays, with its rule and what would allow it; what to do next is
//! added.

use caisson_sdk::ToolError;
use caisson_sdk::exec::{Code, Failure};

pub fn told(failure: Failure) -> ToolError {
    let next = next(failure.code);
    ToolError::from(Failure {
        message: format!("{}{next}", failure.message.trim_end_matches(['.', '\n', ' '])),
        ..failure
    })
}

/// The host lost the program while it ran; `newest` is the last line that it wrote.
pub fn lost(failure: Failure, newest: Option<&str>) -> ToolError {
    let wrote =
        newest.map_or_else(|| "it had written nothing".to_owned(), |line| format!("the last it wrote was `{line}`"));
    let message = format!(
        "{}; the program had started, {wrote}. Look at what it did before you run it again",
        failure.message.trim_end_matches(['.', '\n', ' '])
    );
    ToolError::from(Failure { message, ..failure })
}

fn next(code: Code) -> &'static str {
    match code {
        Code::NotGranted => {
            "; nothing ran. No other spelling of it will do: go on without it, or tell the person what to grant"
        }
        Code::Denied => {
            "; nothing ran. Do not disguise the command: reach the aim by one that the rule allows, or tell the person what would allow this one"
        }
        Code::NeedsApproval => {
            "; nothing ran yet. Tell the person that it waits for approval; once it is approved, make the same call again, unchanged"
        }
        Code::Invalid => "; nothing ran. Correct it and call again",
        Code::NotFound => "; nothing ran. `ls` shows what is there",
        Code::Quota => "; do it in fewer or smaller steps",
        Code::RateLimited => "; wait before the next call",
        Code::Cancelled => "; the call was given up",
        Code::Conflict | Code::Unavailable => "; nothing ran. Go on without it, or try once more later",
        Code::Failed => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use caisson_sdk::Reason;

    fn failure(code: Code) -> Failure {
        Failure {
            code,
            message:
                "`rm -rf /` is denied by rule `destructive.rm`; switching off group `destructive_ops` would allow it."
                    .into(),
            retry_after_ms: None,
            details: Some(r#"{"rule":"destructive.rm"}"#.into()),
        }
    }

    #[test]
    fn the_hosts_sentence_stays_and_what_to_do_is_added() {
        for (code, reason, says) in [
            (Code::NotGranted, Reason::Unavailable, "grant"),
            (Code::Denied, Reason::Unavailable, "would allow this one"),
            (Code::NeedsApproval, Reason::Unavailable, "make the same call again"),
            (Code::Unavailable, Reason::Unavailable, "nothing ran"),
            (Code::Invalid, Reason::InvalidArguments, "Correct it"),
            (Code::NotFound, Reason::NotFound, "`ls` shows"),
            (Code::Quota, Reason::Unavailable, "smaller steps"),
            (Code::RateLimited, Reason::Unavailable, "wait"),
            (Code::Cancelled, Reason::Unavailable, "given up"),
            (Code::Conflict, Reason::Failed, "later"),
            (Code::Failed, Reason::Failed, "would allow it"),
        ] {
            let error = told(failure(code));
            assert_eq!(error.reason(), reason, "{code:?}");
            assert!(
                error.message().contains("rule `destructive.rm`; switching off group `destructive_ops`"),
                "{error}"
            );
            assert!(error.message().contains(says), "{code:?}: {error}");
        }
    }

    #[test]
    fn a_program_that_got_lost_is_not_said_to_have_never_run() {
        let error = lost(failure(Code::Unavailable), Some("step 3 of 9"));
        assert!(error.message().contains("`step 3 of 9`") && !error.message().contains("nothing ran"), "{error}");
        assert!(lost(failure(Code::Failed), None).message().contains("written nothing"));
    }
}
