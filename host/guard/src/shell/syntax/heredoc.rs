//! Bodies of here-documents.

use super::reader::{Read, Reader};
use super::tree::{Part, RawWord};
use super::word::Quoting;
use crate::shell::seen::Fault;

/// A here-document whose body follows the next new line.
pub(crate) struct Pending {
    /// The line that ends it.
    pub(crate) end: String,
    /// Whether `$`, backquotes and `\` mean something in it.
    pub(crate) expands: bool,
    /// Whether tabs before each line are dropped.
    pub(crate) strips: bool,
    /// Its number.
    pub(crate) body: usize,
}

impl Reader<'_, '_> {
    /// Reads the bodies that wait, which begin here.
    pub(super) fn here_documents(&mut self) -> Read<()> {
        for document in std::mem::take(&mut self.pending) {
            let start = self.at;
            let text = self.body(&document)?;
            self.claim(start);
            let span = self.span(start);
            let parts = if document.expands {
                self.deeper(|reader| reader.inner(&text, span).body_parts())?
            } else {
                vec![Part::Quoted(text)]
            };
            if let Some(slot) = self.tally.bodies.get_mut(document.body) {
                *slot = RawWord { parts, span };
            }
        }
        Ok(())
    }

    /// Takes the lines up to the end's.
    fn body(&mut self, document: &Pending) -> Read<String> {
        let mut text = String::new();
        // The line so far, where the one before went on: some shells look for the end after joining, some before.
        let mut joined: Option<String> = None;
        loop {
            let rest = self.rest(self.at);
            if rest.is_empty() {
                return self.fault(Fault::HereDocument);
            }
            let (line, length) = match rest.split_once('\n') {
                Some((line, _)) => (line, line.len() + 1),
                None => (rest, rest.len()),
            };
            let shown = if document.strips { line.trim_start_matches('\t') } else { line };
            let ends = shown == document.end;
            if let Some(before) = &mut joined {
                if before.len() <= document.end.len() {
                    before.push_str(line);
                }
                if ends || *before == document.end || before.trim_start_matches('\t') == document.end {
                    return self.fault(Fault::HereDocument);
                }
            }
            self.go(self.at + length);
            if ends {
                return Ok(text);
            }
            text.push_str(shown);
            text.push('\n');
            let goes_on = document.expands && line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
            joined = match (goes_on, joined) {
                (false, _) => None,
                (true, None) => Some(line.trim_end_matches('\\').to_owned()),
                (true, Some(mut before)) => {
                    before.truncate(before.trim_end_matches('\\').len());
                    Some(before)
                }
            };
        }
    }

    /// The parts of a body that expands.
    fn body_parts(&mut self) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        while self.peek().is_some() {
            self.quoted_part(Quoting::Body, &mut parts)?;
        }
        self.residue()?;
        Ok(parts)
    }
}
