//! Private keys in PEM.

use crate::span::run;
use std::ops::Range;

/// Longest key with its armour that is looked for.
const MOST: usize = 64 << 10;

/// `-----BEGIN … PRIVATE KEY-----` to its end; where that is missing, as far as it looks like a key.
pub(crate) fn private(bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let label_end = run(bytes, end, 40, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ');
    let label = bytes.get(end..label_end)?;
    let is_private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    if !is_private || !bytes.get(label_end..)?.starts_with(b"-----") {
        return None;
    }
    let body = label_end + 5;
    // Lines may be escaped (`\n`) and an old key has headers (`Proc-Type: 4,ENCRYPTED`); a sentence about keys has other
    // characters soon. Two dashes begin the next armour, so no byte is read for two of them.
    let rest = bytes.get(body..bytes.len().min(body + MOST))?;
    let armour = memchr::memmem::find(rest, b"--").unwrap_or(MOST);
    let body_end =
        run(bytes, body, armour, |b| b.is_ascii_alphanumeric() || b.is_ascii_whitespace() || b"+/=\\:,-".contains(&b));
    let rest = bytes.get(body_end..)?;
    if rest.starts_with(b"-----END ") {
        let close = body_end + 9;
        let label_end = run(bytes, close, 40, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ');
        return Some(start..run(bytes, label_end, 5, |b| b == b'-'));
    }
    let gap = run(bytes, body, 64, |b| b.is_ascii_whitespace() || b"\\rn".contains(&b));
    let first_line = run(bytes, gap, MOST, |b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    (first_line - gap >= 16).then_some(start..body_end)
}
