//! What a guest answered, before scrubbing.

use crate::Outcome;

/// Why a tool says it failed; the guest's own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolErrorReason {
    /// The arguments passed the schema but make no sense.
    InvalidArguments,
    /// What was asked for does not exist.
    NotFound,
    /// Something outside is not there now.
    Unavailable,
    /// Anything else.
    Failed,
}

impl ToolErrorReason {
    /// The word, as in the WIT enum.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid-arguments",
            Self::NotFound => "not-found",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }
}

/// One piece of content; the Rust side of `caisson:plugin/plugin-types.content`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text for the model.
    Text(String),
    /// A picture.
    Image {
        /// Media type, RFC 6838.
        mime_type: String,
        /// The bytes.
        data: Vec<u8>,
    },
    /// Sound.
    Audio {
        /// Media type, RFC 6838.
        mime_type: String,
        /// The bytes.
        data: Vec<u8>,
    },
    /// A file of the workspace; opened by the host through the call's own files gate before it is shown to anyone.
    File {
        /// Path as the guest sees it, such as `/workspace/report.pdf`.
        path: String,
        /// Media type, where the guest names one.
        mime_type: Option<String>,
        /// What it is.
        caption: Option<String>,
    },
    /// A reference from `caisson:host/outputs`.
    Kept(String),
}

/// A tool's answer, as the guest gave it.
#[derive(Clone, Debug, PartialEq)]
pub enum RawOutput {
    /// `ok(output)`.
    Output {
        /// What the model reads.
        for_model: Vec<Content>,
        /// What the person reads, where it is something else.
        for_user: Option<String>,
        /// JSON text, claimed to be valid against the tool's `returns`; the registry checks.
        structured: Option<String>,
        /// True where nothing should be shown.
        silent: bool,
    },
    /// `err(error)`.
    Error {
        /// The guest's reason.
        reason: ToolErrorReason,
        /// The guest's text.
        message: String,
        /// When it may be worth trying again.
        retry_after_ms: Option<u32>,
        /// A JSON object.
        details: Option<String>,
    },
}

/// A tool's answer that has not been scrubbed. It has no `Debug`, no `Display` and no public field, so that no error path
/// can print it; [`RawResult::expose`] is banned by lint everywhere but in `scrub`.
pub struct RawResult(RawOutput);

impl RawResult {
    /// Wraps what a guest answered. Only the engine (and later the bridge) has one to wrap.
    #[must_use]
    pub fn new(output: RawOutput) -> Self {
        Self(output)
    }

    /// Takes the guest's text out. Banned by `clippy.toml` outside `scrub`.
    #[must_use]
    pub fn expose(self) -> RawOutput {
        self.0
    }

    /// Whether the tool answered or failed.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self.0 {
            RawOutput::Output { .. } => Outcome::Ok,
            RawOutput::Error { .. } => Outcome::ToolError,
        }
    }
}
