//! Host error to WIT error: one place where a [`Failure`] is made.

use crate::HostView;
use crate::bindings::caisson::host::failures::{Code, Failure};
use caisson_call::{Capability, Denial};

/// A failure with a sentence for the guest and nothing else.
pub(crate) fn failure(code: Code, message: impl Into<String>) -> Failure {
    Failure { code, message: message.into(), retry_after_ms: None, details: None }
}

impl HostView<'_> {
    /// Records a refusal and makes the failure that the guest sees, with the rule in `details`.
    pub(crate) fn refuse(&self, capability: Capability, code: Code, rule: &str, subject: &str, grant: &str) -> Failure {
        self.ctx.ledger.refuse(Denial {
            capability,
            rule: rule.into(),
            subject: subject.into(),
            grant: grant.into(),
            approval: None,
        });
        Failure {
            code,
            message: if grant.is_empty() {
                format!("refused by rule `{rule}`")
            } else {
                format!("refused by rule `{rule}`; what would allow it: {grant}")
            },
            retry_after_ms: None,
            details: Some(format!("{{\"rule\":\"{rule}\"}}")),
        }
    }
}
