//! A name and its secret: `password=…`, `"token": "…"`, `Authorization: Basic …`, `SECRET_KEY=…`, `--api-key …`.

use crate::anchor::Strength;
use crate::span::{run, run_back};
use crate::value::{is_reference, is_secret};
use std::ops::Range;

/// Longest name that is looked at around an anchor.
const MOST_NAME: usize = 64;

/// The value after a name that ends with the anchor.
pub(crate) fn assigned(strength: Strength, bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let name_start = run_back(bytes, start, MOST_NAME, is_name);
    let name = bytes.get(name_start..end)?;
    if bytes.get(end).copied().is_some_and(is_word) || is_harmless(&name.to_ascii_lowercase()) {
        return None;
    }
    let after_quote = closing_quote(bytes, end);
    // `"Password: "` is a label: the quote after its colon closes it, and what follows is code.
    let in_string =
        after_quote == end && name_start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|b| is_quote(*b));
    let gap = run(bytes, after_quote, 4, |b| b == b' ' || b == b'\t');
    let separator = separator(bytes, gap);
    let is_flag = name.starts_with(b"--");
    if separator == gap && !(is_flag && gap > end) {
        return None;
    }
    let mut from = run(bytes, separator, 8, |b| b == b' ' || b == b'\t');
    if in_string && quote_length(bytes, from).is_some() {
        return None;
    }
    let mut header = false;
    if name.to_ascii_lowercase().ends_with(b"authorization") {
        (from, header) = skip_scheme(bytes, from);
    }
    let place = Place {
        strength,
        sign: if is_flag && separator == gap { b' ' } else { *bytes.get(separator - 1)? },
        spaced: gap > after_quote || from > separator,
        in_query: name_start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|b| *b == b'?' || *b == b'&'),
        header,
        variable: false,
    };
    value_at(&place, bytes, from)
}

/// The value of an environment variable whose name has the anchor in it, all in upper case and with no space around `=`.
pub(crate) fn variable(bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let upper = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    let anchor = bytes.get(start..end)?;
    if !anchor.iter().all(|b| upper(*b)) {
        return None;
    }
    let name_start = run_back(bytes, start, MOST_NAME, upper);
    let name_end = run(bytes, end, MOST_NAME, upper);
    let name = bytes.get(name_start..name_end)?;
    if bytes.get(name_end) != Some(&b'=') || !variable_counts(anchor, name) {
        return None;
    }
    if name_start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_lowercase) {
        return None;
    }
    let place =
        Place { strength: Strength::Likely, sign: b'=', spaced: false, in_query: false, header: false, variable: true };
    let from = name_end + 1;
    if anchor == b"VIRTUAL_" {
        if is_reference(bytes.get(from..bytes.len().min(from + 16))?) {
            return None;
        }
        let to = run(bytes, from, usize::MAX, |b| !b.is_ascii_whitespace());
        return (to - from >= 4).then_some(from..to);
    }
    value_at(&place, bytes, from)
}

/// `MONKEY=` and `KEYBOARD=` only contain a word; a DSN's name is the whole name or its end.
fn variable_counts(anchor: &[u8], name: &[u8]) -> bool {
    let names_a_file = [&b"_FILE"[..], b"_PATH", b"_DIR"].iter().any(|end| name.ends_with(end));
    let only_contains = ["MONKEY", "DONKEY", "TURKEY", "HOCKEY", "KEYBOARD", "KEYWORD"]
        .iter()
        .any(|w| name.windows(w.len()).any(|part| part == w.as_bytes()));
    let placed = match anchor {
        b"VIRTUAL_" => name.starts_with(anchor),
        b"DSN" => name == b"DSN" || name.ends_with(b"_DSN"),
        _ => true,
    };
    placed && !names_a_file && !only_contains
}

/// Names that end like a secret's and hold none: places in a list of results, counts, kinds.
pub(crate) fn is_harmless(lower: &[u8]) -> bool {
    const HARMLESS: [&str; 10] = [
        "page_token",
        "pagetoken",
        "page-token",
        "next_token",
        "nexttoken",
        "continuation_token",
        "continuationtoken",
        "sync_token",
        "synctoken",
        "cancellation_token",
    ];
    HARMLESS.iter().any(|name| lower.ends_with(name.as_bytes()))
}

/// Position after `:`, `=`, `:=`, `=>` or `==` at `at`, or `at`. `::` joins the parts of a path.
fn separator(bytes: &[u8], at: usize) -> usize {
    let end = run(bytes, at, 3, |b| b":=>".contains(&b));
    match bytes.get(at..end) {
        Some([b'>', ..] | [b':', b':', ..]) | None => at,
        Some(_) => end,
    }
}

/// How a value stands after its name.
struct Place {
    strength: Strength,
    /// The last character of what separates them: `:`, `=`, `>` or a space.
    sign: u8,
    /// Spaces around the separator.
    spaced: bool,
    /// In a URL's query, which ends at `&`.
    in_query: bool,
    /// After `Authorization: Basic`: no code stands there.
    header: bool,
    /// After `NAME=`: likewise, and the value goes on to the next space (`user:pw@tcp(db)/x`).
    variable: bool,
}

fn value_at(place: &Place, bytes: &[u8], from: usize) -> Option<Range<usize>> {
    if let Some(open) = quote_length(bytes, from) {
        return quoted(place, bytes, from, open);
    }
    // Markdown quotes with backticks; after `=` they are a command whose output is the value.
    if place.sign == b':' && place.spaced && bytes.get(from) == Some(&b'`') {
        return quoted(place, bytes, from, 1);
    }
    if is_reference(bytes.get(from..bytes.len().min(from + 16))?) {
        return None;
    }
    let ends = |b: u8| {
        b.is_ascii_whitespace()
            || b"\"'`<\\".contains(&b)
            || (!place.variable && b",;)}]|([{".contains(&b))
            || (place.in_query && (b == b'&' || b == b'#'))
    };
    let to = run(bytes, from, usize::MAX, |b| !ends(b));
    let value = bytes.get(from..to)?;
    let secret = is_secret(place.strength, false, value)
        && (place.header || place.variable || !looks_like_code(place, value, bytes.get(to..)?));
    secret.then(|| from..whole_value(bytes, from, to))
}

/// A secret may have the characters in it that end a name's value in program text: `$argon2id$m=1,t=2`, `pw(1`. What looks
/// like one and goes straight on is taken to the next space.
fn whole_value(bytes: &[u8], from: usize, to: usize) -> usize {
    let plain = bytes.get(from..to).is_some_and(|value| value.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_'));
    match bytes.get(to..) {
        Some([b',' | b'(' | b'[' | b'{', next, ..]) if !plain && next.is_ascii_graphic() && !is_quote(*next) => {
            run(bytes, to, usize::MAX, |b| !b.is_ascii_whitespace() && !b"\"'`<\\".contains(&b))
        }
        _ => to,
    }
}

/// A quoted value goes without its quotes. Looking for the closing one ends with the line, and costs no more than what is
/// redacted or a bounded number of bytes.
fn quoted(place: &Place, bytes: &[u8], from: usize, open: usize) -> Option<Range<usize>> {
    const MOST: usize = 4096;
    let body = from + open;
    let quote = *bytes.get(body - 1)?;
    if is_reference(bytes.get(body..bytes.len().min(body + 16))?) {
        return None;
    }
    let escaped = open > 1;
    let mut to = body;
    while let Some(byte) = bytes.get(to)
        && to - body < MOST
    {
        match byte {
            b'\n' => break,
            b'\\' if escaped => break,
            b'\\' => to += 1,
            _ if *byte == quote => break,
            _ => {}
        }
        to += 1;
    }
    let to = to.min(bytes.len());
    is_secret(place.strength, true, bytes.get(body..to)?).then_some(body..to)
}

/// Whether an unquoted value is a type, a call, another name or the next word of a sentence.
fn looks_like_code(place: &Place, value: &[u8], after: &[u8]) -> bool {
    let identifier = value.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_');
    let path = value.contains(&b'.') && value.iter().all(|b| b.is_ascii_alphabetic() || b"_.".contains(b));
    // `token: Vec<u8>`, `token = load(`, `secret = conf[`.
    if (identifier || path) && after.first().is_some_and(|b| b"<([{".contains(b)) {
        return true;
    }
    if path && place.spaced {
        return true;
    }
    if !identifier {
        return false;
    }
    // A sentence goes on with a word. In a list of arguments, a name that speaks of secrets itself is a variable.
    let sentence = matches!(after, [b' ', next, ..] if next.is_ascii_alphanumeric() || *next == b'=');
    let variable = matches!(after, [b',' | b')', ..]) && speaks_of_secrets(value);
    let statement = after.starts_with(b";");
    let capital = value.first().is_some_and(u8::is_ascii_uppercase) && value.get(1).is_some_and(u8::is_ascii_lowercase);
    match place.sign {
        b':' => place.spaced && (sentence || variable || statement || capital),
        b'=' => variable || (place.spaced && (sentence || statement || speaks_of_secrets(value))),
        b' ' => value.iter().all(u8::is_ascii_uppercase),
        _ => false,
    }
}

fn speaks_of_secrets(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    ["token", "password", "passwd", "secret", "key", "pwd", "cred", "auth"]
        .iter()
        .any(|word| lower.windows(word.len()).any(|part| part == word.as_bytes()))
}

/// `Basic `, `Bearer ` and the like after `Authorization:`; whether one was there.
fn skip_scheme(bytes: &[u8], from: usize) -> (usize, bool) {
    const SCHEMES: [&str; 8] = ["basic", "bearer", "token", "digest", "negotiate", "apikey", "aws4-hmac-sha256", "bot"];
    let open = quote_length(bytes, from).unwrap_or(0);
    let word_end = run(bytes, from + open, 20, |b| b.is_ascii_alphanumeric() || b == b'-');
    let word = bytes.get(from + open..word_end).unwrap_or_default();
    if bytes.get(word_end) == Some(&b' ') && SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme.as_bytes())) {
        return (run(bytes, word_end, 8, |b| b == b' '), true);
    }
    (from, false)
}

/// Position after a closing quote (with its escapes) at `at`, or `at`.
fn closing_quote(bytes: &[u8], at: usize) -> usize {
    quote_length(bytes, at).map_or(at, |length| at + length)
}

/// Length of a quote at `at` with up to three backslashes before it.
fn quote_length(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = run(bytes, at, 3, |b| b == b'\\');
    bytes.get(quote).copied().filter(|b| is_quote(*b)).map(|_| quote + 1 - at)
}

fn is_quote(byte: u8) -> bool {
    byte == b'"' || byte == b'\''
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || byte == b'-' || byte == b'.'
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
