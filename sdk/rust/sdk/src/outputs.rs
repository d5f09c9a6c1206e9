//! Large results that the host keeps: written here, named by a reference, read in pieces.

/// What is known of a kept result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The tool that made it.
    pub tool: String,
    /// Its MIME type.
    pub content_type: String,
    /// How many lines it has.
    pub lines: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

pub use place::{describe, keep, read};

#[cfg(target_family = "wasm")]
mod place {
    use super::Kept;
    use crate::ToolError;
    use crate::export::wasm::host::outputs;

    /// How much goes over in one piece.
    const PIECE: usize = 256 * 1024;

    /// Keeps a result; the answer is its reference, for [`crate::Output::kept`].
    pub fn keep(content_type: &str, bytes: &[u8]) -> Result<String, ToolError> {
        let writer = outputs::Writer::open(content_type)?;
        for piece in bytes.chunks(PIECE) {
            writer.write(piece)?;
        }
        Ok(outputs::Writer::finish(writer)?)
    }

    /// What is known of a kept result.
    pub fn describe(reference: &str) -> Result<Kept, ToolError> {
        let kept = outputs::describe(reference)?;
        Ok(Kept { tool: kept.tool, content_type: kept.content_type, lines: kept.lines, bytes: kept.bytes })
    }

    /// At most `limit` bytes of a kept result from `offset` on; empty at its end.
    pub fn read(reference: &str, offset: u64, limit: u32) -> Result<Vec<u8>, ToolError> {
        Ok(outputs::read(reference, offset, limit)?)
    }
}

#[cfg(not(target_family = "wasm"))]
mod place {
    use super::Kept;
    use crate::ToolError;

    fn nobody<T>() -> Result<T, ToolError> {
        Err(ToolError::unavailable("kept results need the host: run the plugin with `caisson call`"))
    }

    /// Keeps a result; the answer is its reference, for [`crate::Output::kept`].
    pub fn keep(_content_type: &str, _bytes: &[u8]) -> Result<String, ToolError> {
        nobody()
    }

    /// What is known of a kept result.
    pub fn describe(_reference: &str) -> Result<Kept, ToolError> {
        nobody()
    }

    /// At most `limit` bytes of a kept result from `offset` on; empty at its end.
    pub fn read(_reference: &str, _offset: u64, _limit: u32) -> Result<Vec<u8>, ToolError> {
        nobody()
    }
}
