//! `read_file`.

use crate::told::told;
use crate::workspace::{Place, place};
use caisson_sdk::ToolError;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// What the model gets at most, the note included: above it the host would keep the result back.
const MAX_CHARS: usize = 50_000;
/// Of these, room for the note.
const NOTE_CHARS: usize = 500;
/// How much of the start decides whether a file is text.
const SNIFFED: usize = 8 * 1024;
/// Past this the lines that were left out are not counted: that would read the whole file.
const COUNTED: u64 = 8 * 1024 * 1024;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Args {
    /// Path in the workspace, for example `notes/today.md`
    pub path: String,
    /// First line to read, counting from 1; 1 by default
    #[schemars(range(min = 1))]
    pub offset: Option<u64>,
    /// How many lines to read; as many as fit by default
    #[schemars(range(min = 1))]
    pub limit: Option<u64>,
}

pub fn read(root: &Path, args: &Args) -> Result<String, ToolError> {
    let place = place(root, &args.path)?;
    let failed = |error: &std::io::Error| told("read", &place, error);
    let first = args.offset.unwrap_or(1);
    if first == 0 || args.limit == Some(0) {
        return Err(ToolError::invalid_arguments(
            "`offset` and `limit` count from 1; leave them out to read from the start",
        ));
    }
    let file = File::open(&place.path).map_err(|error| failed(&error))?;
    let about = file.metadata().map_err(|error| failed(&error))?;
    if about.is_dir() {
        return Err(failed(&std::io::ErrorKind::IsADirectory.into()));
    }
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let start = reader.fill_buf().map_err(|error| failed(&error))?;
    if let Some(kind) = binary(start.get(..SNIFFED.min(start.len())).unwrap_or(start)) {
        return Err(ToolError::invalid_arguments(format!(
            "`{}` is not text but {kind} of {} bytes; use a tool that understands such files",
            place.shown,
            about.len()
        )));
    }
    let mut part = Part::new(first, args.limit.unwrap_or(u64::MAX));
    part.fill(&mut reader).map_err(|error| failed(&error))?;
    if part.more && about.len() <= COUNTED {
        part.count_rest(&mut reader).map_err(|error| failed(&error))?;
    }
    part.told(&place, about.len())
}

/// The lines that were asked for, and what is known of the others.
struct Part {
    first: u64,
    limit: u64,
    text: String,
    chars: usize,
    /// Lines in `text`.
    taken: u64,
    /// Lines that were read, from the file's start; counts on where the rest is counted.
    seen: u64,
    /// Whether the file goes on after the last line taken.
    more: bool,
    /// Whether `seen` is the number of lines of the whole file.
    counted: bool,
    /// Characters of the last line, where only its start was taken.
    cut: Option<usize>,
    lossy: bool,
}

impl Part {
    fn new(first: u64, limit: u64) -> Self {
        let text = String::new();
        Self { first, limit, text, chars: 0, taken: 0, seen: 0, more: false, counted: false, cut: None, lossy: false }
    }

    fn fill(&mut self, reader: &mut impl BufRead) -> std::io::Result<()> {
        let mut line = Vec::new();
        loop {
            if self.taken == self.limit || self.cut.is_some() {
                self.more = !reader.fill_buf()?.is_empty();
                self.counted = !self.more;
                return Ok(());
            }
            line.clear();
            if !next_line(reader, &mut line)? {
                self.counted = true;
                return Ok(());
            }
            self.seen += 1;
            if self.seen >= self.first && !self.take(&line) {
                self.more = true;
                return Ok(());
            }
        }
    }

    /// Whether the line found room.
    fn take(&mut self, line: &[u8]) -> bool {
        let text = String::from_utf8_lossy(line);
        let chars = text.chars().count();
        let room = (MAX_CHARS - NOTE_CHARS).saturating_sub(self.chars);
        if chars > room && self.taken > 0 {
            return false;
        }
        self.lossy |= matches!(text, std::borrow::Cow::Owned(_));
        self.taken += 1;
        self.chars += chars.min(room);
        if chars > room {
            self.cut = Some(chars);
            self.text.extend(text.chars().take(room));
        } else {
            self.text.push_str(&text);
        }
        true
    }

    fn count_rest(&mut self, reader: &mut impl BufRead) -> std::io::Result<()> {
        // A line that found no room was read already, and counted.
        let mut open = false;
        loop {
            let piece = reader.fill_buf()?;
            let Some(last) = piece.last() else { break };
            self.seen += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
            open = *last != b'\n';
            let length = piece.len();
            reader.consume(length);
        }
        self.seen += u64::from(open);
        self.counted = true;
        Ok(())
    }

    fn told(mut self, place: &Place, bytes: u64) -> Result<String, ToolError> {
        let shown = &place.shown;
        if self.taken == 0 && self.seen == 0 {
            return Ok(format!("[`{shown}` is empty]"));
        }
        if self.taken == 0 {
            return Err(ToolError::invalid_arguments(format!(
                "`{shown}` has {} lines; `offset` {} is past its end",
                self.seen, self.first
            )));
        }
        let last = self.first + self.taken - 1;
        let mut notes = Vec::new();
        if self.first > 1 || self.more {
            let of = if self.counted { format!(" of {}", self.seen) } else { format!(" of a file of {bytes} bytes") };
            let on = if self.more { format!("; read on with offset {}", last + 1) } else { String::new() };
            notes.push(format!("lines {}–{last}{of}{on}", self.first));
        }
        if let Some(chars) = self.cut {
            notes.push(format!("line {last} has {chars} characters, only its first {} are shown", self.chars));
        }
        if self.lossy {
            notes.push("not all of it is UTF-8: what is not is shown as \u{fffd}, do not write it back".to_owned());
        }
        if !notes.is_empty() {
            if !self.text.ends_with('\n') {
                self.text.push('\n');
            }
            self.text.push_str(&format!("[{}]", notes.join("; ")));
        }
        Ok(self.text)
    }
}

/// The next line with its end; the answer is whether there was one. Of a giant line only what could be shown is held.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    // A character has at most four bytes. The length of what is cut is still told, so it is counted a little further.
    const HELD: u64 = 16 * MAX_CHARS as u64;
    let read = reader.by_ref().take(HELD).read_until(b'\n', line)?;
    if read as u64 == HELD && line.last() != Some(&b'\n') {
        reader.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

/// What a file is that is not text.
fn binary(start: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 14] = [
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive or an Office document"),
        (b"\x1f\x8b", "gzip data"),
        (b"\x28\xb5\x2f\xfd", "Zstandard data"),
        (b"\x7fELF", "an ELF program"),
        (b"\0asm", "a WebAssembly module or component"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"OggS", "an Ogg sound"),
        (b"ID3", "an MP3 sound"),
        (b"\xff\xfe", "UTF-16 text"),
        (b"\xfe\xff", "UTF-16 text"),
    ];
    let known = KNOWN.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, kind)| *kind);
    known.or_else(|| start.contains(&0).then_some("binary data"))
}

#[cfg(test)]
mod tests;
