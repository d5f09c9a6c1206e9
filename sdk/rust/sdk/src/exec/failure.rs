//! Why the host did not run a command.

use std::fmt;

use crate::{Reason, ToolError};

/// Which kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The plugin did not declare it, or nobody granted it.
    NotGranted,
    /// A rule forbids this command.
    Denied,
    /// A person has to approve it first.
    NeedsApproval,
    /// The command cannot be worked with.
    Invalid,
    /// The program or the directory is not there.
    NotFound,
    /// Something else got in between.
    Conflict,
    /// A budget is spent.
    Quota,
    /// Too many in a short time.
    RateLimited,
    /// The caller has gone.
    Cancelled,
    /// It cannot be done now, or not here.
    Unavailable,
    /// Anything else.
    Failed,
}

/// Why the host did not run a command. As a [`ToolError`] (by `?`) it keeps its sentence and details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which kind.
    pub code: Code,
    /// The host's sentence, with the rule that decided and what would allow it.
    pub message: String,
    /// When a second try may go better, in milliseconds from now.
    pub retry_after_ms: Option<u32>,
    /// A JSON object that grows with the host.
    pub details: Option<String>,
}

impl Failure {
    /// The id of the rule that decided.
    pub fn rule(&self) -> Option<String> {
        self.detail("rule")
    }

    /// The deny group that the rule belongs to, for example `package_install`.
    pub fn group(&self) -> Option<String> {
        self.detail("group")
    }

    /// The part of the command that the rule is about.
    pub fn excerpt(&self) -> Option<String> {
        self.detail("excerpt")
    }

    /// A text of the details by its name.
    pub fn detail(&self, name: &str) -> Option<String> {
        let details: serde_json::Value = serde_json::from_str(self.details.as_deref()?).ok()?;
        Some(details.get(name)?.as_str()?.to_owned())
    }

    /// The kind of error that it is for a tool.
    pub fn reason(&self) -> Reason {
        match self.code {
            Code::Invalid => Reason::InvalidArguments,
            Code::NotFound => Reason::NotFound,
            Code::NotGranted
            | Code::Denied
            | Code::NeedsApproval
            | Code::Quota
            | Code::RateLimited
            | Code::Cancelled
            | Code::Unavailable => Reason::Unavailable,
            Code::Conflict | Code::Failed => Reason::Failed,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        Self {
            reason: failure.reason(),
            message: failure.message,
            retry_after_ms: failure.retry_after_ms,
            details: failure.details,
        }
    }
}
