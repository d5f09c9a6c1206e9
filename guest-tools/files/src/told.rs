//! What a failed file operation means for the model, and what to do next.

use crate::workspace::Place;
use caisson_sdk::{Reason, ToolError};
use std::io::{Error, ErrorKind};

/// Says what went wrong while doing `what` (for example `read`) to a file.
pub fn told(what: &str, place: &Place, error: &Error) -> ToolError {
    let shown = &place.shown;
    let (reason, message) = match error.kind() {
        ErrorKind::NotFound => {
            (Reason::NotFound, format!("no such file or folder `{shown}`; `list_files` shows what is there"))
        }
        ErrorKind::PermissionDenied => (
            Reason::Unavailable,
            format!(
                "`{shown}` cannot be {what}: the host refused it; use a path inside the workspace that is granted to this plugin"
            ),
        ),
        ErrorKind::IsADirectory => {
            (Reason::InvalidArguments, format!("`{shown}` is a folder; use `list_files`, or name a file in it"))
        }
        ErrorKind::NotADirectory => (
            Reason::InvalidArguments,
            format!(
                "`{shown}` leads through a file, or is one where a folder is needed; `list_files` shows what is there"
            ),
        ),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => (
            Reason::Unavailable,
            format!("`{shown}` cannot be {what}: no room is left; remove or shorten something first"),
        ),
        ErrorKind::InvalidFilename | ErrorKind::InvalidInput => (
            Reason::InvalidArguments,
            format!("`{shown}` is no path that can be used here ({error}); use a shorter, plain one"),
        ),
        _ => (Reason::Failed, format!("`{shown}` cannot be {what}: {error}")),
    };
    ToolError::new(reason, message)
}
