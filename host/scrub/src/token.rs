//! Tokens with a form of their own.

use crate::provider::Provider;
use crate::span::{Found, before, run, run_back};
use crate::tail::Alphabet;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// A word that names how credentials follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Basic,
    Bearer,
    /// `FlyV1 `, `Bot `: words of no language, so whatever has the length of a token is one.
    Own,
}

/// A service's key at `start`, where it is not the middle of a word.
pub(crate) fn prefixed(shape: &Provider, bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    if !word_starts(bytes, start) {
        return None;
    }
    // What is refused is read in part only: `sk-sk-sk-…` must not be read to its end from each of its dashes.
    let shown = shape.alphabet.end(bytes, end, shape.least.max(64));
    if shown - end < shape.least {
        return None;
    }
    let tail = bytes.get(end..shown)?;
    // `sk-learn-contrib-something-long` is a name of words; a key has digits, or no dash for a long way.
    let words = tail.iter().any(|byte| b"-_.".contains(byte));
    if words && !tail.iter().any(u8::is_ascii_digit) && !mixed(tail) {
        return None;
    }
    let to = shape.alphabet.end(bytes, shown, usize::MAX);
    if to - end > shape.most {
        return None;
    }
    Found::new(start..without_stop(bytes, end, to), shape.alphabet)
}

fn mixed(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_uppercase) && bytes.iter().any(u8::is_ascii_lowercase)
}

pub(crate) fn word_starts(bytes: &[u8], start: usize) -> bool {
    before(bytes, start).is_none_or(|before| !before.is_ascii_alphanumeric())
        // In JSON and in logs a token often follows an escape (`\nghp_…`, `%20ghp_…`, a colour that ends with `m`).
        || start.checked_sub(2).and_then(|at| bytes.get(at)) == Some(&b'\\')
        || start.checked_sub(3).and_then(|at| bytes.get(at)) == Some(&b'%')
        || (before(bytes, start) == Some(b'm') && bytes.get(start.saturating_sub(8)..start).is_some_and(|b| b.contains(&0x1b)))
}

/// `header.claims.signature`, each base64url; the signature may be missing.
pub(crate) fn web_token(bytes: &[u8], start: usize) -> Option<Found> {
    const LEAST: usize = 8;
    if !word_starts(bytes, start) {
        return None;
    }
    // A header has some dozen characters; a longer run is some other base64, and looking at it again and again would cost
    // its square.
    const MOST_HEADER: usize = 512;
    let header = Alphabet::Dashed.end(bytes, start, MOST_HEADER);
    if bytes.get(header) != Some(&b'.') {
        return None;
    }
    let claims = Alphabet::Dashed.end(bytes, header + 1, LEAST);
    // A token that is encrypted directly has no key: two dots follow each other.
    if claims - (header + 1) < LEAST && bytes.get(claims) != Some(&b'.') {
        return None;
    }
    let to = Alphabet::Dotted.end(bytes, claims, usize::MAX);
    if to - header <= LEAST {
        return None;
    }
    // A token without a signature ends with a dot; after a signature it is the sentence's.
    let dots = memchr::memchr_iter(b'.', bytes.get(start..to)?).count();
    let to = if dots > 2 { without_stop(bytes, start, to) } else { to };
    Found::new(start..to, Alphabet::Dotted)
}

/// The secret part of a webhook's address, after its fixed part.
pub(crate) fn webhook(bytes: &[u8], end: usize) -> Option<Found> {
    const LEAST: usize = 16;
    let to = Alphabet::Path.end(bytes, end, usize::MAX);
    if to - end < LEAST {
        return None;
    }
    Found::new(end..to, Alphabet::Path)
}

/// What follows `Bearer ` or `Basic `.
pub(crate) fn after_scheme(scheme: Scheme, bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    const LEAST: usize = 16;
    if !word_starts(bytes, start) {
        return None;
    }
    let from = run(bytes, end, 8, |byte| byte == b' ');
    let to = match scheme {
        // A Fly token is a list of macaroons.
        Scheme::Own => run(bytes, from, usize::MAX, |byte| Alphabet::Header.has(byte) || byte == b','),
        _ => Alphabet::Header.end(bytes, from, usize::MAX),
    };
    let value = bytes.get(from..to)?;
    let first = value.get(..LEAST)?;
    match scheme {
        // A long word of prose may follow `basic`; `user:password` in base64 does not look like one once it is decoded.
        Scheme::Basic if !decodes_to_a_pair(value) => return None,
        Scheme::Bearer if first.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-') => return None,
        // `Bearer YOUR_ACCESS_TOKEN`
        Scheme::Bearer if value.iter().all(|byte| byte.is_ascii_uppercase() || b"_-".contains(byte)) => return None,
        Scheme::Bearer if crate::value::is_placeholder(value) => return None,
        Scheme::Own if !value.iter().any(u8::is_ascii_digit) => return None,
        _ => {}
    }
    Found::new(from..without_stop(bytes, from, to), Alphabet::Header)
}

/// The dot that ends a sentence is none of the secret. A long one may have been shown in part, and goes on after a dot.
fn without_stop(bytes: &[u8], from: usize, to: usize) -> usize {
    let value = bytes.get(from..to).unwrap_or_default();
    if value.len() > 2048 { to } else { to - value.iter().rev().take_while(|byte| **byte == b'.').count() }
}

fn decodes_to_a_pair(encoded: &[u8]) -> bool {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    // A whole number of groups, so that a value that was cut decodes too.
    let whole = encoded.get(..if encoded.len() > 1024 { 1024 } else { encoded.len() }).unwrap_or_default();
    GeneralPurpose::new(&STANDARD, config).decode(whole).is_ok_and(|decoded| decoded.contains(&b':'))
}

/// Telegram's `123456789:AAF…`: digits, a colon, 35 characters; the anchor is the last digit, the colon and a capital.
pub(crate) fn bot_token(bytes: &[u8], start: usize) -> Option<Found> {
    const MOST_DIGITS: usize = 13;
    const TAIL: usize = 33;
    let colon = start + 1;
    let first = run_back(bytes, colon, MOST_DIGITS, |byte| byte.is_ascii_digit());
    if !(6..MOST_DIGITS).contains(&(colon - first)) || !word_starts(bytes, first) && !after_bot(bytes, first) {
        return None;
    }
    let to = Alphabet::Dashed.end(bytes, colon + 1, usize::MAX);
    if to - (colon + 1) < TAIL {
        return None;
    }
    Found::new(first..to, Alphabet::Dashed)
}

/// `https://api.telegram.org/bot123456:…`.
fn after_bot(bytes: &[u8], first: usize) -> bool {
    bytes.get(first.saturating_sub(4)..first) == Some(b"/bot")
}

/// Discord's `MTA….Gxxxxx.…`: a number in base64, a date, a signature.
pub(crate) fn discord(bytes: &[u8], start: usize) -> Option<Found> {
    if !word_starts(bytes, start) {
        return None;
    }
    let number = Alphabet::Plain.end(bytes, start, 30);
    let date = Alphabet::Dashed.end(bytes, number + 1, 8);
    let to = Alphabet::Dashed.end(bytes, date + 1, usize::MAX);
    let dots = bytes.get(number) == Some(&b'.') && bytes.get(date) == Some(&b'.');
    let lengths = (22..=28).contains(&(number - start)) && date - number == 7 && to.saturating_sub(date + 1) >= 27;
    if !dots || !lengths {
        return None;
    }
    Found::new(start..to, Alphabet::Dashed)
}

/// Terraform's `xxxxxxxxxxxxxx.atlasv1.…`; the anchor is its middle.
pub(crate) fn atlas(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    let first = run_back(bytes, start, 16, |byte| byte.is_ascii_alphanumeric());
    let to = Alphabet::Dashed.end(bytes, end, usize::MAX);
    if start - first < 10 || to - end < 40 {
        return None;
    }
    Found::new(first..to, Alphabet::Dashed)
}
