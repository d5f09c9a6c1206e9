//! Files that the caller attached to the call.

/// One attached file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its name, as [`read`] takes it.
    pub name: String,
    /// Its MIME type.
    pub mime_type: String,
    /// Its size.
    pub bytes: u64,
}

pub use place::{list, read};

#[cfg(target_family = "wasm")]
mod place {
    use super::Input;
    use crate::ToolError;
    use crate::export::wasm::host::inputs;

    /// All attached files.
    pub fn list() -> Vec<Input> {
        let all = inputs::listing().into_iter();
        all.map(|input| Input { name: input.name, mime_type: input.mime_type, bytes: input.bytes }).collect()
    }

    /// At most `limit` bytes of an attached file from `offset` on; empty at its end.
    pub fn read(name: &str, offset: u64, limit: u32) -> Result<Vec<u8>, ToolError> {
        Ok(inputs::read(name, offset, limit)?)
    }
}

#[cfg(not(target_family = "wasm"))]
mod place {
    use super::Input;
    use crate::ToolError;

    /// All attached files; off wasm there are none.
    pub fn list() -> Vec<Input> {
        Vec::new()
    }

    /// At most `limit` bytes of an attached file from `offset` on; empty at its end.
    pub fn read(name: &str, _offset: u64, _limit: u32) -> Result<Vec<u8>, ToolError> {
        Err(ToolError::not_found(format!("no file `{name}` is attached to this call")))
    }
}
