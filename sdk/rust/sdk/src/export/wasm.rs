//! The contract's bindings and the way between its records and this crate's types.
#![allow(
    missing_docs,
    clippy::all,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "most of this module is generated"
)]

wit_bindgen::generate!({
    path: ["../../../wit/plugin", "../../../wit/host"],
    inline: "
        package caisson:guest;
        world guest {
            include caisson:host/imports@0.1.0;
            export caisson:plugin/tools@0.1.0;
        }
    ",
    world: "caisson:guest/guest",
    pub_export_macro: true,
    export_macro_name: "export_bindings",
    generate_all,
});

pub use caisson::host;
pub use caisson::plugin::plugin_types::{Content, Effect, Error, FileReference, Media, Output, Reason, Tool};
pub use exports::caisson::plugin::tools::Guest;

use super::{Description, Plugin, dispatch};

/// `list-tools`.
pub fn list<P: Plugin>() -> Result<Vec<Tool>, Error> {
    Ok(P::tools().into_iter().map(|tool| (tool.describe)().into()).collect())
}

/// `call-tool`.
pub fn call<P: Plugin>(name: &str, arguments: &str) -> Result<Output, Error> {
    dispatch::<P>(name, arguments).map(Into::into).map_err(Into::into)
}

impl From<Description> for Tool {
    fn from(tool: Description) -> Self {
        Self {
            extra: tool.extra(),
            name: tool.name,
            title: tool.title,
            description: tool.description,
            parameters: tool.parameters,
            returns: tool.returns,
            effect: if tool.read_only { Effect::ReadOnly } else { Effect::Mutating },
            deferred: tool.deferred,
            idempotent: tool.idempotent,
            cache_seconds: tool.cache_seconds,
            groups: tool.groups,
        }
    }
}

impl From<crate::Output> for Output {
    fn from(output: crate::Output) -> Self {
        Self {
            for_model: output.for_model.into_iter().map(Into::into).collect(),
            for_user: output.for_user,
            structured: output.structured,
            silent: output.silent,
            extra: output.extra,
        }
    }
}

impl From<crate::Content> for Content {
    fn from(content: crate::Content) -> Self {
        match content {
            crate::Content::Text(text) => Self::Text(text),
            crate::Content::Image { mime_type, data } => Self::Image(Media { mime_type, data }),
            crate::Content::Audio { mime_type, data } => Self::Audio(Media { mime_type, data }),
            crate::Content::File { path, mime_type, caption } => Self::File(FileReference { path, mime_type, caption }),
            crate::Content::Kept(reference) => Self::Kept(reference),
        }
    }
}

impl From<crate::ToolError> for Error {
    fn from(error: crate::ToolError) -> Self {
        Self {
            reason: match error.reason {
                crate::Reason::InvalidArguments => Reason::InvalidArguments,
                crate::Reason::NotFound => Reason::NotFound,
                crate::Reason::Unavailable => Reason::Unavailable,
                crate::Reason::Failed => Reason::Failed,
            },
            message: error.message,
            retry_after_ms: error.retry_after_ms,
            details: error.details,
        }
    }
}

impl From<host::failures::Failure> for crate::ToolError {
    fn from(failure: host::failures::Failure) -> Self {
        crate::exec::Failure::from(failure).into()
    }
}
