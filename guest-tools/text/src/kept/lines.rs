//! A kept output line by line, without holding all of it.

use caisson_sdk::ToolError;

/// Reads at most so many bytes from an offset on; empty at the end.
pub type Source<'s> = &'s dyn Fn(u64, u32) -> Result<Vec<u8>, ToolError>;

/// How much is asked for at once.
const PIECE: u32 = 256 * 1024;
/// A line that is longer is cut into several with the same number.
const MAX_LINE: usize = 4 * 1024 * 1024;

/// One line.
pub struct Line<'l> {
    /// Counted from 1.
    pub number: u64,
    /// Where it begins, in bytes from the start of the output.
    pub offset: u64,
    /// With its line end.
    pub bytes: &'l [u8],
}

pub struct Lines<'s> {
    source: Source<'s>,
    buffer: Vec<u8>,
    /// Where in the buffer the next line begins.
    at: usize,
    /// Where in the output the buffer begins.
    base: u64,
    number: u64,
    ended: bool,
    /// The last line was cut, so the next goes on with it.
    within: bool,
}

impl<'s> Lines<'s> {
    pub fn new(source: Source<'s>) -> Self {
        Self { source, buffer: Vec::new(), at: 0, base: 0, number: 0, ended: false, within: false }
    }

    /// The next line, `None` after the last.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, ToolError> {
        let mut searched = 0;
        let length = loop {
            let rest = self.buffer.get(self.at..).unwrap_or_default();
            let end = rest.iter().skip(searched).position(|byte| *byte == b'\n').map(|end| searched + end + 1);
            match end {
                Some(end) => break end,
                None if rest.len() >= MAX_LINE || self.ended => break rest.len(),
                None => searched = rest.len(),
            }
            self.fill()?;
        };
        if length == 0 {
            return Ok(None);
        }
        let (start, offset) = (self.at, self.base + self.at as u64);
        self.at += length;
        let bytes = self.buffer.get(start..self.at).unwrap_or_default();
        self.number += u64::from(!self.within);
        self.within = bytes.last() != Some(&b'\n');
        Ok(Some(Line { number: self.number, offset, bytes }))
    }

    fn fill(&mut self) -> Result<(), ToolError> {
        self.buffer.drain(..self.at);
        self.base += self.at as u64;
        self.at = 0;
        let piece = (self.source)(self.base + self.buffer.len() as u64, PIECE)?;
        self.ended = piece.is_empty();
        self.buffer.extend_from_slice(&piece);
        Ok(())
    }
}
