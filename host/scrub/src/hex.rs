//! Long hexadecimal runs: raw keys are written so. So are digests, which must stay; the class is an operator's switch.
//!
//! 64 and more hexadecimal digits go, unless something beside them says that they are a digest: an algorithm's name before
//! (`sha256:…`, `sha512-…`, `"digest": "…"`), or a file's name after, as `sha256sum` prints. A git commit (40) and a UUID are shorter.

use crate::span::{Span, run, run_back};

/// 256 bits.
const LEAST: usize = 64;

/// A longer run is no digest, whatever stands around it.
const MOST: usize = 1024;

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

/// Where the search stands.
#[derive(Default)]
pub(crate) struct Walk {
    /// No run that begins before is undecided.
    at: usize,
    /// The run before `at` goes on.
    open: bool,
}

impl Walk {
    /// Finds runs; gives the place before which none begins any more.
    pub(crate) fn advance(&mut self, text: &[u8], closed: bool, spans: &mut Vec<Span>) -> usize {
        loop {
            if self.open {
                let end = run(text, self.at, usize::MAX, |b| b.is_ascii_hexdigit());
                if end > self.at {
                    spans.push(Span { range: self.at..end, class: "long-hex" });
                }
                self.at = end;
                if end == text.len() && !closed {
                    return end;
                }
                self.open = false;
            }
            // A run of 64 covers a multiple of 64, so only those places are looked at.
            let probe = self.at + LEAST - 1;
            let Some(byte) = text.get(probe) else {
                return run_back(text, text.len(), LEAST, |b| b.is_ascii_hexdigit()).max(self.at.min(text.len()));
            };
            if !byte.is_ascii_hexdigit() {
                self.at = probe + 1;
                continue;
            }
            let start = run_back(text, probe, LEAST - 1, |b| b.is_ascii_hexdigit());
            let end = run(text, start, MOST, |b| b.is_ascii_hexdigit());
            if !closed && end - start < MOST && text.len() < end + 3 {
                return start;
            }
            self.open = end - start == MOST;
            if end - start >= LEAST && (self.open || !inside_a_word(text, start, end) && !is_digest(text, start, end)) {
                spans.push(Span { range: start..end, class: "long-hex" });
            }
            self.at = end;
        }
    }

    pub(crate) fn shift(&mut self, by: usize) {
        self.at = self.at.saturating_sub(by);
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
