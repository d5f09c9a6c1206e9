//! Long hexadecimal runs: raw keys are written so. So are digests, which must stay.
//!
//! 64 and more hexadecimal digits go, unless something beside them says that they are a digest: an algorithm's name before
//! (`sha256:…`, `sha512-…`, `"digest": "…"`), or a file's name after, as `sha256sum` prints. A git commit (40) and a UUID are shorter. Whoever
//! wants to carry a key out in disguise finds another way; known values go in any case (see [`crate::Secrets`]).

use crate::span::{Spans, run, run_back};

/// 256 bits.
const LEAST: usize = 64;

/// Words that announce a digest.
const DIGESTS: [&str; 13] = [
    "sha256",
    "sha-256",
    "sha384",
    "sha-384",
    "sha512",
    "sha-512",
    "sha3",
    "blake2",
    "blake3",
    "digest",
    "checksum",
    "integrity",
    "hash",
];

pub(crate) fn long_runs(bytes: &[u8], spans: &mut Spans) {
    // A run of 64 covers a multiple of 64, so only those places are looked at.
    let mut probe = LEAST - 1;
    while let Some(byte) = bytes.get(probe) {
        if !byte.is_ascii_hexdigit() {
            probe += LEAST;
            continue;
        }
        let start = run_back(bytes, probe, LEAST, |b| b.is_ascii_hexdigit());
        let end = run(bytes, probe, usize::MAX, |b| b.is_ascii_hexdigit());
        if end - start >= LEAST && !inside_a_word(bytes, start, end) && !is_digest(bytes, start, end) {
            spans.add(start..end);
        }
        // The next run begins at `end + 1` or later, and its 64th digit is the first place that has to be looked at.
        probe = end + LEAST;
    }
}

/// A run within a longer word of letters is base64 or minified code, not hexadecimal.
fn inside_a_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let letter = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    // `0x…`, and the letter of an escape such as `\n…`.
    let prefix = start >= 2 && matches!(bytes.get(start - 2..start), Some(b"0x" | [b'\\', _]));
    (letter(start.checked_sub(1)) && !prefix) || letter(Some(end))
}

fn is_digest(bytes: &[u8], start: usize, end: usize) -> bool {
    const NEAR: usize = 24;
    let before = bytes.get(start.saturating_sub(NEAR)..start).unwrap_or_default().to_ascii_lowercase();
    let before = String::from_utf8_lossy(&before);
    // The word must lead to the digits: between them only what joins a name and its value.
    let announced = DIGESTS.iter().any(|word| {
        before.rfind(word).and_then(|at| before.get(at + word.len()..)).is_some_and(|between| {
            between.len() <= 8 && between.chars().all(|c| " :=-\"'`/@(>_s".contains(c) || c.is_ascii_digit())
        })
    });
    announced || listed_with_a_file(bytes.get(end..).unwrap_or_default())
}

/// `  name` or ` *name`, to the end of the line.
fn listed_with_a_file(after: &[u8]) -> bool {
    (after.starts_with(b"  ") || after.starts_with(b" *")) && after.get(2).is_some_and(|b| b.is_ascii_graphic())
}
