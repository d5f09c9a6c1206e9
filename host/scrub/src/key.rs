//! Private keys in PEM.

use crate::REDACTED;
use crate::span::{Found, run};
use crate::tail::Alphabet;

/// How far the end of a key is looked for; the longest RSA key in use has some 13,000 bytes.
pub(crate) const MOST: usize = 16 << 10;

/// What begins and ends every label.
pub(crate) const DASHES: &[u8] = b"-----";

/// More bytes than a label and its dashes have.
pub(crate) const MOST_LABEL: usize = 64;

/// `-----BEGIN … PRIVATE KEY-----` to its end; where that is missing, as far as it looks like a key.
pub(crate) fn private(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    let body = body(bytes, end)?;
    let rest = bytes.get(body..)?;
    // No key has dashes in it, so the next ones are its end or another's beginning: no byte is read for two keys.
    let dashes = memchr::memmem::find(rest, DASHES).unwrap_or(rest.len());
    let close = body + dashes;
    let between = rest.get(..dashes)?;
    // What stands around a gap was judged when the gap was text, and left.
    let judged = memchr::memmem::find(between, REDACTED.as_bytes()).is_some();
    if bytes.get(close..)?.starts_with(b"-----END ") && has_key(between) && !judged {
        let to = label(bytes, close + b"-----END ".len());
        return Found::new(start..run(bytes, to, 5, |b| b == b'-'), Alphabet::Armour);
    }
    // An old key has headers (`Proc-Type: 4,ENCRYPTED`); a sentence about keys has no run of base64.
    let body_end = run(bytes, body, dashes, |b| Alphabet::Armour.has(b) || b" :,-".contains(&b));
    let body_end = last_line_of_key(bytes, body, body_end);
    if !has_key(bytes.get(body..body_end)?) {
        return None;
    }
    Found::new(start..body_end, Alphabet::Armour)
}

/// Where the body of a private key begins, whose label begins at `end`.
pub(crate) fn body(bytes: &[u8], end: usize) -> Option<usize> {
    let label_end = label(bytes, end);
    let text = bytes.get(end..label_end)?;
    let is_private = text.ends_with(b"PRIVATE KEY") || text.ends_with(b"PRIVATE KEY BLOCK");
    (is_private && bytes.get(label_end..)?.starts_with(DASHES)).then_some(label_end + DASHES.len())
}

fn label(bytes: &[u8], from: usize) -> usize {
    run(bytes, from, 40, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ')
}

/// Whether there is a run of base64 that is no word.
fn has_key(body: &[u8]) -> bool {
    body.split(|b| !b.is_ascii_alphanumeric() && !b"+/=".contains(b)).any(|run| {
        run.len() >= 16
            && (run.iter().any(u8::is_ascii_digit)
                || (run.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase)))
    })
}

/// A key that was cut short may be followed by prose: lines of words after its last line of base64 are not its own.
fn last_line_of_key(bytes: &[u8], from: usize, to: usize) -> usize {
    let mut end = from;
    let mut at = from;
    while at < to {
        let line_end = run(bytes, at, to - at, |b| b != b'\n');
        let line = bytes.get(at..line_end).unwrap_or_default();
        let words = line.trim_ascii().split(|b| *b == b' ').count();
        let header = line.iter().take(24).any(|b| *b == b':');
        if words > 1 && !header && !has_key(line) {
            break;
        }
        end = line_end;
        at = line_end + 1;
    }
    end
}
