//! What is left of a tool's answer.

use caisson_call::{Content, Outcome, ToolErrorReason};

/// A tool's answer with secrets taken out: what doors may show.
#[derive(Clone, Debug, PartialEq)]
pub struct CleanResult {
    pub(crate) for_model: Vec<Content>,
    pub(crate) for_user: Option<String>,
    pub(crate) structured: Option<String>,
    pub(crate) silent: bool,
    pub(crate) error: Option<CleanError>,
}

/// A tool's own error, cleaned. Its message is the one text of [`CleanResult::for_model`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanError {
    /// The tool's reason.
    pub reason: ToolErrorReason,
    /// When it may be worth trying again, milliseconds.
    pub retry_after_ms: Option<u32>,
    /// A JSON object, as text.
    pub details: Option<String>,
}

impl CleanResult {
    /// What the model reads; for an error, its message.
    #[must_use]
    pub fn for_model(&self) -> &[Content] {
        &self.for_model
    }

    /// What the person reads, where it is something else.
    #[must_use]
    pub fn for_user(&self) -> Option<&str> {
        self.for_user.as_deref()
    }

    /// JSON text, claimed by the guest to be valid against the tool's `returns`; where it is no JSON, cleaned as plain text.
    #[must_use]
    pub fn structured(&self) -> Option<&str> {
        self.structured.as_deref()
    }

    /// True where nothing should be shown.
    #[must_use]
    pub fn silent(&self) -> bool {
        self.silent
    }

    /// The tool's own error, where it failed.
    #[must_use]
    pub fn error(&self) -> Option<&CleanError> {
        self.error.as_ref()
    }

    /// Whether the tool failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// `ok` or `tool-error`.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        if self.is_error() { Outcome::ToolError } else { Outcome::Ok }
    }

    /// Bytes of all texts that the model reads.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.texts().map(str::len).sum()
    }

    /// All texts that the model reads, one after the other, with a line break between two.
    #[must_use]
    pub fn text(&self) -> String {
        self.texts().collect::<Vec<_>>().join("\n")
    }

    /// The same answer with every text that the model reads put through `change`: a preview in place of what is too long.
    #[must_use]
    pub fn map_text(mut self, mut change: impl FnMut(String) -> String) -> Self {
        for content in &mut self.for_model {
            if let Content::Text(text) = content {
                *text = change(std::mem::take(text));
            }
        }
        self
    }

    /// The same answer with one text in place of all its texts, first of all that the model reads: a preview of what is kept
    /// elsewhere. Pictures, sounds, files and references stay.
    #[must_use]
    pub fn with_text(mut self, text: String) -> Self {
        self.for_model.retain(|content| !matches!(content, Content::Text(_)));
        self.for_model.insert(0, Content::Text(text));
        self
    }

    /// The texts that the model reads, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.for_model.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }
}
