//! From text to tree, in one pass. The reader calls itself only where text nests, and counts how deep it is.

mod ansi_c;
mod chars;
mod compound;
mod expansion;
mod heredoc;
mod list;
mod reader;
mod redirect;
mod residue;
mod tree;
mod word;

pub(in crate::shell) use list::is_name;
pub(super) use reader::Tally;
pub(super) use tree::{Body, Command, Compound, Joint, List, Part, RawAssignment, RawParameter, RawRedirect, RawWord};

use super::seen::{Dialect, Fault, MAX_TEXT, Span, Unparsed};
use reader::{Halt, Reader};

/// A text as read.
pub(super) struct Script {
    /// Its commands.
    pub(super) list: List,
    /// Bodies of its here-documents, by number.
    pub(super) bodies: Vec<RawWord>,
}

/// Reads a text. `outer` is the span of the word that it stands in, if it does.
pub(super) fn read(text: &str, dialect: Dialect, outer: Option<Span>, tally: &mut Tally) -> Result<Script, Unparsed> {
    if text.len() > MAX_TEXT {
        let span = outer.unwrap_or(Span::new(MAX_TEXT, text.len()));
        return Err(Unparsed { fault: Fault::TooLong, span });
    }
    tally.steps += text.len();
    chars::check(text).map_err(|fault| Unparsed { span: outer.unwrap_or(fault.span), ..fault })?;
    let before = std::mem::take(&mut tally.bodies);
    let list = Reader::new(text, dialect, outer, tally).script();
    let bodies = std::mem::replace(&mut tally.bodies, before);
    match list {
        Ok(list) => Ok(Script { list, bodies }),
        Err(Halt::Fault(fault)) => Err(fault),
        // Reading the whole keeps what stands before a stop.
        Err(Halt::Stop) => Ok(Script { list: List::default(), bodies }),
    }
}
