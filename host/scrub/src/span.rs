//! Ranges of bytes that must go, and how they go.

use crate::REDACTED;
use crate::tail::Alphabet;
use std::ops::Range;

/// What a parser found.
pub(crate) struct Found {
    /// The secret, as far as the parser was shown the text.
    pub(crate) range: Range<usize>,
    /// How the secret goes on where the parser was not shown all of it.
    pub(crate) tail: Alphabet,
}

impl Found {
    pub(crate) fn new(range: Range<usize>, tail: Alphabet) -> Option<Self> {
        (range.start < range.end).then_some(Self { range, tail })
    }
}

/// A range that goes, and why.
#[derive(Clone)]
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) class: &'static str,
}

/// Writes text with ranges replaced, piece by piece.
#[derive(Default)]
pub(crate) struct Writer {
    /// All before this position is written or left out.
    done: usize,
    /// The last thing written stands for a range that ends at `done`: what touches it is the same gap.
    in_gap: bool,
}

impl Writer {
    /// Writes `text` up to `settled` without the spans that begin before it, which it takes out of `spans`.
    pub(crate) fn write(&mut self, text: &[u8], settled: usize, spans: &mut Vec<Span>, out: &mut Vec<u8>) {
        spans.sort_by_key(|span| span.range.start);
        let now = spans.partition_point(|span| span.range.start < settled);
        for Span { range, .. } in spans.drain(..now) {
            if range.start > self.done || !self.in_gap {
                out.extend_from_slice(text.get(self.done..range.start).unwrap_or_default());
                out.extend_from_slice(REDACTED.as_bytes());
                self.in_gap = true;
            }
            self.done = self.done.max(range.end);
        }
        if let Some(rest) = text.get(self.done..settled)
            && !rest.is_empty()
        {
            out.extend_from_slice(rest);
            self.done = settled;
            self.in_gap = false;
        }
    }

    /// The text was moved by so many bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        self.done = self.done.saturating_sub(by);
    }
}

/// Bytes from `from` on for which `test` holds, at most `most`: the end of the run.
pub(crate) fn run(bytes: &[u8], from: usize, most: usize, test: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take(most).take_while(|byte| test(**byte)).count()
}

/// Bytes before `to` for which `test` holds, at most `most`: the start of the run.
pub(crate) fn run_back(bytes: &[u8], to: usize, most: usize, test: impl Fn(u8) -> bool) -> usize {
    let head = bytes.get(..to).unwrap_or_default();
    to - head.iter().rev().take(most).take_while(|byte| test(**byte)).count()
}

/// The byte before a position.
pub(crate) fn before(bytes: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| bytes.get(at)).copied()
}
