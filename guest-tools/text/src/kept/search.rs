//! Mode `search`: the lines that hold some words, with the lines around them.

use super::lines::{Line, Lines, Source};
use super::{BODY_BYTES, noted};
use caisson_sdk::ToolError;
use regex::bytes::{Regex, RegexBuilder};
use std::collections::VecDeque;

/// Of a longer line only what is around its hits is shown.
const LONG_LINE: usize = 2_000;
/// How much of it, on each side of a hit.
const AROUND: usize = 1_000;
/// How many of its hits.
const HITS: usize = 10;

pub fn search(source: Source<'_>, query: &str, context: u64, first: u64, last: u64) -> Result<String, ToolError> {
    let query = RegexBuilder::new(&regex::escape(query)).case_insensitive(true).build();
    let query = query.map_err(|_| ToolError::invalid_arguments("`query` is too long; use fewer words"))?;
    let mut found = Found::default();
    let mut before: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
    let mut after = 0;
    let mut lines = Lines::new(source);
    let mut seen = 0;
    while let Some(Line { number, bytes, .. }) = lines.next_line()? {
        if number > last {
            break;
        }
        seen = number;
        if number < first {
            continue;
        }
        let line = shortened(bytes, &query);
        if query.is_match(bytes) {
            found.hits += 1;
            for (number, line) in before.drain(..) {
                found.push(number, '-', &line);
            }
            found.push(number, ':', &line);
            after = context;
        } else if after > 0 {
            found.push(number, '-', &line);
            after -= 1;
        } else {
            before.push_back((number, line));
            while before.len() as u64 > context {
                before.pop_front();
            }
        }
        if let Some(stopped) = found.full {
            let note = format!(
                "[stopped at line {stopped} after {} lines with a hit, {BODY_BYTES} bytes are shown at once; search on with from {stopped}]",
                found.hits
            );
            return Ok(noted(&found.text, &note));
        }
    }
    let range =
        if first > 1 || last < u64::MAX { format!("lines {first}–{seen}") } else { format!("all {seen} lines") };
    Ok(noted(&found.text, &format!("[{} lines with a hit in {range}]", found.hits)))
}

/// What is to be shown.
#[derive(Default)]
struct Found {
    text: Vec<u8>,
    hits: u64,
    /// The last line in it.
    last: Option<u64>,
    /// The line that found no room.
    full: Option<u64>,
}

impl Found {
    fn push(&mut self, number: u64, mark: char, line: &[u8]) {
        if self.full.is_some() {
            return;
        }
        let gap = if self.last.is_some_and(|last| last + 1 < number) { "--\n" } else { "" };
        let mut shown = format!("{gap}{number}{mark} ").into_bytes();
        shown.extend_from_slice(line);
        if shown.last() != Some(&b'\n') {
            shown.push(b'\n');
        }
        // A first line always finds room: it is at most ten times what is around a hit.
        if self.text.len() + shown.len() > BODY_BYTES && !self.text.is_empty() {
            self.full = Some(number);
            return;
        }
        self.text.extend_from_slice(&shown);
        self.last = Some(number);
    }
}

/// A long line without what is far from its first hits.
fn shortened(line: &[u8], query: &Regex) -> Vec<u8> {
    if line.len() <= LONG_LINE {
        return line.to_vec();
    }
    // Parts that touch are one.
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for hit in query.find_iter(line).take(HITS) {
        let (start, end) = (hit.start().saturating_sub(AROUND), (hit.end() + AROUND).min(line.len()));
        match parts.last_mut() {
            Some((_, last)) if *last >= start => *last = end,
            _ => parts.push((start, end)),
        }
    }
    if parts.is_empty() {
        parts.push((0, AROUND));
    }
    let mut shown = Vec::new();
    let mut from = 0;
    for (start, end) in parts {
        if start > from {
            shown.extend_from_slice(format!("…({} bytes)… ", start - from).as_bytes());
        }
        // Half a character at an edge would be shown as a replacement character.
        let part = line.get(start..end).unwrap_or_default();
        shown.extend_from_slice(String::from_utf8_lossy(part).trim_matches('\u{fffd}').as_bytes());
        from = end;
    }
    if from < line.len() {
        shown.extend_from_slice(format!(" …({} bytes)…", line.len() - from).as_bytes());
    }
    shown
}
