//! `$…`, backquotes and `<(…)`.

use super::ansi_c;
use super::list::is_name;
use super::reader::{Read, Reader};
use super::tree::{Part, RawParameter};
use super::word::{Quoting, push};
use crate::shell::seen::{Fault, Feature, Parameter};

/// Operators of `${name…}`, longest first.
const OPERATORS: [&str; 34] = [
    ":-", ":=", ":+", ":?", "##", "%%", "//", "/#", "/%", "^^", ",,", "~~", "@Q", "@E", "@P", "@A", "@K", "@k", "@a",
    "@u", "@U", "@L", "-", "=", "+", "?", "#", "%", "/", "^", ",", "~", ":", "@",
];

impl Reader<'_, '_> {
    /// What begins with the `$` that is next.
    pub(super) fn dollar(&mut self, quoting: Quoting) -> Read<Part> {
        let start = self.at;
        let (second, at) = self.second();
        match second {
            Some(b'(') => {
                let (third, inner) = self.behind(at);
                self.go(at + 1);
                self.claim(start);
                if third == Some(b'(') {
                    self.go(inner + 1);
                    return self.deeper(|reader| reader.arithmetic(start));
                }
                self.substitution(b')').inspect(|_| self.note(Feature::Substitution, start))
            }
            Some(b'{') => {
                self.go(at + 1);
                self.claim(start);
                self.deeper(|reader| reader.braced(quoting, start))
            }
            Some(b'\'') if quoting == Quoting::Bare && self.bash => self.ansi_c(start, at),
            Some(b'"') if quoting == Quoting::Bare && self.bash => {
                self.tally.differs = true;
                self.go(at);
                self.double()
            }
            Some(b'[') if self.bash => self.fault(Fault::Ambiguous),
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.go(at);
                let name = self.name();
                Ok(self.parameter(name, start))
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.go(at + 1);
                let name = self.slice(at, at + 1).to_owned();
                Ok(self.parameter(name, start))
            }
            _ => {
                self.bump();
                self.claim(start);
                let text = "$".to_owned();
                Ok(if quoting == Quoting::Bare { Part::Literal(text) } else { Part::Quoted(text) })
            }
        }
    }

    /// A name, line continuations dropped.
    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.peek().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            name.push(char::from(byte));
            self.bump();
        }
        name
    }

    fn parameter(&mut self, name: String, start: usize) -> Part {
        self.note(Feature::Expansion, start);
        let span = self.span(start);
        self.tally.parameters.push(Parameter { name: name.clone(), indirect: false, operator: String::new(), span });
        let bare = is_name(&name);
        Part::Parameter(Box::new(RawParameter { name, direct: true, bare, operator: "", operand: Vec::new() }))
    }

    /// Commands up to a closing byte. A here-document that waits outside would be read at the first new line inside by some shells
    /// and behind the substitution by others.
    fn substitution(&mut self, close: u8) -> Read<Part> {
        let waiting = std::mem::take(&mut self.pending);
        let from = self.at;
        let list = self.list()?;
        if self.peek().is_none() {
            return self.unclosed();
        }
        let closed = if close == b')' { self.eat(b')') } else { self.eat_keyword("}") };
        if !closed {
            return self.unexpected();
        }
        if !self.pending.is_empty() || !waiting.is_empty() && self.slice(from, self.at).contains('\n') {
            return self.fault(Fault::HereDocument);
        }
        self.pending = waiting;
        Ok(Part::Substitution(list))
    }

    /// `<(…)` or `>(…)`
    pub(super) fn process(&mut self) -> Read<Part> {
        if !self.bash {
            return self.unexpected();
        }
        let start = self.at;
        let writes = self.peek() == Some(b'>');
        let (_, at) = self.second();
        self.go(at + 1);
        self.claim(start);
        match self.substitution(b')')? {
            Part::Substitution(list) => {
                self.note(Feature::Process, start);
                Ok(Part::Process { list, writes })
            }
            other => Ok(other),
        }
    }

    /// Backquotes. Their text ends at the first backquote without `\`; then one level of `\` is taken off, and it is read as a
    /// text of its own.
    pub(super) fn backquotes(&mut self, quoting: Quoting) -> Read<Part> {
        let start = self.at;
        let mut text = String::new();
        let mut at = start + 1;
        loop {
            let run = self.rest(at).find(['`', '\\']).map_or(self.text.len(), |length| at + length);
            text.push_str(self.slice(at, run));
            match (self.byte(run), self.byte(run + 1)) {
                (Some(b'`'), _) => {
                    self.go(run + 1);
                    break;
                }
                (Some(_), Some(next @ (b'`' | b'\\' | b'$'))) => text.push(char::from(next)),
                (Some(_), Some(b'"')) if quoting == Quoting::Double => text.push('"'),
                (Some(_), Some(next)) if next.is_ascii() => {
                    text.push('\\');
                    text.push(char::from(next));
                }
                (Some(_), Some(_)) => {
                    text.push('\\');
                    at = run + 1;
                    continue;
                }
                _ => return self.unclosed(),
            }
            at = run + 2;
        }
        self.claim(start);
        self.note(Feature::Substitution, start);
        let span = self.span(start);
        let list = self.deeper(|reader| reader.inner(&text, span).whole())?;
        Ok(Part::Substitution(list))
    }

    /// Arithmetic up to `))`; the opening brackets are taken. Quotes and escapes would leave open where it ends.
    pub(super) fn arithmetic(&mut self, start: usize) -> Read<Part> {
        let mut parts = Vec::new();
        let mut open = 0_usize;
        self.tally.computes = true;
        loop {
            let at = self.at;
            match self.peek() {
                None => return self.unclosed(),
                Some(b'\n') if !self.pending.is_empty() => return self.fault(Fault::HereDocument),
                Some(b'\'' | b'\\') => return self.fault(Fault::Ambiguous),
                Some(b'"') => {
                    parts.push(self.double()?);
                    if self.slice(at + 1, self.at).contains(['(', ')', '\\', '\'']) {
                        return self.fault(Fault::Ambiguous);
                    }
                }
                Some(b'$' | b'`') => self.quoted_part(Quoting::Body, &mut parts)?,
                Some(b')') if open == 0 => match self.second() {
                    (Some(b')'), end) => {
                        self.go(end + 1);
                        break;
                    }
                    // bash goes back and reads a subshell, others stop.
                    _ => return self.fault(Fault::Ambiguous),
                },
                Some(byte) => {
                    open = match byte {
                        b'(' => open + 1,
                        b')' => open - 1,
                        _ => open,
                    };
                    self.bump();
                    if matches!(byte, b'<' | b'>') {
                        self.claim(at);
                    }
                }
            }
        }
        self.note(Feature::Expansion, start);
        self.unsettle_numbers(start);
        Ok(Part::Arithmetic(parts))
    }

    /// Names that arithmetic sets cannot be followed.
    fn unsettle_numbers(&mut self, start: usize) {
        let text = self.slice(start, self.at);
        if !text.contains('=') && !text.contains("++") && !text.contains("--") {
            return;
        }
        for name in text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_') {
            if is_name(name) {
                self.tally.unsettle(name);
            }
        }
    }

    /// `$'…'`; `at` is where its quote stands.
    fn ansi_c(&mut self, start: usize, at: usize) -> Read<Part> {
        let mut end = at + 1;
        loop {
            match self.byte(end) {
                None => return self.unclosed(),
                Some(b'\'') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
            }
        }
        // Others keep the `$`, decode nothing, and end the text at the first quote.
        self.tally.differs = true;
        let Some(text) = ansi_c::decode(self.slice(at + 1, end)) else { return self.fault(Fault::Nul) };
        self.go(end + 1);
        self.claim(start);
        Ok(Part::Quoted(text))
    }

    /// `${…}`; the opening is taken.
    fn braced(&mut self, quoting: Quoting, start: usize) -> Read<Part> {
        if self.bash && matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.eat(b'|');
            return self.substitution(b'}').inspect(|_| self.note(Feature::Substitution, start));
        }
        let (mut indirect, length, name) = self.braced_name()?;
        let mut operand = Vec::new();
        let index = self.peek() == Some(b'[');
        if index {
            self.bump();
            let from = self.at;
            self.tally.computes = true;
            self.index(&mut operand)?;
            // `${!name[@]}` lists what the array is indexed by.
            indirect &= !matches!(self.slice(from, self.at), "@]" | "*]");
        }
        let operator = self.operator(length)?;
        if operator.is_empty() {
            if !self.eat(b'}') {
                return self.fault(Fault::Expansion);
            }
        } else {
            self.operand(quoting, &mut operand)?;
        }
        if operator.contains('=') {
            self.tally.unsettle(&name);
        }
        self.note(Feature::Expansion, start);
        let span = self.span(start);
        let parameter = Parameter { name: name.clone(), indirect, operator: operator.to_owned(), span };
        self.tally.parameters.push(parameter);
        let direct = !indirect && !length && !index;
        Ok(Part::Parameter(Box::new(RawParameter { name, direct, bare: false, operator, operand })))
    }

    /// Whether it is `${!…`, whether it is `${#…`, and the name.
    fn braced_name(&mut self) -> Read<(bool, bool, String)> {
        let mut prefix = None;
        if let Some(mark @ (b'!' | b'#')) = self.peek() {
            let named = match self.second().0 {
                Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'*') => true,
                Some(b'?' | b'-' | b'$' | b'!' | b'#') => {
                    let (_, at) = self.second();
                    self.behind(at).0 == Some(b'}')
                }
                _ => false,
            };
            if named {
                prefix = Some(mark);
                self.bump();
            }
        }
        let name = match self.peek() {
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => self.name(),
            Some(byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.bump();
                char::from(byte).to_string()
            }
            _ => return self.fault(Fault::Expansion),
        };
        let number = name.bytes().all(|byte| byte.is_ascii_digit());
        if name.len() > 1 && !number && !is_name(&name) {
            return self.fault(Fault::Expansion);
        }
        Ok((prefix == Some(b'!'), prefix == Some(b'#'), name))
    }

    /// The operator that is next; empty before `}`.
    fn operator(&mut self, length: bool) -> Read<&'static str> {
        let found = match (self.peek(), self.second()) {
            (Some(b'}'), _) => return Ok(""),
            (Some(first), (second, end)) if !length => {
                OPERATORS.iter().find_map(|operator| match operator.as_bytes() {
                    [one] => (*one == first).then_some((*operator, self.at + 1)),
                    [one, two] => (*one == first && Some(*two) == second).then_some((*operator, end + 1)),
                    _ => None,
                })
            }
            _ => None,
        };
        let Some((operator, end)) = found else { return self.fault(Fault::Expansion) };
        self.go(end);
        Ok(operator)
    }

    /// The index of an array up to `]`.
    fn index(&mut self, parts: &mut Vec<Part>) -> Read<()> {
        loop {
            match self.peek() {
                None => return self.unclosed(),
                Some(b']') => {
                    self.bump();
                    return Ok(());
                }
                Some(b'[' | b'}' | b'\'' | b'"' | b'\\') => return self.fault(Fault::Ambiguous),
                Some(b'$' | b'`' | b'<' | b'>') => self.quoted_part(Quoting::Body, parts)?,
                Some(b'\n') if !self.pending.is_empty() => return self.fault(Fault::HereDocument),
                Some(_) => self.bump(),
            }
        }
    }

    /// What stands behind an operator, up to the `}`.
    fn operand(&mut self, quoting: Quoting, parts: &mut Vec<Part>) -> Read<()> {
        let bare = quoting == Quoting::Bare;
        loop {
            let at = self.at;
            match self.peek() {
                None => return self.unclosed(),
                Some(b'}') => {
                    self.bump();
                    return Ok(());
                }
                Some(b'\n') if !self.pending.is_empty() => return self.fault(Fault::HereDocument),
                // Between double quotes it is text for some operators and a quote for others.
                Some(b'\'') if !bare => return self.fault(Fault::Ambiguous),
                Some(b'\'') => parts.push(self.single()?),
                Some(b'"') => {
                    let part = self.double()?;
                    if !bare && self.slice(at + 1, self.at - 1).contains(['}', '\'', '"', '\\']) {
                        return self.fault(Fault::Ambiguous);
                    }
                    parts.push(part);
                }
                Some(b'`') => parts.push(self.backquotes(quoting)?),
                Some(b'$') => {
                    let part = self.dollar(quoting)?;
                    push(parts, part);
                }
                Some(b'<' | b'>') if bare && self.bash && self.second().0 == Some(b'(') => parts.push(self.process()?),
                Some(b'<' | b'>') => self.quoted_part(Quoting::Body, parts)?,
                Some(b'\\') => parts.push(self.operand_escape()),
                Some(_) => {
                    let plain =
                        |byte: u8| !matches!(byte, b'}' | b'\'' | b'"' | b'`' | b'$' | b'<' | b'>' | b'\\' | b'\n');
                    let length = self.rest(at).bytes().take_while(|byte| plain(*byte)).count().max(1);
                    self.go(at + length);
                    self.plain_text(at, self.at)?;
                    push(parts, Part::Literal(self.slice(at, self.at).to_owned()));
                }
            }
        }
    }

    /// `\` and what is behind it. Whether the `\` itself stays depends on the quotes; its value is not followed then.
    fn operand_escape(&mut self) -> Part {
        let start = self.at;
        let next = self.rest(start + 1).chars().next().map_or(0, char::len_utf8);
        self.go(start + 1 + next);
        self.claim(start);
        Part::Quoted(self.slice(start + 1, self.at).to_owned())
    }
}
