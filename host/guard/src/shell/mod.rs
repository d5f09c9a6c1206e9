//! The command scanner: from the text of a shell command to every program that it may start, and what the rules say about them.
//!
//! `syntax` reads the text into a tree, `words` resolves words as a shell would, `reach` looks through wrappers and into code.

mod seen;

pub use seen::{
    Assignment, Code, Dialect, Fault, Feature, Input, Invocation, Language, MAX_DEPTH, MAX_TEXT, MAX_WORDS,
    MAX_WRAPPERS, Node, Parameter, Piece, Place, Redirect, RedirectKind, Seen, Source, Span, Unparsed, Use, Value, Via,
    Why, Word,
};
