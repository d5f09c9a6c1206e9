//! Messages as lines, for stdio. Unlike rmcp's own transport it bounds a line, answers what is no message, and keeps the text
//! of a call's arguments.

use super::envelope;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, GetExtensions, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::future::Future;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// Most bytes of one message; as for a body of the HTTP API.
const MAX_LINE: usize = crate::config::MAX_JSON_BYTES;

/// A reader and a writer that carry one JSON-RPC message a line.
pub(super) struct Lines<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// The line under way is too long; its rest is skipped.
    too_long: bool,
    writer: Arc<Mutex<W>>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        Self {
            reader: BufReader::with_capacity(64 << 10, reader),
            line: Vec::new(),
            too_long: false,
            writer: Arc::new(Mutex::new(writer)),
        }
    }

    /// Reads up to the end of a line; false at the end of the input. Can be dropped and called again: what was read stays
    /// in `line`.
    async fn fill(&mut self) -> bool {
        loop {
            let chunk = match self.reader.fill_buf().await {
                Ok(chunk) if !chunk.is_empty() => chunk,
                // A last line without an end counts.
                _ => return !self.line.is_empty(),
            };
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let piece = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            if self.line.len() + piece.len() > MAX_LINE {
                self.too_long = true;
                self.line.clear();
            }
            if !self.too_long {
                self.line.extend_from_slice(piece);
            }
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                return true;
            }
        }
    }

    /// The message of the line that was read, `None` for an empty line.
    fn message(&mut self) -> Option<Result<ClientJsonRpcMessage, ErrorData>> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            return Some(Err(envelope::invalid(format!("a message is larger than {MAX_LINE} bytes; send less"))));
        }
        (!line.trim_ascii().is_empty()).then(|| parse(&line))
    }

    /// Sends without waiting: reading may be dropped at any time, a half-sent line must not be.
    fn refuse(&self, error: &ErrorData) {
        let writer = self.writer.clone();
        let mut line = envelope::error_without_id(error);
        line.push(b'\n');
        tokio::spawn(async move { write(&writer, &line).await });
    }
}

fn parse(line: &[u8]) -> Result<ClientJsonRpcMessage, ErrorData> {
    let arguments = envelope::arguments(line)?;
    let mut message: ClientJsonRpcMessage =
        serde_json::from_slice(line).map_err(|_| envelope::invalid("this is no message of MCP".to_owned()))?;
    if let (Some(arguments), JsonRpcMessage::Request(request)) = (arguments, &mut message) {
        request.request.extensions_mut().insert(arguments);
    }
    Ok(message)
}

async fn write<W: AsyncWrite + Unpin>(writer: &Mutex<W>, line: &[u8]) -> io::Result<()> {
    let mut writer = writer.lock().await;
    writer.write_all(line).await?;
    writer.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = self.writer.clone();
        let line = serde_json::to_vec(&item).map(|mut line| {
            line.push(b'\n');
            line
        });
        async move { write(&writer, &line?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        while self.fill().await {
            match self.message() {
                Some(Ok(message)) => return Some(message),
                Some(Err(error)) => self.refuse(&error),
                None => {}
            }
        }
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.flush().await
    }
}
