//! The proof behind every reading: each byte that could open an expansion was understood.

use super::reader::{Read, Reader};
use crate::shell::seen::{Fault, Span, Unparsed};

impl Reader<'_, '_> {
    /// Refuses the text if it holds `$(`, `${`, `$'`, `<(`, `>(` or a backquote that no part of the tree owns. Whoever reads a
    /// text too generously takes such a byte for plain text; here that is found out whatever the cause.
    pub(super) fn residue(&mut self) -> Read<()> {
        let mut claims = self.claims.iter().peekable();
        for (at, byte) in self.text.bytes().enumerate() {
            let opens = match byte {
                b'`' => true,
                b'$' => matches!(self.behind(at).0, Some(b'(' | b'{' | b'\'')),
                b'<' | b'>' => self.byte(at + 1) == Some(b'('),
                _ => false,
            };
            if !opens {
                continue;
            }
            while claims.next_if(|claim| claim.1 <= at).is_some() {}
            if claims.peek().is_none_or(|claim| claim.0 > at) {
                let span = self.outer.unwrap_or(Span::new(at, at + 1));
                return Err(super::reader::Halt::Fault(Unparsed { fault: Fault::Expansion, span }));
            }
        }
        self.tally.steps += self.text.len();
        Ok(())
    }
}
