//! From what a program writes for a terminal to what that terminal would show in the end: escape sequences gone, a line that was
//! written over in its last state. One pass, whatever the bytes are.

/// Past so many bytes an escape sequence is taken for text: what never ends must not swallow the output.
const SEQUENCE_MAX: usize = 8 * 1024;

/// Text, and what was done to it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Clean {
    pub text: String,
    /// Whether states of lines that were written over are gone.
    pub overwritten: bool,
    /// How many characters were none: bytes that are not UTF-8, zero bytes, control characters without a meaning here.
    pub odd: usize,
}

/// Makes text of `bytes`.
pub fn clean(bytes: &[u8]) -> Clean {
    let source = String::from_utf8_lossy(bytes);
    let mut screen = Screen { clean: Clean::default(), line: String::new(), returned: false };
    let mut rest = source.as_ref();
    while let Some(c) = rest.chars().next() {
        rest = after(rest, c.len_utf8());
        let escape = if c == '\u{1b}' { Sequence::after_escape(rest) } else { Sequence::from_c1(c) };
        match escape {
            Some((start, introducer)) => {
                let (length, first_column) = start.length(after(rest, introducer));
                rest = after(rest, introducer + length);
                screen.returned |= first_column;
            }
            None => screen.put(c),
        }
    }
    screen.finish()
}

/// The lines that are done, and the one being written.
struct Screen {
    clean: Clean,
    line: String,
    /// The cursor is at the start of the line: the next character writes over it, unless a line end comes first.
    returned: bool,
}

impl Screen {
    fn put(&mut self, c: char) {
        match c {
            '\n' => self.end_line(true),
            '\r' => self.returned = true,
            // Man pages write bold and underlined letters over each other.
            '\u{8}' => {
                if !self.returned {
                    self.line.pop();
                }
            }
            // Bell, shift in and shift out: heard, not seen.
            '\u{7}' | '\u{e}' | '\u{f}' | '\u{1b}' => {}
            '\t' => self.write(c),
            '\0' => {
                self.clean.odd += 1;
                if self.returned || !self.line.ends_with('␀') {
                    self.write('␀');
                }
            }
            char::REPLACEMENT_CHARACTER => {
                self.clean.odd += 1;
                self.write(c);
            }
            _ if c.is_control() => self.clean.odd += 1,
            _ => self.write(c),
        }
    }

    fn write(&mut self, c: char) {
        if std::mem::take(&mut self.returned) && !self.line.is_empty() {
            self.clean.overwritten |= !self.line.trim().is_empty();
            self.line.clear();
        }
        self.line.push(c);
    }

    fn end_line(&mut self, with_end: bool) {
        self.clean.text.push_str(&self.line);
        if with_end {
            self.clean.text.push('\n');
        }
        self.line.clear();
        self.returned = false;
    }

    fn finish(mut self) -> Clean {
        self.end_line(false);
        self.clean
    }
}

/// How an escape sequence goes on after its introducer.
#[derive(Clone, Copy, PartialEq)]
enum Sequence {
    /// Parameters, then a letter: colours, cursor.
    Control,
    /// A text up to a terminator: titles, links, images. `bell`: the bell ends it too.
    Text { bell: bool },
    /// Perhaps more intermediates, then one character: character sets.
    Short,
}

impl Sequence {
    /// What comes after the escape character, and how many bytes of `rest` introduce it.
    fn after_escape(rest: &str) -> Option<(Self, usize)> {
        match rest.bytes().next()? {
            b'[' => Some((Self::Control, 1)),
            b']' => Some((Self::Text { bell: true }, 1)),
            b'P' | b'X' | b'^' | b'_' => Some((Self::Text { bell: false }, 1)),
            b' '..=b'~' => Some((Self::Short, 0)),
            _ => None,
        }
    }

    /// The same introducers as single characters.
    fn from_c1(c: char) -> Option<(Self, usize)> {
        match c {
            '\u{9b}' => Some((Self::Control, 0)),
            '\u{9d}' => Some((Self::Text { bell: true }, 0)),
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => Some((Self::Text { bell: false }, 0)),
            _ => None,
        }
    }

    /// How many bytes of `rest` belong to it, and whether it puts the cursor at the start of the line. None where it does not end
    /// as it should: then what follows is text. A scan stops at the first control character, so that no byte is looked at often.
    fn length(self, rest: &str) -> (usize, bool) {
        let end = rest.char_indices().take_while(|(at, _)| *at < SEQUENCE_MAX);
        match self {
            Self::Control => {
                let mut end = end.skip_while(|(_, c)| (' '..='?').contains(c));
                match end.next() {
                    Some((at, last @ '@'..='~')) => {
                        let parameters = rest.get(..at).unwrap_or_default();
                        (at + 1, last == 'G' && matches!(parameters, "" | "0" | "1"))
                    }
                    _ => (0, false),
                }
            }
            Self::Short => {
                let mut end = end.skip_while(|(_, c)| (' '..='/').contains(c));
                match end.next() {
                    Some((at, '0'..='~')) => (at + 1, false),
                    _ => (0, false),
                }
            }
            Self::Text { bell } => {
                let mut end = end.skip_while(|(_, c)| !c.is_control());
                match end.next() {
                    Some((at, '\u{7}')) if bell => (at + 1, false),
                    Some((at, '\u{9c}')) => (at + 2, false),
                    Some((at, '\u{1b}')) if after(rest, at + 1).starts_with('\\') => (at + 2, false),
                    _ => (0, false),
                }
            }
        }
    }
}

fn after(text: &str, bytes: usize) -> &str {
    text.get(bytes..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
