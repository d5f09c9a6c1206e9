//! `read_output`: what the host kept back, in pieces that a model can take.

mod lines;
mod search;

use caisson_sdk::outputs::{self, Kept};
use caisson_sdk::{Reason, ToolError};
use lines::{Line, Lines, Source};

/// What one answer holds at most, in bytes, its notes included.
const MAX_BYTES: usize = 80 * 1024;
/// Of these, room for the first line and the note.
const NOTE_BYTES: usize = 1024;
const BODY_BYTES: usize = MAX_BYTES - NOTE_BYTES;
const LINES: u64 = 100;
const CONTEXT: u64 = 2;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Args {
    /// The reference from the preview, for example `a3f8c2d1` or `ref:a3f8c2d1`
    #[serde(rename = "ref")]
    pub reference: String,
    /// `head` (the default): the first lines; `tail`: the last; `slice`: the lines `from` to `to`, or what comes after byte
    /// `offset`; `search`: lines that hold `query`; `all`: as much as fits
    pub mode: Option<Mode>,
    /// For `head` and `tail`: how many lines; 100 by default
    #[schemars(range(min = 1))]
    pub lines: Option<u64>,
    /// For `slice` and `search`: the first line, counting from 1
    #[schemars(range(min = 1))]
    pub from: Option<u64>,
    /// For `slice` and `search`: the last line
    #[schemars(range(min = 1))]
    pub to: Option<u64>,
    /// For `slice`: a byte to start at, counting from 0, in place of `from`
    pub offset: Option<u64>,
    /// For `search`: the words to look for, upper and lower case being the same
    pub query: Option<String>,
    /// For `search`: how many lines around each hit; 2 by default
    #[schemars(range(max = 100))]
    pub context_lines: Option<u64>,
}

#[derive(Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    Head,
    Tail,
    Slice,
    Search,
    All,
}

pub fn read_output(args: &Args) -> Result<String, ToolError> {
    let reference = args.reference.trim();
    let reference = reference.strip_prefix("ref:").unwrap_or(reference).trim();
    if reference.is_empty() {
        return Err(ToolError::invalid_arguments(
            "`ref` is empty; copy it from the header of the preview, it stands after `ref:`",
        ));
    }
    let told = |error: ToolError| {
        // The host does not know what the model calls it.
        if error.reason() == Reason::NotFound {
            ToolError::not_found(format!("`{reference}`: {}", error.message()))
        } else {
            error
        }
    };
    let about = outputs::describe(reference).map_err(told)?;
    let body = read(args, &|offset, limit| outputs::read(reference, offset, limit))?;
    Ok(format!("{}\n{body}", header(reference, &about)))
}

fn header(reference: &str, about: &Kept) -> String {
    format!(
        "[{} | type:{} | lines:{} | bytes:{} | ref:{reference}]",
        about.tool, about.content_type, about.lines, about.bytes
    )
}

fn read(args: &Args, source: Source<'_>) -> Result<String, ToolError> {
    let first = args.from.unwrap_or(1);
    if first == 0 || args.lines == Some(0) || args.to == Some(0) {
        return Err(ToolError::invalid_arguments("`lines`, `from` and `to` count from 1"));
    }
    if args.to.is_some_and(|to| to < first) {
        return Err(ToolError::invalid_arguments(format!("`to` is before `from` ({first}); swap them")));
    }
    match args.mode.unwrap_or(Mode::Head) {
        Mode::Head => slice(source, 1, args.lines.unwrap_or(LINES)),
        Mode::All => slice(source, 1, u64::MAX),
        Mode::Slice => match args.offset {
            Some(offset) => bytes(source, offset),
            None => slice(source, first, args.to.unwrap_or(u64::MAX)),
        },
        Mode::Tail => tail(source, args.lines.unwrap_or(LINES)),
        Mode::Search => {
            let query = args.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
            let query =
                query.ok_or_else(|| ToolError::invalid_arguments("`search` needs `query`: the words to look for"))?;
            search::search(source, query, args.context_lines.unwrap_or(CONTEXT), first, args.to.unwrap_or(u64::MAX))
        }
    }
}

/// Lines `first` to `last`, both counted from 1.
fn slice(source: Source<'_>, first: u64, last: u64) -> Result<String, ToolError> {
    let mut text = Vec::new();
    let (mut seen, mut ended) = (0, true);
    let mut lines = Lines::new(source);
    while let Some(Line { number, offset, bytes }) = lines.next_line()? {
        if number > last {
            ended = false;
            break;
        }
        seen = number;
        if number < first {
            continue;
        }
        let room = BODY_BYTES - text.len();
        if bytes.len() > room {
            let part = whole_chars(bytes, room);
            text.extend_from_slice(part);
            let next = offset + part.len() as u64;
            let note = format!(
                "[stopped within line {number}, {BODY_BYTES} bytes are shown at once; read on with mode `slice` and offset {next}]"
            );
            return Ok(noted(&text, &note));
        }
        text.extend_from_slice(bytes);
    }
    if seen < first {
        return Err(ToolError::invalid_arguments(format!("it has {seen} lines; `from` {first} is past its end")));
    }
    let note = if ended {
        format!("[end, line {seen}]")
    } else {
        format!("[lines {first}–{seen}; read on with mode `slice` and from {}]", seen + 1)
    };
    Ok(noted(&text, &note))
}

/// What comes after a byte, for lines that are longer than an answer.
fn bytes(source: Source<'_>, offset: u64) -> Result<String, ToolError> {
    // A character may begin before it.
    let read = source(offset, MAX_BYTES as u32)?;
    let inside = read.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
    let start = read.get(if inside < 4 { inside } else { 0 }..).unwrap_or_default();
    if start.is_empty() {
        return Err(ToolError::invalid_arguments(format!("`offset` {offset} is at or past its end")));
    }
    if start.len() <= BODY_BYTES {
        return Ok(noted(start, "[end]"));
    }
    let part = whole_chars(start, BODY_BYTES);
    let next = offset + (read.len() - start.len() + part.len()) as u64;
    Ok(noted(part, &format!("[bytes {offset}–{}; read on with mode `slice` and offset {next}]", next - 1)))
}

fn tail(source: Source<'_>, wanted: u64) -> Result<String, ToolError> {
    let mut kept: std::collections::VecDeque<Vec<u8>> = std::collections::VecDeque::new();
    let (mut size, mut last, mut cut) = (0, 0, false);
    let mut lines = Lines::new(source);
    while let Some(Line { number, bytes, .. }) = lines.next_line()? {
        last = number;
        size += bytes.len();
        kept.push_back(bytes.to_vec());
        while kept.len() as u64 > wanted || (size > BODY_BYTES && kept.len() > 1) {
            cut |= kept.len() as u64 <= wanted;
            size -= kept.pop_front().map_or(0, |line| line.len());
        }
    }
    let first = last + 1 - kept.len() as u64;
    let text: Vec<u8> = kept.into_iter().flatten().collect();
    let note = if first > 1 {
        format!("; the lines before with mode `slice`, from and to {}", first - 1)
    } else {
        String::new()
    };
    let cut = if cut { format!("; {BODY_BYTES} bytes are shown at once") } else { String::new() };
    if text.len() > BODY_BYTES {
        let start = text.len() - BODY_BYTES;
        let start = start + text.iter().skip(start).take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        let part = text.get(start..).unwrap_or_default();
        return Ok(noted(
            part,
            &format!("[the end of line {last}{note}; read its start with mode `slice` and from {last}]"),
        ));
    }
    Ok(noted(&text, &format!("[lines {first}–{last}, the end{cut}{note}]")))
}

/// At most `room` bytes, without half a character at the end.
fn whole_chars(bytes: &[u8], room: usize) -> &[u8] {
    let mut end = room.min(bytes.len());
    for _ in 0..3 {
        match bytes.get(end) {
            Some(byte) if byte & 0xc0 == 0x80 && end > 0 => end -= 1,
            _ => break,
        }
    }
    bytes.get(..end).unwrap_or_default()
}

fn noted(text: &[u8], note: &str) -> String {
    let mut text = String::from_utf8_lossy(text).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(note);
    text
}

#[cfg(test)]
mod tests;
