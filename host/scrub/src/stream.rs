//! Text that comes in pieces.

use crate::pass::{CONTEXT, Pass};
use crate::span::Writer;
use crate::{Scrubber, Secrets};
use std::sync::Arc;

/// So many bytes are kept behind before the rest is moved to the front, so that moving costs less than reading.
const SLACK: usize = 16 << 10;

/// Cleans text that comes in pieces: progress, logs, what a command prints. What comes out in all is what
/// [`Scrubber::clean_text_with`] makes of all that went in, wherever it was cut, and however a secret lay over the cuts.
///
/// It keeps back what it cannot judge yet: mostly a few bytes, at most some 16 KiB (a private key whose end has not come) or
/// the longest form of a known value.
///
/// ```
/// let scrubber = std::sync::Arc::new(caisson_scrub::Scrubber::new());
/// let mut stream = scrubber.stream(&caisson_scrub::Secrets::none());
/// let mut out = stream.push(b"password=hunt");
/// out.extend(stream.push(b"er2hunter2\n"));
/// out.extend(stream.finish());
/// assert_eq!(out, b"password=[REDACTED]\n");
/// ```
pub struct Stream {
    scrubber: Arc<Scrubber>,
    secrets: Secrets,
    pass: Pass,
    writer: Writer,
    text: Vec<u8>,
}

impl Stream {
    pub(crate) fn new(scrubber: Arc<Scrubber>, secrets: &Secrets) -> Self {
        let secrets = secrets.clone();
        Self { scrubber, pass: Pass::new(&secrets), secrets, writer: Writer::default(), text: Vec::new() }
    }

    /// Takes a piece, gives what is settled. A character may be cut by both.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.text.extend_from_slice(piece);
        self.advance(false)
    }

    /// Gives the rest, and is ready for another text.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = self.advance(true);
        self.text.clear();
        self.pass = Pass::new(&self.secrets);
        self.writer = Writer::default();
        rest
    }

    /// Bytes that are kept back or looked back at.
    #[must_use]
    pub fn held(&self) -> usize {
        self.text.len()
    }

    fn advance(&mut self, closed: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let settled = self.pass.advance(&self.scrubber, &self.secrets, &self.text, closed);
        self.writer.write(&self.text, settled, &mut self.pass.spans, &mut out);
        // What is settled is written, but parsers look back at it.
        let unneeded = settled.saturating_sub(CONTEXT);
        if unneeded > SLACK {
            self.text.drain(..unneeded);
            self.pass.shift(unneeded);
            self.writer.shift(unneeded);
        }
        out
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stream")
    }
}
