//! The tree that a text is read into, before anything in it is resolved.

use crate::shell::seen::{RedirectKind, Span};

/// Commands one after another.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<Item>,
}

/// A pipeline and what stands behind it.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) commands: Vec<Command>,
    pub(crate) joint: Joint,
}

/// What joins a pipeline to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    /// `;`, a new line or the end.
    Next,
    /// `&&`: the next one runs if this one succeeds.
    And,
    /// `||`: the next one runs if this one fails.
    Or,
    /// `&`: runs in a shell of its own.
    Background,
}

/// A command with its redirections.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) body: Body,
    pub(crate) redirects: Vec<RawRedirect>,
    pub(crate) span: Span,
}

/// The kinds of commands.
#[derive(Debug)]
pub(crate) enum Body {
    /// Assignments, then a program with its arguments.
    Simple { assignments: Vec<RawAssignment>, words: Vec<RawWord> },
    /// Everything else has one shape: words that are expanded, and lists that may run.
    Compound { kind: Compound, words: Vec<RawWord>, lists: Vec<List> },
}

/// The kinds of compound commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Compound {
    /// `( … )`: what it changes is forgotten.
    Subshell,
    /// `{ … }`
    Group,
    /// `if`, with conditions and branches in turn.
    If,
    /// `case`, its subject and all patterns as words.
    Case,
    /// `while` and `until`.
    Loop,
    /// `for NAME` and `select NAME`.
    For,
    /// `for ((…))`
    ForArithmetic,
    /// `((…))`
    Arithmetic,
    /// `[[ … ]]`
    Test,
    /// `NAME() …`
    Function(String),
    /// `coproc …`
    Coprocess,
}

impl Compound {
    /// The name for people.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Subshell => "subshell",
            Self::Group => "group",
            Self::If => "if",
            Self::Case => "case",
            Self::Loop => "loop",
            Self::For | Self::ForArithmetic => "for",
            Self::Arithmetic => "arithmetic",
            Self::Test => "test",
            Self::Function(_) => "function",
            Self::Coprocess => "coprocess",
        }
    }
}

/// `NAME=value`, `NAME+=value`, `NAME[…]=value`, `NAME=(…)`.
#[derive(Debug)]
pub(crate) struct RawAssignment {
    pub(crate) name: String,
    /// Whether the value replaces the whole of the variable and is one word.
    pub(crate) plain: bool,
    pub(crate) value: RawWord,
    pub(crate) span: Span,
}

/// A redirection.
#[derive(Debug)]
pub(crate) struct RawRedirect {
    pub(crate) fd: Option<u32>,
    pub(crate) kind: RedirectKind,
    pub(crate) target: RawWord,
    pub(crate) span: Span,
}

/// A word as written.
#[derive(Debug, Default)]
pub(crate) struct RawWord {
    pub(crate) parts: Vec<Part>,
    pub(crate) span: Span,
}

impl RawWord {
    /// Its text, where it is written plainly: nothing quoted, nothing to expand. Only such a word can be a keyword.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

/// A part of a word.
#[derive(Debug)]
pub(crate) enum Part {
    /// Text outside quotes.
    Literal(String),
    /// Text that was quoted or escaped.
    Quoted(String),
    /// `"…"`
    Double(Vec<Part>),
    /// `{`, `,` or `}` outside quotes: may belong to a brace expansion.
    Brace(char),
    /// `*` or `?` outside quotes.
    Glob(char),
    /// `[` outside quotes.
    Bracket,
    /// `~` or `~name` where it may be expanded.
    Tilde(String),
    /// `$name` and `${…}`
    Parameter(Box<RawParameter>),
    /// `$(…)`, backquotes, `${ …; }`
    Substitution(List),
    /// `<(…)` and `>(…)`
    Process { list: List, writes: bool },
    /// `$((…))`; its parts are the expansions inside.
    Arithmetic(Vec<Part>),
    /// `(…)` of an array assignment.
    Array(Vec<RawWord>),
    /// The body of a here-document, by its number.
    Body(usize),
}

/// A parameter expansion as written.
#[derive(Debug)]
pub(crate) struct RawParameter {
    pub(crate) name: String,
    /// Whether the value is that of the variable itself: no `!`, no `#` before it, no index.
    pub(crate) direct: bool,
    /// Whether it is written `$name`, so that letters put behind it would belong to the name.
    pub(crate) bare: bool,
    pub(crate) operator: &'static str,
    /// What stands behind the operator, and in an index.
    pub(crate) operand: Vec<Part>,
}
