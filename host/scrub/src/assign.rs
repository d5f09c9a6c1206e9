//! A name and its secret: `password=…`, `"token": "…"`, `Authorization: Basic …`, `SECRET_KEY=…`, `--api-key …`.

use crate::REDACTED;
use crate::anchor::Strength;
use crate::code::looks_like_code;
use crate::span::{Found, before, run, run_back};
use crate::tail::Alphabet;
use crate::value::{is_reference, is_secret};

/// Longest name that is looked at around an anchor.
const MOST_NAME: usize = 64;

/// How far back the other fields of a connection string or of a login are looked for.
const MOST_FIELDS: usize = 200;

/// The value after a name that ends with the anchor. What stands before `floor` was judged already.
pub(crate) fn assigned(strength: Strength, bytes: &[u8], start: usize, end: usize, floor: usize) -> Option<Found> {
    if bytes.get(end).copied().is_some_and(is_word) {
        return None;
    }
    let name_start = run_back(bytes, start, MOST_NAME, is_name);
    let name = bytes.get(name_start..end)?.to_ascii_lowercase();
    if is_harmless(&name) {
        return None;
    }
    if bytes.get(end) == Some(&b'>') && before(bytes, name_start) == Some(b'<') {
        return element(strength, bytes, end + 1);
    }
    let after_quote = closing_quote(bytes, end);
    // `"Password: "` is a label: the quote after its colon closes it, and what follows is code.
    let in_string = after_quote == end && before(bytes, name_start).is_some_and(is_quote);
    let gap = run(bytes, after_quote, 4, |b| b == b' ' || b == b'\t');
    let separator = separator(bytes, gap);
    let is_flag = name.starts_with(b"--");
    let is_login = separator == gap && gap > end && name == b"password" && has_fields(bytes, floor, name_start, LOGIN);
    if separator == gap && !(is_flag && gap > end) && !is_login {
        return None;
    }
    let from = value_start(bytes, separator);
    if in_string && quote_length(bytes, from).is_some() {
        return None;
    }
    let in_query = matches!(before(bytes, name_start), Some(b'?' | b'&'));
    // Elsewhere a signature is for everybody to check.
    if !in_query && (name.ends_with(b"sig") || name.ends_with(b"signature")) {
        return None;
    }
    let (from, header) = if name.ends_with(b"authorization") { skip_scheme(bytes, from)? } else { (from, false) };
    let sign = if separator == gap { b' ' } else { before(bytes, separator)? };
    let place = Place {
        strength,
        sign,
        spaced: gap > after_quote || from > separator,
        compared: bytes.get(gap..separator).is_some_and(|sign| matches!(sign, b"==" | b"===" | b"=>")),
        in_query,
        in_fields: sign == b'='
            && from == separator
            && gap == after_quote
            && has_fields(bytes, floor, name_start, FIELDS),
        header: header || is_login,
        variable: false,
    };
    value_at(&place, bytes, from)
}

/// Whether a name's line ends before its value, so that the next line may have it: `password:`, `password: |-`.
pub(crate) fn goes_on(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_end();
    rest.len() <= 24 && rest.contains(&b':') && rest.last().is_some_and(|b| b":|>-+".contains(b))
}

/// Position of the value after its separator: in YAML and JSON it may stand in the next line.
fn value_start(bytes: &[u8], separator: usize) -> usize {
    let blank = |b: u8| b == b' ' || b == b'\t';
    let from = run(bytes, separator, 8, blank);
    let block = run(bytes, from, 2, |b| b"|>-+".contains(&b));
    let line = run(bytes, block, 1, |b| b == b'\r');
    let block_ends = block == from || matches!(bytes.get(from), Some(b'|' | b'>'));
    if block_ends && bytes.get(line) == Some(&b'\n') && before(bytes, separator) == Some(b':') {
        let next = run(bytes, line + 1, 64, blank);
        // Without a mark of a block, only a quoted value may stand in the next line; what else stands there has a name of its own.
        if next > line + 1 && (block > from || quote_length(bytes, next).is_some_and(|_| is_last(bytes, next))) {
            return next;
        }
    }
    from
}

/// Whether what is quoted there is a value, not the next name.
fn is_last(bytes: &[u8], quote: usize) -> bool {
    let close = run(bytes, quote + 1, 256, |b| !is_quote(b) && b != b'\n');
    bytes.get(close + 1) != Some(&b':')
}

/// `<password>…</password>`.
fn element(strength: Strength, bytes: &[u8], from: usize) -> Option<Found> {
    let to = run(bytes, from, 1024, |b| b != b'<' && b != b'\n');
    let value = bytes.get(from..to)?.trim_ascii();
    // What went from it may have been what kept it from being one.
    let whole = bytes.get(to..)?.starts_with(b"</") && memchr::memmem::find(value, REDACTED.as_bytes()).is_none();
    let secret = whole && is_secret(strength, true, value);
    if !secret {
        return None;
    }
    Found::new(from..to, Alphabet::Word)
}

/// Names that stand beside a password in a connection string, with their sign.
const FIELDS: &[&[u8]] =
    &[b"server=", b"data source=", b"host=", b"user id=", b"uid=", b"user=", b"username=", b"database=", b"dbname="];

/// What stands before a password in `.netrc`.
const LOGIN: &[&[u8]] = &[b"login "];

/// Looks no further back than to what is taken out, or was in an earlier pass: the text before it may have been shortened.
fn has_fields(bytes: &[u8], floor: usize, name_start: usize, fields: &[&[u8]]) -> bool {
    let line_start = run_back(bytes, name_start, MOST_FIELDS, |b| b != b'\n').max(floor);
    let line = bytes.get(line_start..name_start).unwrap_or_default();
    let line = memchr::memmem::rfind(line, REDACTED.as_bytes()).and_then(|at| line.get(at..)).unwrap_or(line);
    if !matches!(line.last(), Some(b';' | b' ' | b'"' | b'\'')) {
        return false;
    }
    let lower = line.to_ascii_lowercase();
    fields.iter().any(|field| memchr::memmem::find(&lower, field).is_some())
}

/// The value of an environment variable whose name has the anchor in it, all in upper case and with no space around `=`.
pub(crate) fn variable(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
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
    if before(bytes, name_start).is_some_and(|b| b.is_ascii_lowercase()) {
        return None;
    }
    let place = Place {
        strength: Strength::Likely,
        sign: b'=',
        spaced: false,
        compared: false,
        in_query: matches!(before(bytes, name_start), Some(b'?' | b'&')),
        in_fields: false,
        header: false,
        variable: true,
    };
    let from = name_end + 1;
    if anchor == b"VIRTUAL_" {
        if is_reference(bytes.get(from..bytes.len().min(from + 16))?) {
            return None;
        }
        let to = run(bytes, from, usize::MAX, |b| !b.is_ascii_whitespace());
        return Found::new(from..to, Alphabet::Word)
            .filter(|_| to - from >= 4 && !bytes.get(from..to).is_some_and(is_judged));
    }
    value_at(&place, bytes, from)
}

/// `MONKEY=` and `KEYBOARD=` only contain a word; a DSN's name is the whole name or its end; `TOKEN_URL=` is a place.
fn variable_counts(anchor: &[u8], name: &[u8]) -> bool {
    const OTHERS: &[&[u8]] = &[
        b"MONKEY",
        b"DONKEY",
        b"TURKEY",
        b"HOCKEY",
        b"KEYBOARD",
        b"KEYWORD",
        b"KEYMAP",
        b"KEYSPACE",
        b"KEYCLOAK",
        b"KEYCODE",
        b"PUBLIC_KEY",
        b"PUBLISHABLE_KEY",
        b"PUBKEY",
        b"CACHE_KEY",
        b"PRIMARY_KEY",
        b"FOREIGN_KEY",
        b"MAX_TOKENS",
        b"_SUBNET",
    ];
    const ENDS: &[&[u8]] = &[
        b"_FILE",
        b"_PATH",
        b"_DIR",
        b"_TOKENS",
        b"_COUNT",
        b"_TTL",
        b"_TYPE",
        b"_ALGORITHM",
        b"_KEY_ID",
        b"_ENDPOINT",
        b"_URL",
        b"_URI",
        b"_HEADER",
        b"_LIFETIME",
        b"_EXPIRY",
        b"_EXPIRES_IN",
        b"_NAME",
    ];
    match anchor {
        b"VIRTUAL_" => return name.starts_with(anchor),
        b"DSN" => return name == b"DSN" || name.ends_with(b"_DSN"),
        b"_PASS" => return name.ends_with(b"_PASS"),
        _ if anchor.ends_with(b"_URL") || anchor.ends_with(b"_URI") => return true,
        _ => {}
    }
    let other =
        ENDS.iter().any(|end| name.ends_with(end)) || OTHERS.iter().any(|w| memchr::memmem::find(name, w).is_some());
    !other
}

/// Names that end like a secret's and hold none: places in a list of results, counts, kinds.
pub(crate) fn is_harmless(lower: &[u8]) -> bool {
    const HARMLESS: [&str; 34] = [
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
        "cancellationtoken",
        "public_key",
        "public-key",
        "publickey",
        "publishable_key",
        "pubkey",
        "cache_key",
        "cache-key",
        "cachekey",
        "primary_key",
        "primarykey",
        "foreign_key",
        "foreignkey",
        "sort_key",
        "sortkey",
        "partition_key",
        "partitionkey",
        "idempotency_key",
        "idempotency-key",
        "idempotencykey",
        "hostkey",
        "object_key",
        "monkey",
        "sec-websocket-key",
    ];
    // A bare `key` names whatever it likes.
    lower == b"key" || HARMLESS.iter().any(|name| lower.ends_with(name.as_bytes()))
}

/// Position after `:`, `=`, `:=`, `=>`, `==` or `===` at `at`, or `at`. `::` joins the parts of a path.
fn separator(bytes: &[u8], at: usize) -> usize {
    const SIGNS: [&[u8]; 6] = [b"===", b"==", b"=>", b":=", b"=", b":"];
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.starts_with(b"::") {
        return at;
    }
    SIGNS.iter().find(|sign| rest.starts_with(sign)).map_or(at, |sign| at + sign.len())
}

/// How a value stands after its name.
pub(crate) struct Place {
    strength: Strength,
    /// The last character of what separates them: `:`, `=`, `>` or a space.
    pub(crate) sign: u8,
    /// Spaces around the separator.
    pub(crate) spaced: bool,
    /// `==` and `=>`: of program text, which gives a value only in quotes.
    compared: bool,
    /// In a URL's query, which ends at `&`.
    in_query: bool,
    /// A field of a connection string beside others: whatever stands there is the password.
    in_fields: bool,
    /// After `Authorization: Basic`: no code stands there.
    header: bool,
    /// After `NAME=`: likewise, and the value goes on to the next space (`user:pw@tcp(db)/x`).
    variable: bool,
}

fn value_at(place: &Place, bytes: &[u8], from: usize) -> Option<Found> {
    if let Some(open) = quote_length(bytes, from) {
        return quoted(place, bytes, from, open);
    }
    // Markdown quotes with backticks; after `=` they are a command whose output is the value.
    if place.sign == b':' && place.spaced && bytes.get(from) == Some(&b'`') {
        return quoted(place, bytes, from, 1);
    }
    // After an option without a value comes the next one.
    if place.sign == b' ' && bytes.get(from) == Some(&b'-') {
        return None;
    }
    if place.compared || is_reference(bytes.get(from..bytes.len().min(from + 64))?) {
        return None;
    }
    let ends = |b: u8| {
        b.is_ascii_whitespace()
            || b"\"'`<\\".contains(&b)
            || (place.in_fields && b == b';')
            || (!place.variable && !place.in_fields && b",;)}]|([{".contains(&b))
            || (place.in_query && (b == b'&' || b == b'#'))
    };
    let to = run(bytes, from, usize::MAX, |b| !ends(b));
    let to = from + next_field(bytes.get(from..to)?);
    let value = bytes.get(from..to)?;
    if is_reference(value) || bytes.get(to..)?.starts_with(REDACTED.as_bytes()) || is_judged(value) {
        return None;
    }
    // Shorter ones are words of minified code.
    let whole = if place.in_fields || value.len() < 4 { to } else { whole_value(bytes, from, to) };
    let secret =
        if place.in_fields { !value.is_empty() } else { is_secret(place.strength, false, bytes.get(from..whole)?) };
    let sure = place.header || place.variable || place.in_fields || place.in_query;
    if !secret || (!sure && looks_like_code(place, value, bytes.get(to..)?)) {
        return None;
    }
    Found::new(from..whole, Alphabet::Word)
}

/// A value with a gap in it was judged when the gap was text, and left: a text that is cleaned again must stay as it is.
fn is_judged(value: &[u8]) -> bool {
    memchr::memmem::find(value, REDACTED.as_bytes()).is_some()
}

/// Length of the value before the next field of a form (`&scope=…`) or the next command (`&& …`).
fn next_field(value: &[u8]) -> usize {
    let field = |at: &usize| {
        let rest = value.get(at + 1..).unwrap_or_default();
        let name = rest.iter().take(MOST_NAME).take_while(|b| is_name(**b)).count();
        rest.first() == Some(&b'&') || (name > 0 && rest.get(name) == Some(&b'='))
    };
    memchr::memchr_iter(b'&', value).take(MOST_NAME).find(field).unwrap_or(value.len())
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

/// A quoted value goes without its quotes; looking for the closing one ends with the line.
fn quoted(place: &Place, bytes: &[u8], from: usize, open: usize) -> Option<Found> {
    let body = from + open;
    let quote = *bytes.get(body - 1)?;
    // Python and TOML: three quotes.
    let body = if bytes.get(body..body + 2) == Some(&[quote, quote]) { body + 2 } else { body };
    let escaped = open > 1;
    let mut to = body;
    while let Some(byte) = bytes.get(to) {
        match byte {
            b'\n' => break,
            b'\\' if escaped => break,
            b'\\' if bytes.get(to + 1).is_some_and(|b| *b != b'\n') => to += 1,
            _ if *byte == quote => break,
            _ => {}
        }
        to += 1;
    }
    let to = to.min(bytes.len());
    let value = bytes.get(body..to)?;
    if is_reference(value) || is_reference(value.get(..value.len().min(64))?) || is_judged(value) {
        return None;
    }
    let strength = if place.in_fields { Strength::Surely } else { place.strength };
    if !is_secret(strength, true, value) {
        return None;
    }
    Found::new(body..to, Alphabet::Until(quote))
}

/// `Basic `, `Bearer ` and the like after `Authorization:`, and whether one was there; nothing where the scheme alone is quoted.
fn skip_scheme(bytes: &[u8], from: usize) -> Option<(usize, bool)> {
    const SCHEMES: [&str; 9] =
        ["basic", "bearer", "token", "negotiate", "apikey", "aws4-hmac-sha256", "bot", "key", "genie-key"];
    let open = quote_length(bytes, from).unwrap_or(usize::from(bytes.get(from) == Some(&b'`')));
    let word_end = run(bytes, from + open, 20, |b| b.is_ascii_alphanumeric() || b == b'-');
    let word = bytes.get(from + open..word_end).unwrap_or_default();
    if bytes.get(word_end) == Some(&b' ') && SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme.as_bytes())) {
        let value = run(bytes, word_end, 8, |b| b == b' ');
        return quote_length(bytes, value).is_none().then_some((value, true));
    }
    Some((from, false))
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
