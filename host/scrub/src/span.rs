//! Ranges of bytes that must go, and how they go.

use crate::REDACTED;
use std::borrow::Cow;
use std::ops::Range;

/// Ranges found so far.
#[derive(Default)]
pub(crate) struct Spans {
    found: Vec<Range<usize>>,
    end: usize,
}

impl Spans {
    /// Whether a position lies in or before what is already to be redacted. An anchor there needs no second look.
    pub(crate) fn covers(&self, position: usize) -> bool {
        position < self.end
    }

    /// Adds a range; an empty one adds nothing.
    pub(crate) fn add(&mut self, range: Range<usize>) {
        if range.start < range.end {
            self.end = self.end.max(range.end);
            self.found.push(range);
        }
    }

    /// These and those.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.found.extend(other.found);
        self
    }

    /// The text with every range replaced; borrowed where nothing was found.
    pub(crate) fn redact<'t>(mut self, text: &'t str) -> Cow<'t, str> {
        if self.found.is_empty() {
            return Cow::Borrowed(text);
        }
        self.found.sort_unstable_by_key(|range| (range.start, range.end));
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        let mut any = false;
        for range in self.found {
            // Parsers cut at ASCII bytes, and dynamic values are whole strings, so this moves nothing; it keeps a mistake
            // from becoming a panic on somebody's input.
            let start = floor(text, range.start);
            let end = ceil(text, range.end);
            if !any || start > done {
                out.push_str(text.get(done..start).unwrap_or_default());
                out.push_str(REDACTED);
                any = true;
            }
            done = done.max(end);
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(out)
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) && at > 0 {
        at -= 1;
    }
    at.min(text.len())
}

fn ceil(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at.min(text.len())
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
