//! Words: quotes, escapes, patterns, braces. Expansions are in `expansion`.

use super::list::{ends_word, is_name};
use super::reader::{Read, Reader};
use super::tree::{Part, RawWord};
use crate::shell::seen::{Fault, Feature};

/// Where text stands, which decides what quotes and `<(` mean in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Outside quotes.
    Bare,
    /// Between double quotes.
    Double,
    /// In the body of a here-document, where a double quote is text.
    Body,
}

/// Bytes that end a run of plain text in a word.
fn special(byte: u8) -> bool {
    ends_word(byte)
        || matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$' | b'*' | b'?' | b'[' | b'{' | b',' | b'}' | b'~')
}

/// Bytes that end a run of plain text between double quotes.
fn special_in_double(byte: u8) -> bool {
    matches!(byte, b'\\' | b'"' | b'`' | b'$' | b'<' | b'>')
}

impl Reader<'_, '_> {
    /// Reads a word; there must be one.
    pub(super) fn word(&mut self) -> Read<RawWord> {
        let counted = self.tally.word();
        self.counted(counted)?;
        self.peek();
        let start = self.at;
        let mut parts = Vec::new();
        while self.part(&mut parts, start)? {}
        if parts.is_empty() {
            return self.unexpected();
        }
        if matches!(parts.as_slice(), [Part::Literal(name), Part::Bracket, ..] if is_name(name)) {
            self.check_index(&parts)?;
        }
        if parts.len() > 1 && lone_dollar(&parts) {
            return self.fault(Fault::Ambiguous);
        }
        Ok(RawWord { parts, span: self.span(start) })
    }

    /// Reads one part of a word that began at `start`; false at its end.
    fn part(&mut self, parts: &mut Vec<Part>, start: usize) -> Read<bool> {
        let Some(byte) = self.peek() else { return Ok(false) };
        let at = self.at;
        match byte {
            b'<' | b'>' if self.second().0 == Some(b'(') => {
                let process = self.process()?;
                parts.push(process);
            }
            b'(' if sets_array(parts) => {
                let array = self.array()?;
                parts.push(array);
            }
            _ if ends_word(byte) => return Ok(false),
            b'\\' => parts.push(self.escape()?),
            b'\'' => parts.push(self.single()?),
            b'"' => parts.push(self.double()?),
            b'`' => parts.push(self.backquotes(Quoting::Bare)?),
            b'$' => {
                let part = self.dollar(Quoting::Bare)?;
                push(parts, part);
            }
            b'*' | b'?' => {
                self.bump();
                self.note(Feature::Glob, at);
                parts.push(Part::Glob(char::from(byte)));
            }
            b'[' => {
                self.bump();
                parts.push(Part::Bracket);
            }
            b'{' | b',' | b'}' => {
                self.bump();
                parts.push(Part::Brace(char::from(byte)));
            }
            b'~' => {
                self.bump();
                let tilde = self.tilde(parts, at == start);
                push(parts, tilde);
            }
            _ => {
                let text = self.run(special)?;
                push(parts, Part::Literal(text));
            }
        }
        Ok(true)
    }

    /// Takes the run of bytes up to a special one.
    fn run(&mut self, special: fn(u8) -> bool) -> Read<String> {
        let start = self.at;
        let length = self.rest(start).bytes().position(special).unwrap_or(self.text.len() - start);
        self.go(start + length);
        self.plain_text(start, self.at)?;
        Ok(self.slice(start, self.at).to_owned())
    }

    /// `\` and the character behind it; at the very end it stands for itself.
    fn escape(&mut self) -> Read<Part> {
        let start = self.at;
        self.bump();
        let Some(next) = self.rest(self.at).chars().next() else { return Ok(Part::Literal("\\".to_owned())) };
        self.go(self.at + next.len_utf8());
        self.plain_text(start, self.at)?;
        self.claim(start);
        Ok(Part::Quoted(next.to_string()))
    }

    /// `'…'`, in which everything is text.
    pub(super) fn single(&mut self) -> Read<Part> {
        let start = self.at;
        let Some(length) = self.rest(start + 1).find('\'') else { return self.unclosed() };
        self.go(start + length + 2);
        self.claim(start);
        Ok(Part::Quoted(self.slice(start + 1, start + 1 + length).to_owned()))
    }

    /// `"…"`
    pub(super) fn double(&mut self) -> Read<Part> {
        self.bump();
        let mut parts = Vec::new();
        while self.peek() != Some(b'"') {
            self.quoted_part(Quoting::Double, &mut parts)?;
        }
        self.bump();
        Ok(Part::Double(parts))
    }

    /// One part of text in which only `$`, a backquote and `\` mean something.
    pub(super) fn quoted_part(&mut self, quoting: Quoting, parts: &mut Vec<Part>) -> Read<()> {
        let Some(byte) = self.peek() else { return self.unclosed() };
        let start = self.at;
        let part = match byte {
            b'`' => self.backquotes(quoting)?,
            b'$' => self.dollar(quoting)?,
            b'\\' => {
                self.bump();
                let escapes = match self.byte(self.at) {
                    Some(b'$' | b'`' | b'\\') => true,
                    Some(b'"') => quoting == Quoting::Double,
                    _ => false,
                };
                if !escapes {
                    push(parts, Part::Quoted("\\".to_owned()));
                    return Ok(());
                }
                self.bump();
                self.claim(start);
                Part::Quoted(self.slice(start + 1, self.at).to_owned())
            }
            b'<' | b'>' | b'"' => {
                self.bump();
                self.claim(start);
                Part::Quoted(self.slice(start, self.at).to_owned())
            }
            _ => {
                let length = self.rest(start).bytes().position(special_in_double);
                self.go(length.map_or(self.text.len(), |length| start + length));
                Part::Quoted(self.slice(start, self.at).to_owned())
            }
        };
        push(parts, part);
        Ok(())
    }

    /// What a `~` is, which has been taken.
    fn tilde(&mut self, parts: &[Part], first: bool) -> Part {
        let opens = first || matches!(parts.last(), Some(Part::Literal(text)) if text.ends_with(['=', ':']));
        if !opens {
            return Part::Literal("~".to_owned());
        }
        let start = self.at - 1;
        let in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+');
        let length = self.rest(self.at).bytes().take_while(|byte| in_name(*byte)).count();
        self.go(self.at + length);
        self.note(Feature::Tilde, start);
        Part::Tilde(self.slice(start, self.at).to_owned())
    }

    /// `(…)` behind `NAME=`.
    fn array(&mut self) -> Read<Part> {
        if !self.bash {
            return self.unexpected();
        }
        self.deeper(|reader| {
            reader.bump();
            let mut words = Vec::new();
            loop {
                reader.lines()?;
                match reader.peek() {
                    None => return reader.unclosed(),
                    Some(b')') => break,
                    Some(_) => {
                        let word = reader.word()?;
                        reader.check_index(&word.parts)?;
                        words.push(word);
                    }
                }
            }
            reader.bump();
            Ok(Part::Array(words))
        })
    }

    /// An index may hold blanks and `#` in bash, where other shells see the end of a word or a comment: it has to close within
    /// its word.
    fn check_index(&self, parts: &[Part]) -> Read<()> {
        let mut open = 0_usize;
        for part in parts {
            match part {
                Part::Bracket => open += 1,
                Part::Literal(text) => open = open.saturating_sub(text.matches(']').count()),
                _ => {}
            }
        }
        if open == 0 { Ok(()) } else { self.fault(Fault::Ambiguous) }
    }
}

/// Whether a `$` that expands nothing stands beside a value: bash does not split such a word, others do.
fn lone_dollar(parts: &[Part]) -> bool {
    let value = |part: &Part| matches!(part, Part::Parameter(_) | Part::Substitution(_) | Part::Arithmetic(_));
    parts.iter().any(|part| matches!(part, Part::Literal(text) if text.contains('$'))) && parts.iter().any(value)
}

/// Adds a part, joining runs of the same kind.
pub(super) fn push(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (Some(Part::Literal(text)), Part::Literal(more)) | (Some(Part::Quoted(text)), Part::Quoted(more)) => {
            text.push_str(&more);
        }
        (_, part) => parts.push(part),
    }
}

/// Whether a `(` behind these parts begins an array.
fn sets_array(parts: &[Part]) -> bool {
    match parts {
        [Part::Literal(text)] => {
            text.strip_suffix('=').map(|left| left.strip_suffix('+').unwrap_or(left)).is_some_and(is_name)
        }
        _ => false,
    }
}
