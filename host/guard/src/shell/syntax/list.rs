//! Lists, pipelines and simple commands.

use super::reader::{Halt, Read, Reader};
use super::tree::{Body, Command, Compound, Item, Joint, List, Part, RawAssignment, RawWord};
use crate::shell::seen::{Fault, Feature, Span};

/// Words that are keywords where a command may begin.
const KEYWORDS: [&str; 20] = [
    "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "select", "case", "esac", "{", "}", "!",
    "[[", "time", "function", "coproc",
];

impl Reader<'_, '_> {
    /// Reads the whole text. A shell that stops at a syntax error has run the lines before it, so those are kept.
    pub(super) fn script(&mut self) -> Read<List> {
        let mut items = Vec::new();
        match self.all(&mut items) {
            Ok(()) | Err(Halt::Stop) => Ok(List { items }),
            Err(fault) => Err(fault),
        }
    }

    /// Reads the whole of a text that is all or nothing.
    pub(super) fn whole(&mut self) -> Read<List> {
        let mut items = Vec::new();
        self.all(&mut items)?;
        Ok(List { items })
    }

    fn all(&mut self, items: &mut Vec<Item>) -> Read<()> {
        self.items(items)?;
        if self.at < self.text.len() {
            return self.unexpected();
        }
        if !self.pending.is_empty() {
            return self.fault(Fault::HereDocument);
        }
        self.residue()
    }

    /// Reads commands up to something that ends a list: the end, `)`, `;;`, or a keyword that closes or goes on.
    pub(super) fn list(&mut self) -> Read<List> {
        self.deeper(|reader| {
            let mut items = Vec::new();
            reader.items(&mut items)?;
            Ok(List { items })
        })
    }

    fn items(&mut self, items: &mut Vec<Item>) -> Read<()> {
        loop {
            self.lines()?;
            if self.list_ends() {
                return Ok(());
            }
            if !items.is_empty() {
                let start = self.at;
                self.note(Feature::Chain, start);
            }
            let commands = self.pipeline()?;
            let joint = self.joint()?;
            items.push(Item { commands, joint: joint.unwrap_or(Joint::Next) });
            if joint.is_none() {
                return Ok(());
            }
        }
    }

    /// Takes what stands behind a pipeline; none where the list ends.
    fn joint(&mut self) -> Read<Option<Joint>> {
        self.blanks();
        self.comment()?;
        let start = self.at;
        let second = self.second();
        Ok(match (self.peek(), second.0) {
            (Some(b'\n'), _) => {
                self.newline()?;
                Some(Joint::Next)
            }
            (Some(b'&'), Some(b'&')) => {
                self.go(second.1 + 1);
                Some(Joint::And)
            }
            (Some(b'|'), Some(b'|')) => {
                self.go(second.1 + 1);
                Some(Joint::Or)
            }
            (Some(b'&'), _) => {
                self.bump();
                self.note(Feature::Background, start);
                Some(Joint::Background)
            }
            (Some(b';'), Some(b';' | b'&')) => None,
            (Some(b';'), _) => {
                self.bump();
                Some(Joint::Next)
            }
            _ => None,
        })
    }

    fn list_ends(&mut self) -> bool {
        let second = self.second().0;
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(second, Some(b';' | b'&')),
            Some(b't' | b'e' | b'f' | b'd' | b'}') => {
                matches!(self.keyword(), Some(("then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}", _)))
            }
            _ => false,
        }
    }

    /// The keyword that is next, and where it ends.
    pub(super) fn keyword(&mut self) -> Option<(&'static str, usize)> {
        let mut letters = [0_u8; 8];
        let mut length = 0;
        self.peek();
        let mut at = self.at;
        while let Some(byte) = self.byte(at).filter(|byte| !ends_word(*byte)) {
            *letters.get_mut(length)? = byte;
            length += 1;
            at = self.behind(at).1;
        }
        let found = letters.get(..length)?;
        KEYWORDS.iter().find(|word| word.as_bytes() == found).map(|word| (*word, at))
    }

    /// Takes a keyword if it is next.
    pub(super) fn eat_keyword(&mut self, wanted: &str) -> bool {
        match self.keyword() {
            Some((word, end)) if word == wanted => {
                self.go(end);
                true
            }
            _ => false,
        }
    }

    fn pipeline(&mut self) -> Read<Vec<Command>> {
        let mut commands = Vec::new();
        loop {
            self.pipeline_prefix();
            commands.push(self.command()?);
            self.blanks();
            let start = self.at;
            let second = self.second();
            if self.peek() != Some(b'|') || second.0 == Some(b'|') {
                return Ok(commands);
            }
            self.bump();
            if second.0 == Some(b'&') {
                if !self.bash {
                    return self.unexpected();
                }
                self.go(second.1 + 1);
            }
            self.note(Feature::Pipe, start);
            self.lines()?;
        }
    }

    /// Skips `!`, and `time` before another keyword or a bracket. Before a plain command `time` stays: some shells start a program
    /// of that name, with options of its own.
    fn pipeline_prefix(&mut self) {
        loop {
            self.blanks();
            let start = self.at;
            if self.eat_keyword("!") {
                continue;
            }
            if !self.bash || !self.eat_keyword("time") {
                return;
            }
            self.blanks();
            while ["-p", "--"].iter().any(|option| self.eat_option(option)) {
                self.blanks();
            }
            if self.peek() != Some(b'(') && self.keyword().is_none() {
                self.at = start;
                return;
            }
        }
    }

    fn eat_option(&mut self, option: &str) -> bool {
        let found = self.rest(self.at).strip_prefix(option).is_some_and(|rest| rest.starts_with([' ', '\t']));
        if found {
            self.go(self.at + option.len());
        }
        found
    }

    /// Reads one command with its redirections.
    pub(super) fn command(&mut self) -> Read<Command> {
        self.blanks();
        let start = self.at;
        let Some(body) = self.compound()? else { return self.simple() };
        self.note(Feature::Compound, start);
        let span = self.span(start);
        let mut redirects = Vec::new();
        self.blanks();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
            self.blanks();
        }
        Ok(Command { body, redirects, span })
    }

    fn simple(&mut self) -> Read<Command> {
        let start = self.at;
        let mut end = start;
        let mut assignments = Vec::new();
        let mut words: Vec<RawWord> = Vec::new();
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                end = self.at;
                continue;
            }
            match self.peek() {
                Some(b'#') => self.comment()?,
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                Some(b'(') => {
                    let named = words.len() == 1 && assignments.is_empty() && redirects.is_empty();
                    return match words.pop() {
                        Some(name) if named => self.function(&name, start),
                        _ => self.unexpected(),
                    };
                }
                Some(_) => {
                    let word = self.word()?;
                    match if words.is_empty() { split_assignment(word) } else { Err(word) } {
                        Ok(assignment) => {
                            self.note(Feature::Assignment, start);
                            assignments.push(assignment);
                        }
                        Err(word) => words.push(word),
                    }
                    end = self.at;
                }
            }
        }
        if end == start {
            return self.unexpected();
        }
        self.settle(&assignments, &words);
        let span = self.outer.unwrap_or(Span { start, end });
        Ok(Command { body: Body::Simple { assignments, words }, redirects, span })
    }

    /// Notes which names this command sets, so that only values that are certain are followed.
    fn settle(&mut self, assignments: &[RawAssignment], words: &[RawWord]) {
        for assignment in assignments {
            let by = if assignment.plain && words.is_empty() { 1 } else { 2 };
            *self.tally.set.entry(assignment.name.clone()).or_default() += by;
        }
        let Some((first, args)) = words.split_first() else { return };
        match first.plain() {
            Some("export" | "readonly") => {
                for arg in args {
                    match arg.parts.first() {
                        Some(Part::Literal(text)) => {
                            let name = text.split(['=', '+']).next().unwrap_or(text);
                            *self.tally.set.entry(name.to_owned()).or_default() += 1;
                        }
                        _ => self.tally.sets_unseen = true,
                    }
                }
            }
            Some("read" | "mapfile" | "readarray" | "getopts" | "unset" | "declare" | "typeset" | "local") => {
                self.unsettle_args(args);
            }
            Some("printf") => {
                let format = args.first().and_then(|arg| arg.parts.first());
                if !matches!(format, Some(Part::Double(_) | Part::Quoted(_))) {
                    self.unsettle_args(args);
                }
            }
            Some("eval" | "source" | "." | "trap" | "command" | "builtin" | "let" | "shopt" | "set" | "enable")
            | None => {
                self.tally.sets_unseen = true;
            }
            Some(_) => {}
        }
    }

    fn unsettle_args(&mut self, args: &[RawWord]) {
        for arg in args {
            match arg.parts.as_slice() {
                [Part::Literal(text), ..] if arg.parts.len() == 1 || text.contains('=') => {
                    for name in text.split(['=', '+']) {
                        self.tally.unsettle(name);
                    }
                }
                [Part::Quoted(_)] => {}
                _ => self.tally.sets_unseen = true,
            }
        }
    }

    /// Reads `()` and a body behind a name.
    fn function(&mut self, name: &RawWord, start: usize) -> Read<Command> {
        self.bump();
        self.blanks();
        let (true, Some(name)) = (self.eat(b')'), name.plain()) else { return self.unexpected() };
        self.function_body(name.to_owned(), start)
    }

    /// Reads the body of a function.
    pub(super) fn function_body(&mut self, name: String, start: usize) -> Read<Command> {
        self.lines()?;
        let body = self.deeper(Self::command)?;
        self.note(Feature::Function, start);
        self.tally.repeats = true;
        self.tally.functions.push(name.clone());
        let span = self.span(start);
        let list = List { items: vec![Item { commands: vec![body], joint: Joint::Next }] };
        let body = Body::Compound { kind: Compound::Function(name), words: Vec::new(), lists: vec![list] };
        Ok(Command { body, redirects: Vec::new(), span })
    }
}

/// Whether a byte ends a word outside quotes.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// Whether text is a variable's name.
pub(in crate::shell) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Takes a word apart at its `=`, where it is an assignment.
fn split_assignment(mut word: RawWord) -> Result<RawAssignment, RawWord> {
    let span = word.span;
    let (name, plain, rest) = match word.parts.as_slice() {
        [Part::Literal(text), ..] if text.contains('=') => {
            let (left, rest) = text.split_once('=').unwrap_or((text, ""));
            let name = left.strip_suffix('+').unwrap_or(left);
            (name.to_owned(), name.len() == left.len(), rest.to_owned())
        }
        [Part::Literal(text), Part::Bracket, rest @ ..] if is_name(text) && sets_element(rest) => {
            let assignment = RawAssignment { name: text.clone(), plain: false, value: word, span };
            return Ok(assignment);
        }
        _ => return Err(word),
    };
    if !is_name(&name) {
        return Err(word);
    }
    let plain = plain && !word.parts.iter().any(|part| matches!(part, Part::Array(_)));
    if rest.is_empty() {
        word.parts.remove(0);
    } else if let Some(first) = word.parts.first_mut() {
        *first = Part::Literal(rest);
    }
    Ok(RawAssignment { name, plain, value: word, span })
}

fn sets_element(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Literal(text) if text.contains("]=") || text.contains("]+=")))
}
