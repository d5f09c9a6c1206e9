//! What a command text may start: the words that the syntax half hands to the rules.
//!
//! Everything here is over-approximate on purpose: a program that *may* start is listed, a value that *may* differ is unknown.
//! Indices (`usize`) always point into [`Seen::invocations`].

use std::fmt;

pub use super::fault::{Fault, MAX_DEPTH, MAX_TEXT, MAX_WORDS, MAX_WRAPPERS, Unparsed};

/// Which shell will read the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Whichever `/bin/sh` turns out to be: what bash and dash read differently is seen in both readings.
    #[default]
    Either,
    /// bash.
    Bash,
    /// dash, BusyBox ash and other shells without bash's additions.
    Posix,
}

/// A range of bytes of the command text: `start` inclusive, `end` exclusive. What was found in text inside a word
/// (`sh -c '…'`) has the span of that word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// A range.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The text it covers; empty where it does not lie in `text`.
    #[must_use]
    pub fn of<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Why a value cannot be known before the command runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// A variable (or positional parameter) that nothing on the line sets for certain; its name. `$HOME` is one too.
    Variable(String),
    /// The output of a command, or the name of a pipe to one.
    Substitution,
    /// A number that the shell computes.
    Arithmetic,
    /// `~` or `~name`, as written.
    Tilde(String),
    /// Words that come from standard input or a list of files (`xargs`, `parallel`, `find -exec … {}`).
    Input,
    /// An expansion with more results than are followed.
    Limit,
}

/// A part of a word that is not wholly known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Text, as the program gets it.
    Text(String),
    /// An unquoted pattern (`*`, `?`, `[…]`), as written.
    Glob(String),
    /// Something that is not known.
    Unknown {
        /// Why not.
        why: Why,
        /// Whether it stands outside quotes, so that it may become several words, or none.
        splits: bool,
    },
}

/// What a word becomes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Exactly this text.
    Known(String),
    /// These parts, in order; at least one of them is no [`Piece::Text`].
    Partial(Vec<Piece>),
}

/// A word after all that the shell does to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    /// Its value.
    pub value: Value,
    /// Whether any of it was quoted or escaped.
    pub quoted: bool,
    /// Where it stands.
    pub span: Span,
}

impl Word {
    /// A word that is known.
    #[must_use]
    pub fn known_text(text: impl Into<String>, span: Span) -> Self {
        Self { value: Value::Known(text.into()), quoted: false, span }
    }

    /// A word of which nothing is known.
    #[must_use]
    pub fn unknown(why: Why, splits: bool, span: Span) -> Self {
        Self { value: Value::Partial(vec![Piece::Unknown { why, splits }]), quoted: false, span }
    }

    /// Its text, where all of it is known.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        match &self.value {
            Value::Known(text) => Some(text),
            Value::Partial(_) => None,
        }
    }

    /// The last step of a path (`rm` of `/bin/rm` and of `$PREFIX/bin/rm`), where that step is known.
    #[must_use]
    pub fn basename(&self) -> Option<&str> {
        match &self.value {
            Value::Known(text) => Some(text.rsplit('/').next().unwrap_or(text)),
            Value::Partial(pieces) => match pieces.last() {
                Some(Piece::Text(text)) => text.rsplit_once('/').map(|(_, last)| last),
                _ => None,
            },
        }
    }

    /// The parts that are known, in order; patterns and unknown parts stand between them.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        let (known, pieces) = match &self.value {
            Value::Known(text) => (Some(text.as_str()), &[][..]),
            Value::Partial(pieces) => (None, pieces.as_slice()),
        };
        known.into_iter().chain(pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            _ => None,
        }))
    }

    /// The parts that are not known.
    pub fn unknowns(&self) -> impl Iterator<Item = &Why> {
        let pieces = match &self.value {
            Value::Known(_) => &[][..],
            Value::Partial(pieces) => pieces.as_slice(),
        };
        pieces.iter().filter_map(|piece| match piece {
            Piece::Unknown { why, .. } => Some(why),
            _ => None,
        })
    }

    /// The text that it begins with for certain; empty where the first part is not known.
    #[must_use]
    pub fn prefix(&self) -> &str {
        match &self.value {
            Value::Known(text) => text,
            Value::Partial(pieces) => match pieces.first() {
                Some(Piece::Text(text)) => text,
                _ => "",
            },
        }
    }

    /// Whether it may become more than one word, or none.
    #[must_use]
    pub fn may_split(&self) -> bool {
        match &self.value {
            Value::Known(_) => false,
            Value::Partial(pieces) => {
                pieces.iter().any(|piece| matches!(piece, Piece::Glob(_) | Piece::Unknown { splits: true, .. }))
            }
        }
    }

    /// Whether it may turn out to be exactly `text`, taking every pattern and unknown part for any text at all.
    #[must_use]
    pub fn may_be(&self, text: &str) -> bool {
        let pieces = match &self.value {
            Value::Known(known) => return known == text,
            Value::Partial(pieces) => pieces,
        };
        let mut rest = text;
        let mut open = false;
        for (at, piece) in pieces.iter().enumerate() {
            let Piece::Text(part) = piece else {
                open = true;
                continue;
            };
            let last = at + 1 == pieces.len();
            let next = match (open, last) {
                (false, _) => rest.strip_prefix(part.as_str()),
                (true, true) => rest.strip_suffix(part.as_str()).map(|_| ""),
                (true, false) => rest.split_once(part.as_str()).map(|(_, after)| after),
            };
            let Some(next) = next else { return false };
            rest = next;
            open = false;
        }
        open || rest.is_empty()
    }
}

impl fmt::Display for Word {
    /// For people: known text as it is, patterns as written, unknown parts as `‹why›`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = match &self.value {
            Value::Known(text) => return f.write_str(text),
            Value::Partial(pieces) => pieces,
        };
        for piece in pieces {
            match piece {
                Piece::Text(text) | Piece::Glob(text) => f.write_str(text)?,
                Piece::Unknown { why, .. } => match why {
                    Why::Variable(name) => write!(f, "‹${name}›")?,
                    Why::Substitution => f.write_str("‹output›")?,
                    Why::Arithmetic => f.write_str("‹number›")?,
                    Why::Tilde(text) => f.write_str(text)?,
                    Why::Input => f.write_str("‹input›")?,
                    Why::Limit => f.write_str("‹too many›")?,
                },
            }
        }
        Ok(())
    }
}

/// `NAME=value` before a program, or alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Assignment {
    /// The name, without an index.
    pub name: String,
    /// What it becomes. Of an array, one word for each element stands here joined by blanks, or it is unknown.
    pub value: Word,
    /// Where it stands.
    pub span: Span,
}

/// The kind of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>` and `>|`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `&>`, `>& file`: both output streams.
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `n>&m`, `n<&m`, `n>&-`: the target is the number or `-`.
    Duplicate,
    /// `<<` and `<<-`: the target is the body.
    HereDocument,
    /// `<<<`: the target is the text.
    HereString,
}

impl RedirectKind {
    /// Whether it may create or change the file that it names.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Append | Self::ReadWrite | Self::WriteBoth | Self::AppendBoth)
    }
}

/// One redirection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Redirect {
    /// The descriptor; where none is written, the one that the kind implies. None for `{name}>`.
    pub fd: Option<u32>,
    /// The kind.
    pub kind: RedirectKind,
    /// The file, the number, or the text.
    pub target: Word,
    /// Where it stands.
    pub span: Span,
}

/// Where a program's standard input comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Input {
    /// From whoever starts the command.
    #[default]
    Inherited,
    /// From a pipe, written by any of these.
    Pipe(Vec<usize>),
    /// A here-document or here-string.
    Text(Word),
    /// A file.
    File(Word),
    /// `< <(…)`: written by any of these.
    Process(Vec<usize>),
}

/// The language of code that a program is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// A POSIX-like shell. Text that is known has been read, and what it starts is listed.
    Shell,
    /// A shell of another kind (fish, csh, nu …), which is not read.
    OtherShell,
    /// PowerShell.
    PowerShell,
    /// cmd.exe
    Cmd,
    /// Python.
    Python,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// JavaScript or TypeScript.
    JavaScript,
    /// PHP.
    Php,
    /// Lua.
    Lua,
    /// awk.
    Awk,
    /// sed.
    Sed,
    /// An editor's commands (vim, ed, ex, emacs).
    Editor,
    /// A database client's statements.
    Sql,
    /// make's rules.
    Make,
    /// Anything else.
    Other,
}

/// Where code comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// This text: an argument, a here-document, or the known output of a pipe.
    Text(Word),
    /// Standard input whose text is not known (see [`Invocation::stdin`] for where it comes from).
    Input,
    /// A file, or an address that the program opens itself.
    File(Word),
}

/// Code that a program is given to run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// Its language.
    pub language: Language,
    /// Where it comes from.
    pub source: Source,
}

/// A program through which another one was reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Via {
    /// The wrapper's own invocation.
    pub invocation: usize,
    /// Its name, without folders: `sudo`, `sh`, `xargs`.
    pub name: String,
}

/// What an invocation stands in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// The command itself.
    #[default]
    Top,
    /// The body of a function of this name.
    Function(String),
    /// A command substitution.
    Substitution,
    /// A process substitution.
    Process,
}

/// One program that may start, or assignments and redirections without one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Invocation {
    /// The program; none where only assignments or redirections stand.
    pub program: Option<Word>,
    /// Its arguments.
    pub args: Vec<Word>,
    /// Assignments before it, `env`'s included for the program that `env` starts.
    pub assignments: Vec<Assignment>,
    /// Its redirections, those of the compound commands around it included.
    pub redirects: Vec<Redirect>,
    /// Its standard input.
    pub stdin: Input,
    /// Those that may read its standard output through a pipe.
    pub feeds: Vec<usize>,
    /// The programs through which it was reached, outermost first.
    pub via: Vec<Via>,
    /// Code that it is given.
    pub code: Vec<Code>,
    /// What it stands in.
    pub place: Place,
    /// Whether it may be left out, or run more than once (`if`, `&&`, loops, functions).
    pub conditional: bool,
    /// Where it stands.
    pub span: Span,
}

impl Invocation {
    /// The program's name without folders, where it is known.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.program.as_ref().and_then(Word::basename)
    }

    /// Whether there is a program whose name is not known.
    #[must_use]
    pub fn unknown_program(&self) -> bool {
        self.program.is_some() && self.name().is_none()
    }
}

impl fmt::Display for Invocation {
    /// For people: assignments, program and arguments as resolved, each word that holds a blank in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut blank = "";
        for assignment in &self.assignments {
            write!(f, "{blank}{}={}", assignment.name, assignment.value)?;
            blank = " ";
        }
        for word in self.program.iter().chain(&self.args) {
            let text = word.to_string();
            if text.is_empty() || text.contains(char::is_whitespace) {
                write!(f, "{blank}'{text}'")?;
            } else {
                write!(f, "{blank}{text}")?;
            }
            blank = " ";
        }
        Ok(())
    }
}

/// What the text uses beside plain words; for modes that allow only plain words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// `;`, `&&`, `||` or a second line.
    Chain,
    /// `|` or `|&`.
    Pipe,
    /// `&`, or `coproc`.
    Background,
    /// `$(…)`, backquotes, `${ …; }`.
    Substitution,
    /// `<(…)` or `>(…)`.
    Process,
    /// Any redirection, here-documents included.
    Redirect,
    /// `{ }`, `( )`, `if`, loops, `case`, `[[`, `((`.
    Compound,
    /// A function definition.
    Function,
    /// An assignment.
    Assignment,
    /// `$name`, `${…}`, `$((…))`.
    Expansion,
    /// `{a,b}` or `{1..9}`.
    Brace,
    /// An unquoted pattern.
    Glob,
    /// `~`.
    Tilde,
}

/// One use of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Use {
    /// The feature.
    pub feature: Feature,
    /// Where.
    pub span: Span,
}

/// A parameter expansion, or the name that a loop sets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// The name: `HOME`, `1`, `@`.
    pub name: String,
    /// Whether it is `${!name…}`: the value names another variable, or variables are listed. An array's keys (`${!name[@]}`)
    /// are no such thing.
    pub indirect: bool,
    /// The operator as written, without its operand: ``, `:-`, `@P`, `//`, `#`; `in` for a name that a loop sets.
    pub operator: String,
    /// Where it stands.
    pub span: Span,
}

/// A line of the tree for a person.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// How deep it stands, from zero.
    pub depth: usize,
    /// The kind, in a word or two: `pipeline`, `if`, `command`, `substitution`.
    pub kind: &'static str,
    /// The source text, or what it was resolved to.
    pub text: String,
}

/// All that a text may start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Every program, in the order of the text; a wrapper stands before what it wraps.
    pub invocations: Vec<Invocation>,
    /// What was used beside plain words.
    pub uses: Vec<Use>,
    /// Every parameter expansion, and the names that loops set.
    pub parameters: Vec<Parameter>,
    /// How much work it was: bytes looked at and nodes made. Grows with the length of the text and no faster.
    pub steps: usize,
}

impl Seen {
    /// Whether a feature is used anywhere.
    #[must_use]
    pub fn uses(&self, feature: Feature) -> bool {
        self.uses.iter().any(|one| one.feature == feature)
    }
}
