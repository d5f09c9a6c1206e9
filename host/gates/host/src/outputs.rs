//! `outputs`: large results, written and read in pieces.

use crate::HostView;
use crate::bindings::caisson::host::failures::{Code, Failure};
use crate::bindings::caisson::host::outputs::{self, Kept};
use crate::error::failure;
use crate::host::MAX_READ;
use async_trait::async_trait;
use caisson_call::{Budget, Capability};
use wasmtime::component::Resource;

/// What is known of a kept output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSummary {
    /// Tool that made it.
    pub tool: String,
    /// Media type.
    pub content_type: String,
    /// Lines.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A piece of a kept output.
pub type KeptPiece = Vec<u8>;

/// Keeps outputs for one caller. The registry implements it over the store, scrubbing what is kept; the gate names no tenant, so
/// it cannot name another's.
#[async_trait]
pub trait KeptOutputs: Send + Sync {
    /// Keeps bytes; the reference to them.
    async fn keep(&self, content_type: String, bytes: Vec<u8>) -> Result<String, String>;
    /// What a reference of this caller is.
    async fn describe(&self, reference: &str) -> Option<KeptSummary>;
    /// A piece of it.
    async fn read(&self, reference: &str, offset: u64, limit: u32) -> Option<KeptPiece>;
}

/// An output being written.
pub struct Writer {
    content_type: String,
    bytes: Vec<u8>,
}

impl HostView<'_> {
    fn outputs_granted(&self) -> Result<(), Failure> {
        let all = self.ctx.layers.all(|layer| if layer.capabilities.outputs { Ok(()) } else { Err(()) }, || ());
        match all {
            Ok(_) => Ok(()),
            Err((source, ())) => Err(self.refuse(
                Capability::Outputs,
                Code::NotGranted,
                &format!("outputs.not-{}", source.verb()),
                "keep or read a large output",
                "outputs = true under [capabilities]",
            )),
        }
    }
}

impl outputs::Host for HostView<'_> {
    async fn describe(&mut self, reference: String) -> wasmtime::Result<Result<Kept, Failure>> {
        if let Err(refused) = self.outputs_granted() {
            return Ok(Err(refused));
        }
        let Some(kept) = &self.ctx.outputs else { return Ok(Err(no_outputs())) };
        Ok(match kept.describe(&reference).await {
            Some(summary) => Ok(Kept {
                tool: summary.tool,
                content_type: summary.content_type,
                lines: summary.lines,
                bytes: summary.bytes,
            }),
            None => Err(expired()),
        })
    }

    async fn read(&mut self, reference: String, offset: u64, limit: u32) -> wasmtime::Result<Result<Vec<u8>, Failure>> {
        if let Err(refused) = self.outputs_granted() {
            return Ok(Err(refused));
        }
        let Some(kept) = &self.ctx.outputs else { return Ok(Err(no_outputs())) };
        let Some(piece) = kept.read(&reference, offset, limit.min(MAX_READ)).await else { return Ok(Err(expired())) };
        self.ctx.ledger.charge(Budget::FileBytes, piece.len() as u64)?;
        Ok(Ok(piece))
    }
}

impl outputs::HostWriter for HostView<'_> {
    async fn open(&mut self, content_type: String) -> wasmtime::Result<Result<Resource<Writer>, Failure>> {
        if let Err(refused) = self.outputs_granted() {
            return Ok(Err(refused));
        }
        if content_type.len() > 255 || content_type.chars().any(char::is_control) {
            return Ok(Err(failure(
                Code::Invalid,
                "the content type must be a media type of at most 255 bytes, such as `text/csv`",
            )));
        }
        Ok(Ok(self.table.push(Writer { content_type, bytes: Vec::new() })?))
    }

    async fn write(&mut self, writer: Resource<Writer>, chunk: Vec<u8>) -> wasmtime::Result<Result<(), Failure>> {
        self.ctx.ledger.charge(Budget::OutputBytes, chunk.len() as u64)?;
        self.ctx.ledger.charge(Budget::HostMemory, chunk.len() as u64)?;
        self.table.get_mut(&writer)?.bytes.extend_from_slice(&chunk);
        Ok(Ok(()))
    }

    async fn finish(&mut self, output: Resource<Writer>) -> wasmtime::Result<Result<String, Failure>> {
        let Writer { content_type, bytes } = self.table.delete(output)?;
        self.ctx.ledger.release(Budget::HostMemory, bytes.len() as u64);
        let Some(kept) = &self.ctx.outputs else { return Ok(Err(no_outputs())) };
        Ok(kept
            .keep(content_type, bytes)
            .await
            .map_err(|_| failure(Code::Unavailable, "the output could not be kept; try again later")))
    }

    async fn drop(&mut self, writer: Resource<Writer>) -> wasmtime::Result<()> {
        let writer = self.table.delete(writer)?;
        self.ctx.ledger.release(Budget::HostMemory, writer.bytes.len() as u64);
        Ok(())
    }
}

fn expired() -> Failure {
    failure(
        Code::NotFound,
        "no kept output of that reference; they are kept for an hour, so call the tool that made it again",
    )
}

fn no_outputs() -> Failure {
    failure(Code::Unavailable, "outputs cannot be kept while `list-tools` runs")
}
