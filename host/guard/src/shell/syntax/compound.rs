//! Compound commands.

use super::list::is_name;
use super::reader::{Read, Reader};
use super::tree::{Body, Compound, Item, Joint, List, Part, RawWord};
use crate::shell::seen::{Fault, Feature, Parameter};

impl Reader<'_, '_> {
    /// Reads a compound command if one is next.
    pub(super) fn compound(&mut self) -> Read<Option<Body>> {
        let start = self.at;
        if self.peek() == Some(b'(') {
            return self.bracketed(start).map(Some);
        }
        let Some((keyword, end)) = self.keyword() else { return Ok(None) };
        if !self.bash && matches!(keyword, "[[" | "function" | "select" | "coproc" | "time") || keyword == "time" {
            return Ok(None);
        }
        self.go(end);
        match keyword {
            "{" => {
                let list = self.list()?;
                self.close("}")?;
                Ok(Some(body(Compound::Group, Vec::new(), vec![list])))
            }
            "if" => self.conditional().map(Some),
            "while" | "until" => self.repeat().map(Some),
            "for" | "select" => self.each(start).map(Some),
            "case" => self.case().map(Some),
            "[[" => self.test().map(Some),
            "function" => self.function_keyword(start).map(Some),
            "coproc" => self.coprocess(start).map(Some),
            _ => self.unexpected(),
        }
    }

    /// `( … )`, or `((…))` where the shell knows it.
    fn bracketed(&mut self, start: usize) -> Read<Body> {
        let (second, at) = self.second();
        if self.bash && second == Some(b'(') {
            // Others read subshells.
            self.tally.differs = true;
            self.go(at + 1);
            let part = self.deeper(|reader| reader.arithmetic(start))?;
            return Ok(body(Compound::Arithmetic, vec![self.made_of(part, start)], Vec::new()));
        }
        self.bump();
        let list = self.list()?;
        if !self.eat(b')') {
            return self.missing();
        }
        Ok(body(Compound::Subshell, Vec::new(), vec![list]))
    }

    fn made_of(&self, part: Part, start: usize) -> RawWord {
        RawWord { parts: vec![part], span: self.span(start) }
    }

    /// Takes the keyword that has to be next.
    fn close(&mut self, keyword: &str) -> Read<()> {
        self.lines()?;
        if self.eat_keyword(keyword) { Ok(()) } else { self.missing() }
    }

    fn missing<T>(&mut self) -> Read<T> {
        if self.peek().is_none() { self.unclosed() } else { self.unexpected() }
    }

    fn conditional(&mut self) -> Read<Body> {
        let mut lists = vec![self.list()?];
        self.close("then")?;
        loop {
            lists.push(self.list()?);
            if self.eat_keyword("elif") {
                lists.push(self.list()?);
                self.close("then")?;
            } else if self.eat_keyword("else") {
                lists.push(self.list()?);
                break;
            } else {
                break;
            }
        }
        self.close("fi")?;
        Ok(body(Compound::If, Vec::new(), lists))
    }

    fn repeat(&mut self) -> Read<Body> {
        self.tally.repeats = true;
        let condition = self.list()?;
        self.close("do")?;
        let list = self.list()?;
        self.close("done")?;
        Ok(body(Compound::Loop, Vec::new(), vec![condition, list]))
    }

    /// `for NAME in …`, `for ((…))`, `select NAME in …`; the keyword is taken.
    fn each(&mut self, start: usize) -> Read<Body> {
        self.tally.repeats = true;
        self.blanks();
        let (second, at) = self.second();
        let mut words = Vec::new();
        let kind = if self.peek() == Some(b'(') {
            if !self.bash || second != Some(b'(') {
                return self.unexpected();
            }
            self.go(at + 1);
            let part = self.deeper(|reader| reader.arithmetic(start))?;
            words.push(self.made_of(part, start));
            Compound::ForArithmetic
        } else {
            let name = self.word()?;
            match name.plain() {
                Some(text) if is_name(text) => {
                    self.tally.unsettle(text);
                    self.tally.parameters.push(Parameter {
                        name: text.to_owned(),
                        indirect: false,
                        operator: "in".to_owned(),
                        span: name.span,
                    });
                }
                _ => return self.unexpected(),
            }
            self.lines()?;
            if self.rest(self.at).starts_with("in") && self.eat_in() {
                self.values(&mut words)?;
            }
            Compound::For
        };
        self.blanks();
        self.eat(b';');
        self.lines()?;
        let list = if self.bash && self.eat_keyword("{") {
            let list = self.list()?;
            self.close("}")?;
            list
        } else {
            self.close("do")?;
            let list = self.list()?;
            self.close("done")?;
            list
        };
        Ok(body(kind, words, vec![list]))
    }

    fn eat_in(&mut self) -> bool {
        let found = self.byte(self.at + 2).is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';'));
        if found {
            self.go(self.at + 2);
        }
        found
    }

    /// The words behind `in`, to the end of the line.
    fn values(&mut self, words: &mut Vec<RawWord>) -> Read<()> {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'#') => self.comment()?,
                None | Some(b';' | b'\n') => return Ok(()),
                Some(_) => words.push(self.word()?),
            }
        }
    }

    fn case(&mut self) -> Read<Body> {
        self.blanks();
        let mut words = vec![self.word()?];
        let mut lists = Vec::new();
        self.lines()?;
        if !self.rest(self.at).starts_with("in") || !self.eat_in() {
            return self.missing();
        }
        loop {
            self.lines()?;
            if self.eat_keyword("esac") {
                return Ok(body(Compound::Case, words, lists));
            }
            self.patterns(&mut words)?;
            lists.push(self.list()?);
            let second = self.second();
            if self.peek() != Some(b';') {
                self.close("esac")?;
                return Ok(body(Compound::Case, words, lists));
            }
            let third = self.behind(second.1);
            let end = match (second.0, third.0) {
                (Some(b';'), Some(b'&')) if self.bash => third.1,
                (Some(b';'), Some(b'&')) | (Some(b'&'), _) if !self.bash => return self.unexpected(),
                _ => second.1,
            };
            self.go(end + 1);
        }
    }

    /// The patterns of one branch and their `)`.
    fn patterns(&mut self, words: &mut Vec<RawWord>) -> Read<()> {
        self.eat(b'(');
        loop {
            self.blanks();
            words.push(self.word()?);
            self.blanks();
            if self.eat(b')') {
                return Ok(());
            }
            if !self.eat(b'|') {
                return self.missing();
            }
        }
    }

    /// `[[ … ]]`: operators are passed over, words are kept.
    fn test(&mut self) -> Read<Body> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            let at = self.at;
            match self.peek() {
                None => return self.unclosed(),
                // A comment for some, a pattern for others.
                Some(b'#') => return self.fault(Fault::Ambiguous),
                Some(b';') => return self.unexpected(),
                Some(b'\n') => {
                    self.tally.differs = true;
                    self.newline()?;
                }
                Some(b'<' | b'>') if self.second().0 == Some(b'(') => words.push(self.word()?),
                Some(b'(' | b')' | b'|' | b'&' | b'<' | b'>') => {
                    self.tally.differs = true;
                    self.go(at + 1);
                }
                Some(_) => {
                    let word = self.word()?;
                    if word.plain() == Some("]]") {
                        return Ok(body(Compound::Test, words, Vec::new()));
                    }
                    if word.parts.iter().any(computed) {
                        return self.fault(Fault::Expansion);
                    }
                    // These compute numbers from what stands beside them.
                    self.tally.computes |=
                        matches!(word.plain(), Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v"));
                    words.push(word);
                }
            }
        }
    }

    /// `function NAME [()] body`; the keyword is taken.
    fn function_keyword(&mut self, start: usize) -> Read<Body> {
        self.blanks();
        let word = self.word()?;
        let Some(name) = word.plain().map(str::to_owned) else { return self.unexpected() };
        self.blanks();
        if self.eat(b'(') {
            self.blanks();
            if !self.eat(b')') {
                return self.unexpected();
            }
        }
        self.function_body(name, start).map(|command| command.body)
    }

    /// `coproc [NAME] command`; the keyword is taken.
    fn coprocess(&mut self, start: usize) -> Read<Body> {
        self.note(Feature::Background, start);
        self.blanks();
        self.coprocess_name();
        let command = self.deeper(Self::command)?;
        let list = List { items: vec![Item { commands: vec![command], joint: Joint::Background }] };
        Ok(body(Compound::Coprocess, Vec::new(), vec![list]))
    }

    /// Skips a name that stands before a compound command.
    fn coprocess_name(&mut self) {
        let start = self.at;
        let length = self.rest(start).bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        self.go(start + length);
        self.blanks();
        if length > 0 && (self.peek() == Some(b'(') || self.keyword().is_some()) {
            let name = self.slice(start, start + length);
            self.tally.unsettle(name);
        } else {
            self.at = start;
        }
    }
}

fn body(kind: Compound, words: Vec<RawWord>, lists: Vec<List>) -> Body {
    Body::Compound { kind, words, lists }
}

/// Whether a test would run a substitution that stands in text: numbers are computed from it.
fn computed(part: &Part) -> bool {
    match part {
        Part::Literal(text) | Part::Quoted(text) => text.contains("$(") || text.contains('`'),
        Part::Double(parts) => parts.iter().any(computed),
        _ => false,
    }
}
