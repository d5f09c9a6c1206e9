//! What is wrong with a manifest, and where.

use std::fmt;
use std::ops::Range;

/// One thing that is wrong with a manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManifestFault {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what to do, as a sentence.
    pub message: String,
}

impl fmt::Display for ManifestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ManifestFault {}

impl ManifestFault {
    /// A fault at the start of a range of bytes of the text.
    pub(crate) fn at(text: &str, span: &Range<usize>, message: String) -> Self {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        Self { line, column, message }
    }
}
