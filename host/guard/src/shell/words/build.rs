//! Puts words together from what their parts become.

use crate::shell::seen::{Piece, Span, Value, Why, Word};

/// Collects the words that one word as written becomes.
pub(super) struct Build {
    span: Span,
    pieces: Vec<Piece>,
    /// Whether a word is under way even if it has no text yet (`""`).
    begun: bool,
    quoted: bool,
    brackets: bool,
    pub(super) words: Vec<Word>,
}

impl Build {
    pub(super) fn new(span: Span) -> Self {
        Self { span, pieces: Vec::new(), begun: false, quoted: false, brackets: false, words: Vec::new() }
    }

    /// Adds text that stands as it is.
    pub(super) fn text(&mut self, text: &str) {
        self.begun |= !text.is_empty();
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Notes that a quote was opened: the word exists even if nothing is in it.
    pub(super) fn quote(&mut self) {
        self.begun = true;
        self.quoted = true;
    }

    /// Adds a pattern.
    pub(super) fn glob(&mut self, pattern: &str) {
        self.begun = true;
        match self.pieces.last_mut() {
            Some(Piece::Glob(before)) if before != "[" => before.push_str(pattern),
            _ => self.pieces.push(Piece::Glob(pattern.to_owned())),
        }
    }

    /// Adds a `[`, which is a pattern only if a `]` follows.
    pub(super) fn bracket(&mut self) {
        self.begun = true;
        self.brackets = true;
        self.pieces.push(Piece::Glob("[".to_owned()));
    }

    /// Adds something that is not known.
    pub(super) fn unknown(&mut self, why: Why, splits: bool) {
        self.begun = true;
        self.pieces.push(Piece::Unknown { why, splits });
    }

    /// Adds a value outside quotes: it is split at blanks, and its patterns count.
    pub(super) fn fields(&mut self, value: &str) {
        let mut rest = value;
        while let Some(at) = rest.find([' ', '\t', '\n', '*', '?', '[']) {
            let (text, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
            self.text(text);
            match special.as_bytes().first() {
                Some(b'[') => self.bracket(),
                Some(b'*') => self.glob("*"),
                Some(b'?') => self.glob("?"),
                _ => self.end(),
            }
            rest = special.get(1..).unwrap_or_default();
        }
        self.text(rest);
    }

    /// Ends a word, if one is under way.
    pub(super) fn end(&mut self) {
        if !std::mem::take(&mut self.begun) {
            return;
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        if std::mem::take(&mut self.brackets) {
            pieces = close_brackets(pieces);
        }
        let value = match pieces.as_mut_slice() {
            [] => Value::Known(String::new()),
            [Piece::Text(text)] => Value::Known(std::mem::take(text)),
            _ => Value::Partial(pieces),
        };
        self.words.push(Word { value, quoted: std::mem::take(&mut self.quoted), span: self.span });
    }
}

/// Makes patterns of brackets that close and text of those that do not.
fn close_brackets(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut pieces = pieces.into_iter().peekable();
    while let Some(piece) = pieces.next() {
        if piece != Piece::Glob("[".to_owned()) {
            append(&mut out, piece);
            continue;
        }
        let mut pattern = "[".to_owned();
        let mut open = true;
        while open {
            match pieces.peek_mut() {
                Some(Piece::Text(text)) => {
                    let from = text.char_indices().nth(1).map_or(text.len(), |(at, _)| at);
                    let from = if pattern.len() > 1 { 0 } else { from };
                    match text.get(from..).and_then(|rest| rest.rfind(']')) {
                        Some(at) => {
                            let rest = text.split_off(from + at + 1);
                            pattern.push_str(text);
                            *text = rest;
                            open = false;
                        }
                        None => {
                            pattern.push_str(text);
                            pieces.next();
                        }
                    }
                }
                Some(Piece::Glob(text)) => {
                    pattern.push_str(text);
                    pieces.next();
                }
                _ => break,
            }
        }
        append(
            &mut out,
            if open && !pattern.contains(['*', '?']) { Piece::Text(pattern) } else { Piece::Glob(pattern) },
        );
    }
    out
}

fn append(out: &mut Vec<Piece>, piece: Piece) {
    match (out.last_mut(), piece) {
        (_, Piece::Text(text)) if text.is_empty() => {}
        (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
        (_, piece) => out.push(piece),
    }
}
