//! What a tool answers when it cannot do what was asked.

use std::fmt;
use std::time::Duration;

/// Which kind of failure; the caller may react to it (a retry, another argument).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The arguments cannot be worked with.
    InvalidArguments,
    /// What was asked for is not there.
    NotFound,
    /// It cannot be done now, or not here.
    Unavailable,
    /// Anything else.
    Failed,
}

/// A failure, with a message for the model: it should say what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    pub(crate) reason: Reason,
    pub(crate) message: String,
    pub(crate) retry_after_ms: Option<u32>,
    pub(crate) details: Option<String>,
}

impl ToolError {
    /// A failure of any kind.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), retry_after_ms: None, details: None }
    }

    /// The arguments cannot be worked with; say which one and what would do.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::new(Reason::InvalidArguments, message)
    }

    /// What was asked for is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Reason::NotFound, message)
    }

    /// It cannot be done now, or not here.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Reason::Unavailable, message)
    }

    /// Anything else.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Reason::Failed, message)
    }

    /// When a second try may go better, in milliseconds from now.
    #[must_use]
    pub fn retry_after_ms(mut self, milliseconds: u32) -> Self {
        self.retry_after_ms = Some(milliseconds);
        self
    }

    /// The same as [`Self::retry_after_ms`], from a duration.
    #[must_use]
    pub fn retry_after(self, after: Duration) -> Self {
        self.retry_after_ms(u32::try_from(after.as_millis()).unwrap_or(u32::MAX))
    }

    /// More about the failure for programs: a value that becomes a JSON object.
    #[must_use]
    pub fn with_details(mut self, details: &impl serde::Serialize) -> Self {
        self.details = serde_json::to_string(details).ok();
        self
    }

    /// Which kind of failure it is.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// What the model reads.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolError {}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self::failed(message)
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::failed(message)
    }
}

impl From<serde_json::Error> for ToolError {
    fn from(error: serde_json::Error) -> Self {
        Self::failed(format!("the JSON does not fit: {error}"))
    }
}

impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let reason = match error.kind() {
            ErrorKind::NotFound => Reason::NotFound,
            ErrorKind::InvalidInput => Reason::InvalidArguments,
            ErrorKind::TimedOut | ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::Unsupported => {
                Reason::Unavailable
            }
            _ => Reason::Failed,
        };
        Self::new(reason, error.to_string())
    }
}
