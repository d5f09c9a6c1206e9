//! Alphabets: which bytes a secret is made of, and so where it ends.

use crate::span::run;

/// Characters of a secret after its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// Letters and digits.
    Plain,
    /// Upper-case letters and digits.
    Upper,
    /// Lower-case hexadecimal digits.
    Hex,
    /// Letters, digits, `_`.
    Under,
    /// Letters, digits, `$`.
    Dollar,
    /// Letters, digits, `_`, `-`.
    Dashed,
    /// Letters, digits, `_`, `-`, `.`.
    Dotted,
    /// Letters, digits, `+`, `/`, `=`, `_`, `-`.
    Base64,
    /// The same, and `.`, `~`: what an `Authorization` header takes.
    Header,
    /// Letters, digits, `_`, `-`, `/`: segments of a path.
    Path,
    /// Printable ASCII but quotes, backslashes and what brackets a URL.
    Url,
    /// All but white space, quotes and backslashes.
    Word,
    /// All but line breaks and this byte.
    Until(u8),
    /// Base64 in lines, also with escaped line breaks.
    Armour,
}

impl Alphabet {
    /// Whether a byte belongs to it.
    #[must_use]
    pub fn has(self, byte: u8) -> bool {
        let dashed = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        match self {
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Under => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dollar => byte.is_ascii_alphanumeric() || byte == b'$',
            Self::Dashed => dashed,
            Self::Dotted => dashed || byte == b'.',
            Self::Base64 => dashed || b"+/=".contains(&byte),
            Self::Header => dashed || b"+/=.~".contains(&byte),
            Self::Path => dashed || byte == b'/',
            Self::Url => byte.is_ascii_graphic() && !b"\"'`<>\\".contains(&byte),
            Self::Word => !byte.is_ascii_whitespace() && !b"\"'`\\".contains(&byte),
            Self::Until(stop) => byte != b'\n' && byte != stop,
            Self::Armour => byte.is_ascii_alphanumeric() || b"+/=\\\r\n\t".contains(&byte),
        }
    }

    /// The end of the run of these bytes that begins at `from`.
    pub(crate) fn end(self, bytes: &[u8], from: usize, most: usize) -> usize {
        run(bytes, from, most, |byte| self.has(byte))
    }
}
