//! Secrets out of everything that leaves. The only station that may open a [`RawResult`], and the only one that can make a
//! [`CleanResult`].
//!
//! May depend on: `caisson-call`, pattern matchers. Must not know: wasmtime, the network, SQL, files. No I/O.

use caisson_call::{Content, RawResult, ToolErrorReason};

/// A tool's answer with secrets taken out: what doors may show.
#[derive(Clone, Debug, PartialEq)]
pub struct CleanResult {
    for_model: Vec<Content>,
    for_user: Option<String>,
    structured: Option<String>,
    silent: bool,
    error: Option<CleanError>,
}

/// A tool's own error, cleaned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanError {
    /// The tool's reason.
    pub reason: ToolErrorReason,
    /// When it may be worth trying again, milliseconds.
    pub retry_after_ms: Option<u32>,
    /// A JSON object, as text.
    pub details: Option<String>,
}
