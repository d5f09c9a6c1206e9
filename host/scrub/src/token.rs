//! Tokens with a form of their own.

use crate::anchor::Scheme;
use crate::span::{Spans, run, run_back};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::ops::Range;

/// A vendor's token: a fixed start and at least so many characters of a kind.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) prefix: &'static str,
    pub(crate) least: usize,
    pub(crate) tail: Tail,
}

/// Characters of a token after its start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Letters and digits.
    Plain,
    /// Upper-case letters and digits.
    Upper,
    /// Letters, digits, `_`.
    Under,
    /// Letters, digits, `_`, `-`.
    Dashed,
    /// Letters, digits, `_`, `-`, `.`.
    Dotted,
    /// Letters, digits, `+`, `/`, `=`.
    Base64,
}

impl Tail {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Under => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dashed => is_dashed(byte),
            Self::Dotted => is_dashed(byte) || byte == b'.',
            Self::Base64 => byte.is_ascii_alphanumeric() || b"+/=".contains(&byte),
        }
    }
}

fn is_dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// A token at `start`, where it is not the middle of a word.
pub(crate) fn prefixed(shape: &Shape, bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    // Anchors are found in any case; a vendor's prefix has one.
    if bytes.get(start..end)? != shape.prefix.as_bytes() || !word_starts(bytes, start) {
        return None;
    }
    let enough = run(bytes, end, shape.least, |byte| shape.tail.has(byte));
    if enough - end < shape.least {
        return None;
    }
    let tail = bytes.get(end..enough)?;
    // `sk-learn-contrib-something-long` is a name of words; a key has digits, or no dash for a long way.
    if shape.tail == Tail::Dashed && tail.contains(&b'-') && !tail.iter().any(u8::is_ascii_digit) && !mixed(tail) {
        return None;
    }
    Some(start..run(bytes, enough, usize::MAX, |byte| shape.tail.has(byte)))
}

fn mixed(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_uppercase) && bytes.iter().any(u8::is_ascii_lowercase)
}

fn word_starts(bytes: &[u8], start: usize) -> bool {
    start.checked_sub(1).and_then(|before| bytes.get(before)).is_none_or(|before| !before.is_ascii_alphanumeric())
        // In JSON and in logs a token often follows an escape: `\nghp_…`.
        || start.checked_sub(2).and_then(|at| bytes.get(at)) == Some(&b'\\')
}

/// `header.claims.signature`, each base64url; the signature may be missing.
pub(crate) fn web_token(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    const LEAST: usize = 8;
    if bytes.get(start..start + 3)? != b"eyJ" || !word_starts(bytes, start) {
        return None;
    }
    // A header has some dozen characters; a longer run is some other base64, and looking at it again and again would cost
    // its square.
    const MOST_HEADER: usize = 512;
    let header = run(bytes, start, MOST_HEADER, is_dashed);
    if bytes.get(header) != Some(&b'.') {
        return None;
    }
    let claims = run(bytes, header + 1, LEAST, is_dashed);
    if claims - (header + 1) < LEAST {
        return None;
    }
    Some(start..run(bytes, claims, usize::MAX, |byte| is_dashed(byte) || byte == b'.'))
}

/// The secret part of a webhook's address, after its fixed part.
pub(crate) fn webhook(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    const LEAST: usize = 16;
    let in_path = |byte: u8| is_dashed(byte) || byte == b'/';
    let enough = run(bytes, end, LEAST, in_path);
    (enough - end >= LEAST).then(|| end..run(bytes, enough, usize::MAX, in_path))
}

/// What follows `Bearer ` or `Basic `.
pub(crate) fn after_scheme(scheme: Scheme, bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    const LEAST: usize = 16;
    if !word_starts(bytes, start) {
        return None;
    }
    let from = run(bytes, end, 8, |byte| byte == b' ');
    let has = |byte: u8| is_dashed(byte) || b".~+/=".contains(&byte);
    let enough = run(bytes, from, LEAST, has);
    if enough - from < LEAST {
        return None;
    }
    let to = match scheme {
        // A long word of prose may follow `basic`; `user:password` in base64 does not look like one once it is decoded.
        Scheme::Basic => {
            const MOST: usize = 4096;
            let to = run(bytes, from, MOST, has);
            decodes_to_a_pair(bytes.get(from..to)?).then_some(to)?
        }
        Scheme::Bearer if bytes.get(from..enough)?.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-') => {
            return None;
        }
        Scheme::Bearer => run(bytes, enough, usize::MAX, has),
    };
    // The dot that ends a sentence.
    let dots = bytes.get(from..to)?.iter().rev().take_while(|byte| **byte == b'.').count();
    Some(from..to - dots)
}

fn decodes_to_a_pair(encoded: &[u8]) -> bool {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&STANDARD, config).decode(encoded).is_ok_and(|decoded| decoded.contains(&b':'))
}

/// Telegram's `123456789:AAF…`: digits, a colon, 35 characters. It has no anchor but the colon.
pub(crate) fn bot_tokens(bytes: &[u8], spans: &mut Spans) {
    const DIGITS: Range<usize> = 7..13;
    const TAIL: usize = 33;
    let mut done = 0;
    for colon in memchr::memchr_iter(b':', bytes) {
        let start = run_back(bytes, colon, DIGITS.end, |byte| byte.is_ascii_digit());
        if start < done || !DIGITS.contains(&(colon - start)) || !word_starts(bytes, start) {
            continue;
        }
        let enough = run(bytes, colon + 1, TAIL, is_dashed);
        let tail = bytes.get(colon + 1..enough).unwrap_or_default();
        // A hash after a number (`12345678:deadbeef…`) has no upper-case letter, a token always has some.
        if tail.len() == TAIL && tail.iter().any(u8::is_ascii_uppercase) {
            done = run(bytes, enough, usize::MAX, is_dashed);
            spans.add(start..done);
        }
    }
}
