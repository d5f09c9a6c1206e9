//! Where standard output and error go: a bounded buffer of the call, which the registry scrubs and hands to the log.

use bytes::Bytes;
use caisson_call::{Budget, Ledger};
use std::sync::{Arc, Mutex};
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi_io::poll::Pollable;
use wasmtime_wasi_io::streams::{OutputStream, StreamError, StreamResult};

/// Bytes taken per write; the guest loops for more.
const CHUNK: usize = 8 << 10;

/// Collects what the guest prints, up to the call's [`Budget::LogBytes`]; past that the call ends with `over-budget`.
#[derive(Clone)]
pub struct LogSink {
    ledger: Arc<Ledger>,
    text: Arc<Mutex<Vec<u8>>>,
}

impl LogSink {
    /// An empty sink that charges `ledger`.
    #[must_use]
    pub fn new(ledger: Arc<Ledger>) -> Self {
        Self { ledger, text: Arc::default() }
    }

    /// Takes what was printed so far. Untrusted bytes.
    #[must_use]
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.text.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn append(&self, bytes: &[u8]) -> Result<(), caisson_call::OverBudget> {
        self.ledger.charge(Budget::LogBytes, bytes.len() as u64)?;
        self.text.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend_from_slice(bytes);
        Ok(())
    }
}

impl IsTerminal for LogSink {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for LogSink {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        // Only WASI 0.3 asks for this form; its imports are refused at install.
        Box::new(tokio::io::sink())
    }
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for LogSink {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.append(&bytes).map_err(|over| StreamError::Trap(over.into()))
    }
    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }
    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(CHUNK)
    }
}

#[async_trait::async_trait]
impl Pollable for LogSink {
    async fn ready(&mut self) {}
}
