//! Host error to WIT error: one place where a [`Failure`] is made.

use crate::ExecCtx;
use crate::bindings::caisson::host::failures::{Code, Failure};
use crate::decide::Refusal;
use caisson_call::{Capability, Denial};
use caisson_confine::SpawnError;
use caisson_docker::BoxError;

/// A failure with a sentence and nothing else.
pub(crate) fn failure(code: Code, message: impl Into<String>) -> Failure {
    Failure { code, message: message.into(), retry_after_ms: None, details: None }
}

/// Records a refusal and makes the failure that the guest sees, with the rule in `details`.
pub(crate) fn refuse(ctx: &ExecCtx, refusal: Refusal) -> Failure {
    let Refusal { code, rule, subject, why, grant, group, excerpt, approval } = refusal;
    if matches!(code, Code::Invalid | Code::Unavailable) {
        return failure(code, why);
    }
    let details =
        serde_json::json!({ "rule": rule, "group": group, "excerpt": excerpt, "why": why, "grant": grant, "approval": approval }).to_string();
    let message = if grant.is_empty() {
        format!("refused by rule `{rule}`: {why}")
    } else {
        format!("refused by rule `{rule}`: {why}; what would allow it: {grant}")
    };
    let subject = format!("{subject}: {why}");
    ctx.ledger.refuse(Denial { capability: Capability::Exec, rule, subject, grant, approval });
    Failure { code, message, retry_after_ms: None, details: Some(details) }
}

/// What did not start, for the guest; what only the operator can mend goes to the log.
pub(crate) fn not_started(error: &SpawnError) -> Failure {
    match error {
        SpawnError::Plan(_) => failure(Code::Invalid, error.to_string()),
        SpawnError::Program { .. } | SpawnError::Directory { .. } => failure(Code::NotFound, error.to_string()),
        SpawnError::SetUp { .. } | SpawnError::Stub { .. } => {
            tracing::error!(%error, "a command cannot be confined");
            unconfined()
        }
    }
}

/// What did not start in a container, likewise.
pub(crate) fn not_boxed(error: &BoxError) -> Failure {
    match error {
        BoxError::Plan(_) => failure(Code::Invalid, error.to_string()),
        BoxError::Program { .. } | BoxError::Directory { .. } => failure(Code::NotFound, error.to_string()),
        // Whoever named the image can name another one.
        BoxError::NoImage { .. } | BoxError::Full { .. } => failure(Code::Unavailable, error.to_string()),
        _ => {
            tracing::error!(%error, "a command cannot run in its container");
            let why = "commands are to run in a container here, and none can be had now; the operator finds why in the gateway's log";
            failure(Code::Unavailable, why)
        }
    }
}

/// A command that cannot be confined does not run.
pub(crate) fn unconfined() -> Failure {
    failure(
        Code::Unavailable,
        "commands cannot be confined on this machine, so none is run; the operator finds why with `caisson doctor`",
    )
}
