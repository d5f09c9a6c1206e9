//! Program text and prose, which name secrets all day and hold none.

use crate::assign::Place;

/// Whether an unquoted value is a type, a call, another name or the next word of a sentence.
pub(crate) fn looks_like_code(place: &Place, value: &[u8], after: &[u8]) -> bool {
    let identifier = value.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_');
    let path = value.contains(&b'.') && value.iter().all(|b| b.is_ascii_alphabetic() || b"_.".contains(b));
    // `token: Vec<u8>`, `token = load(`, `secret = conf[`.
    if (identifier || path || is_member(value)) && after.first().is_some_and(|b| b"<([{".contains(b)) {
        return true;
    }
    if (path && (place.spaced || speaks_of_secrets(value))) || is_member(value) || has_operator(value) {
        return true;
    }
    if !identifier {
        return false;
    }
    // A sentence goes on with a word. In a list of arguments, a name that speaks of secrets itself is a variable.
    let sentence = matches!(after, [b' ', next, ..] if next.is_ascii_alphanumeric() || *next == b'=');
    let closes = matches!(after, [b',' | b')' | b'}', ..] | [b' ', b'}' | b')' | b']', ..]);
    // `accessToken`, `new_password`: two words, of which one is what a secret is called.
    let two_words = value.contains(&b'_') || value.iter().skip(1).any(u8::is_ascii_uppercase);
    let variable = speaks_of_secrets(value) && (closes || (place.spaced && two_words));
    let statement = after.starts_with(b";");
    let capital = value.first().is_some_and(u8::is_ascii_uppercase) && value.get(1).is_some_and(u8::is_ascii_lowercase);
    match place.sign {
        b':' => place.spaced && (sentence || variable || statement || capital),
        b'=' => variable || (place.spaced && (sentence || statement || speaks_of_secrets(value))),
        b' ' => value.iter().all(u8::is_ascii_uppercase),
        _ => false,
    }
}

/// `this.token2`, `e.password`, `req.body.auth1`: the first part is a word of program text or a letter or two.
fn is_member(value: &[u8]) -> bool {
    const ROOTS: [&[u8]; 22] = [
        b"this",
        b"self",
        b"config",
        b"settings",
        b"options",
        b"opts",
        b"args",
        b"params",
        b"props",
        b"state",
        b"req",
        b"request",
        b"res",
        b"response",
        b"data",
        b"user",
        b"ctx",
        b"conf",
        b"window",
        b"document",
        b"form",
        b"process",
    ];
    let value = value.strip_suffix(b"?").unwrap_or(value);
    let mut parts = value.split(|b| *b == b'.').map(|part| part.strip_suffix(b"?").unwrap_or(part));
    let Some(first) = parts.next() else { return false };
    let name = |part: &[u8]| {
        part.len() <= if part.iter().any(u8::is_ascii_digit) { 12 } else { 24 }
            && part.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_' || *b == b'$')
            && part.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'$')
    };
    let root = (first.len() <= 2 && name(first)) || ROOTS.contains(&first);
    let rest: Vec<&[u8]> = parts.take(9).collect();
    root && !rest.is_empty() && rest.len() < 9 && rest.iter().all(|part| name(part))
}

/// Operators of minified code, which no password generator puts in this order.
fn has_operator(value: &[u8]) -> bool {
    [&b"==="[..], b"!==", b"&&", b"||", b"=>", b"?."].iter().any(|sign| memchr::memmem::find(value, sign).is_some())
}

fn speaks_of_secrets(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    ["token", "password", "passwd", "secret", "key", "pwd", "cred", "auth"]
        .iter()
        .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}
