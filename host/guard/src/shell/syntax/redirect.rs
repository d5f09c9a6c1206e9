//! Redirections.

use super::heredoc::Pending;
use super::list::{ends_word, is_name};
use super::reader::{Read, Reader};
use super::tree::{Part, RawRedirect, RawWord};
use crate::shell::seen::{Fault, Feature, RedirectKind};

impl Reader<'_, '_> {
    /// Reads a redirection if one is next.
    pub(super) fn redirect(&mut self) -> Read<Option<RawRedirect>> {
        let Some(first) = self.peek() else { return Ok(None) };
        let start = self.at;
        let (fd, mut named) = match first {
            b'<' | b'>' => (None, false),
            b'0'..=b'9' | b'{' => match self.descriptor() {
                Some(found) => found,
                None => return Ok(None),
            },
            b'&' if self.bash && self.second().0 == Some(b'>') => {
                // Others end the command at the `&`.
                self.tally.differs = true;
                self.bump();
                (None, false)
            }
            _ => return Ok(None),
        };
        let both = first == b'&';
        if !both && fd.is_none() && !named && self.second().0 == Some(b'(') {
            // Part of a word, and in other shells an error.
            return Ok(None);
        }
        let (kind, implied) = self.redirect_kind(both)?;
        named |= fd.is_some();
        self.blanks();
        let target = match kind {
            RedirectKind::HereDocument => self.here_document(start)?,
            _ => self.word()?,
        };
        let kind = match kind {
            RedirectKind::Duplicate if !duplicates(&target) && implied == 1 => RedirectKind::WriteBoth,
            kind => kind,
        };
        self.note(Feature::Redirect, start);
        let fd = fd.or((!named).then_some(implied));
        Ok(Some(RawRedirect { fd, kind, target, span: self.span(start) }))
    }

    /// Takes `2` or `{name}` if it stands directly before a `<` or `>`.
    fn descriptor(&mut self) -> Option<(Option<u32>, bool)> {
        let mut at = self.at;
        let mut text = String::new();
        loop {
            let byte = self.byte(at)?;
            if matches!(byte, b'<' | b'>') {
                break;
            }
            let fits = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'{' | b'}');
            if !fits || ends_word(byte) || text.len() > 64 {
                return None;
            }
            text.push(char::from(byte));
            at = self.behind(at).1;
        }
        let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).filter(|name| is_name(name));
        match (name, text.bytes().all(|byte| byte.is_ascii_digit())) {
            (Some(name), _) if self.bash => {
                // Others take it for a word.
                self.tally.differs = true;
                self.tally.unsettle(name);
                self.go(at);
                Some((None, true))
            }
            (None, true) => {
                self.go(at);
                Some((Some(text.parse().unwrap_or(u32::MAX)), true))
            }
            _ => None,
        }
    }

    /// Takes the operator; the kind, and the descriptor that it implies.
    fn redirect_kind(&mut self, both: bool) -> Read<(RedirectKind, u32)> {
        let reads = self.peek() == Some(b'<');
        self.bump();
        let implied = u32::from(!reads);
        let next = self.peek();
        if both {
            let appends = next == Some(b'>');
            self.at += usize::from(appends);
            return Ok((if appends { RedirectKind::AppendBoth } else { RedirectKind::WriteBoth }, implied));
        }
        let kind = match (reads, next) {
            (true, Some(b'<')) => {
                self.bump();
                if self.peek() != Some(b'<') {
                    return Ok((RedirectKind::HereDocument, implied));
                }
                if !self.bash {
                    return self.unexpected();
                }
                RedirectKind::HereString
            }
            (true, Some(b'>')) => RedirectKind::ReadWrite,
            (_, Some(b'&')) => RedirectKind::Duplicate,
            (false, Some(b'>')) => RedirectKind::Append,
            (false, Some(b'|')) => RedirectKind::Write,
            (true, _) => return Ok((RedirectKind::Read, implied)),
            (false, _) => return Ok((RedirectKind::Write, implied)),
        };
        self.bump();
        Ok((kind, implied))
    }

    /// Notes a here-document whose body follows later. Its body takes the place of this word then.
    fn here_document(&mut self, start: usize) -> Read<RawWord> {
        let strips = self.byte(self.at) == Some(b'-') && self.byte(self.at.wrapping_sub(1)) == Some(b'<');
        if strips {
            self.bump();
            self.blanks();
        }
        let word = self.word()?;
        let mut end = String::new();
        let mut quoted = false;
        for part in &word.parts {
            match part {
                Part::Literal(text) => end.push_str(text),
                Part::Quoted(text) => {
                    quoted = true;
                    end.push_str(text);
                }
                Part::Double(parts) => {
                    quoted = true;
                    match parts.as_slice() {
                        [] => {}
                        [Part::Quoted(text)] => end.push_str(text),
                        _ => return self.fault(Fault::HereDocument),
                    }
                }
                _ => return self.fault(Fault::HereDocument),
            }
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.!%+@#".contains(&byte);
        if end.is_empty() || !end.bytes().all(plain) || self.slice(start, self.at).contains('$') {
            return self.fault(Fault::HereDocument);
        }
        let body = self.tally.bodies.len();
        self.tally.bodies.push(RawWord::default());
        self.pending.push(Pending { end, expands: !quoted, strips, body });
        Ok(RawWord { parts: vec![Part::Body(body)], span: word.span })
    }
}

/// Whether the target of `>&` is a descriptor and no file.
fn duplicates(target: &RawWord) -> bool {
    match target.plain() {
        Some(text) => text == "-" || text.strip_suffix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit()),
        None => false,
    }
}
