//! Characters that make a text look like another one.

use crate::shell::seen::{Fault, Span, Unparsed};

/// Refuses what is refused anywhere, inside quotes too: bytes of zero, control characters (a terminal that shows the command to
/// an approver would obey them), and characters that turn the direction of text. A carriage return is left to
/// [`deceptive`]: files with two-byte line ends are written through here-documents.
pub(super) fn check(text: &str) -> Result<(), Unparsed> {
    let plain = |byte: &u8| matches!(byte, 0x20..=0x7e | b'\t' | b'\n' | b'\r');
    if text.as_bytes().iter().all(plain) {
        return Ok(());
    }
    for (start, character) in text.char_indices() {
        let fault = match character {
            '\0' => Fault::Nul,
            '\t' | '\n' | '\r' => continue,
            _ if character.is_control() => Fault::Control,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Fault::Invisible,
            _ => continue,
        };
        return Err(Unparsed { fault, span: Span::new(start, start + character.len_utf8()) });
    }
    Ok(())
}

/// Why text outside quotes is refused and at which byte, if it is: nothing there has a reason to hold what cannot be seen.
pub(super) fn deceptive(text: &str) -> Option<(Fault, usize)> {
    if text.bytes().all(|byte| byte.is_ascii() && byte != b'\r') {
        return None;
    }
    text.char_indices().find_map(|(at, character)| match character {
        '\r' => Some((Fault::Control, at)),
        _ if invisible(character) => Some((Fault::Invisible, at)),
        _ => None,
    })
}

/// Zero-width, formatting and filling characters, variation selectors and tags, and every blank that is not a shell's blank.
fn invisible(character: char) -> bool {
    !character.is_ascii() && character.is_whitespace()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
