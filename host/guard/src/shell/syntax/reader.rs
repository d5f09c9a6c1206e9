//! The cursor: where reading stands, what it has used up, and how it gives up.

use super::chars;
use super::heredoc::Pending;
use super::tree::RawWord;
use crate::shell::seen::{Dialect, Fault, Feature, MAX_DEPTH, MAX_WORDS, Parameter, Span, Unparsed, Use};
use std::collections::HashMap;

/// What is counted and collected over a text and all the texts inside it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Bytes looked at and nodes made.
    pub(crate) steps: usize,
    /// Words so far.
    pub(crate) words: usize,
    /// How deep the reader stands.
    pub(crate) depth: usize,
    /// What was used.
    pub(crate) uses: Vec<Use>,
    /// Every parameter expansion.
    pub(crate) parameters: Vec<Parameter>,
    /// How often a name is set; two or more means that its value cannot be followed.
    pub(crate) set: HashMap<String, usize>,
    /// Bodies of here-documents, by their number.
    pub(crate) bodies: Vec<RawWord>,
    /// Names of functions.
    pub(crate) functions: Vec<String>,
    /// Whether anything may run more than once or out of order.
    pub(crate) repeats: bool,
    /// Whether something may set names that do not stand in the text as such (`eval`, `source`).
    pub(crate) sets_unseen: bool,
    /// Whether a number is computed, in which the shell would run a substitution inside a variable's value.
    pub(crate) computes: bool,
    /// Whether a shell without bash's additions would find other words in the text.
    pub(crate) differs: bool,
}

impl Tally {
    /// Marks a name as one whose value cannot be followed.
    pub(crate) fn unsettle(&mut self, name: &str) {
        *self.set.entry(name.to_owned()).or_default() += 2;
    }

    /// Counts one more word.
    pub(crate) fn word(&mut self) -> Result<(), Fault> {
        self.words += 1;
        self.steps += 1;
        if self.words > MAX_WORDS { Err(Fault::TooManyWords) } else { Ok(()) }
    }

    /// Counts one level deeper.
    pub(crate) fn enter(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        self.steps += 1;
        if self.depth > MAX_DEPTH { Err(Fault::TooDeep) } else { Ok(()) }
    }

    /// Counts one level back.
    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}

/// Why reading ends before the text does.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The text is refused.
    Fault(Unparsed),
    /// A shell without bash's additions stops here with a syntax error: what follows never runs under it.
    Stop,
}

/// The result of reading.
pub(crate) type Read<T> = Result<T, Halt>;

/// Reads one text.
pub(crate) struct Reader<'t, 'c> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
    /// Whether bash's additions are read as such.
    pub(crate) bash: bool,
    pub(crate) tally: &'c mut Tally,
    /// The span of the word that this text stands in; none for the command itself.
    pub(crate) outer: Option<Span>,
    /// Here-documents whose bodies follow the next new line.
    pub(crate) pending: Vec<Pending>,
    /// Ranges that hold an opening byte which was understood, as expansion or as text; in order. The residue check
    /// proves that none was passed over.
    pub(crate) claims: Vec<(usize, usize)>,
}

impl<'t, 'c> Reader<'t, 'c> {
    pub(crate) fn new(text: &'t str, dialect: Dialect, outer: Option<Span>, tally: &'c mut Tally) -> Self {
        let bash = dialect != Dialect::Posix;
        Self { text, at: 0, bash, tally, outer, pending: Vec::new(), claims: Vec::new() }
    }

    /// A reader for text that stands inside this one, with the same counts.
    pub(crate) fn inner<'n>(&'n mut self, text: &'n str, span: Span) -> Reader<'n, 'n> {
        Reader {
            text,
            at: 0,
            bash: self.bash,
            tally: self.tally,
            outer: Some(span),
            pending: Vec::new(),
            claims: Vec::new(),
        }
    }

    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// The byte at a position, whatever it is.
    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes().get(at).copied()
    }

    /// The next byte that is not part of a line continuation (`\` and a new line), which shells drop before all else.
    fn past_continuations(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// The next byte, line continuations dropped.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let next = self.past_continuations(self.at);
        self.tally.steps += next - self.at;
        self.at = next;
        self.byte(next)
    }

    /// The byte behind the next one, line continuations dropped; and where it stands.
    pub(crate) fn second(&self) -> (Option<u8>, usize) {
        self.behind(self.at)
    }

    /// The byte behind the one at a position, line continuations dropped; and where it stands.
    pub(crate) fn behind(&self, at: usize) -> (Option<u8>, usize) {
        let next = self.past_continuations(at + 1);
        (self.byte(next), next)
    }

    /// Goes to a position further on.
    pub(crate) fn go(&mut self, to: usize) {
        self.tally.steps += to.saturating_sub(self.at);
        self.at = to;
    }

    /// Goes one byte on.
    pub(crate) fn bump(&mut self) {
        self.tally.steps += 1;
        self.at += 1;
    }

    /// Takes the next byte if it is this one.
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.bump();
        }
        found
    }

    /// The text of a range.
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The text from a position to the end.
    pub(crate) fn rest(&self, start: usize) -> &'t str {
        self.text.get(start..).unwrap_or_default()
    }

    /// A range of this text as a range of the command.
    pub(crate) fn span(&self, start: usize) -> Span {
        self.outer.unwrap_or(Span { start, end: self.at.max(start) })
    }

    /// Says that the bytes from `start` to here were understood.
    pub(crate) fn claim(&mut self, start: usize) {
        self.claims.push((start, self.at));
    }

    /// Notes the use of a feature, from `start` to here.
    pub(crate) fn note(&mut self, feature: Feature, start: usize) {
        let span = self.span(start);
        self.tally.uses.push(Use { feature, span });
    }

    /// Refuses the text, pointing at what is next.
    pub(crate) fn fault<T>(&self, fault: Fault) -> Read<T> {
        let start = self.at.min(self.text.len());
        let end = self.rest(start).chars().next().map_or(start, |next| start + next.len_utf8());
        Err(Halt::Fault(Unparsed { fault, span: self.outer.unwrap_or(Span { start, end }) }))
    }

    /// Refuses what no shell reads, or what only bash does: another shell stops at it.
    pub(crate) fn unexpected<T>(&self) -> Read<T> {
        if self.bash { self.fault(Fault::Syntax) } else { Err(Halt::Stop) }
    }

    /// Refuses what is not closed.
    pub(crate) fn unclosed<T>(&self) -> Read<T> {
        if self.bash { self.fault(Fault::Unclosed) } else { Err(Halt::Stop) }
    }

    /// Turns a count over its limit into a refusal here.
    pub(crate) fn counted(&self, count: Result<(), Fault>) -> Read<()> {
        count.or_else(|fault| self.fault(fault))
    }

    /// Runs a reading one level deeper.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let entered = self.tally.enter();
        self.counted(entered)?;
        let result = read(self);
        self.tally.leave();
        result
    }

    /// Skips blanks and line continuations.
    pub(crate) fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.bump();
        }
    }

    /// Skips a comment, which no line continuation makes longer.
    pub(crate) fn comment(&mut self) -> Read<()> {
        if self.peek() != Some(b'#') {
            return Ok(());
        }
        let start = self.at;
        let end = self.rest(start).find('\n').map_or(self.text.len(), |length| start + length);
        self.go(end);
        self.plain_text(start, end)?;
        self.claim(start);
        Ok(())
    }

    /// Skips blanks, comments and new lines; behind the first new line stand the bodies of here-documents.
    pub(crate) fn lines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'#') => self.comment()?,
                Some(b'\n') => self.newline()?,
                _ => return Ok(()),
            }
        }
    }

    /// Takes a new line, and the here-documents behind it.
    pub(crate) fn newline(&mut self) -> Read<()> {
        self.bump();
        if self.pending.is_empty() { Ok(()) } else { self.here_documents() }
    }

    /// Refuses text outside quotes that cannot be seen for what it is.
    pub(crate) fn plain_text(&self, start: usize, end: usize) -> Read<()> {
        match chars::deceptive(self.slice(start, end)) {
            Some((fault, at)) => {
                let length = self.rest(start + at).chars().next().map_or(0, char::len_utf8);
                let span = self.outer.unwrap_or(Span::new(start + at, start + at + length));
                Err(Halt::Fault(Unparsed { fault, span }))
            }
            None => Ok(()),
        }
    }
}
