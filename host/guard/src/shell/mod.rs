//! The command scanner: from the text of a shell command to every program that it may start, and what the rules say about them.
//!
//! `syntax` reads the text into a tree, `words` resolves words as a shell would, `reach` looks through wrappers and into code.

mod fault;
mod modes;
mod reach;
mod rules;
mod seen;
mod switches;
mod syntax;
mod variables;
mod verdict;
mod words;

pub use seen::{
    Assignment, Code, Dialect, Fault, Feature, Input, Invocation, Language, MAX_DEPTH, MAX_TEXT, MAX_WORDS,
    MAX_WRAPPERS, Node, Parameter, Piece, Place, Redirect, RedirectKind, Seen, Source, Span, Unparsed, Use, Value, Via,
    Why, Word,
};

pub use modes::{Allowlist, Ask, EntryInvalid, Mode, PathDeny, Remember, Setting};
pub use rules::{Rule, rules};
pub use switches::{Group, Switches, UnknownGroup};
pub use verdict::{Decision, Verdict, judge, scan};

/// Everything that a text may start, as the shell would read it. No I/O; the work grows with the length of the text.
///
/// # Errors
/// The text cannot be read with certainty: see [`Fault`]. Nothing of it may run then.
pub fn see(text: &str, dialect: Dialect) -> Result<Seen, Unparsed> {
    reach::see(text, dialect, false).map(|(seen, _)| seen)
}

/// The same as lines for a person: what nests in what, and what each command was resolved to.
///
/// # Errors
/// As for [`see`].
pub fn outline(text: &str, dialect: Dialect) -> Result<Vec<Node>, Unparsed> {
    reach::see(text, dialect, true).map(|(_, outline)| outline)
}
