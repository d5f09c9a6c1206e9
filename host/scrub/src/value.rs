//! Whether a value under a secret's name is the secret, or a word that stands for it.

use crate::anchor::Strength;

/// Shorter values are words, numbers and types more often than secrets.
const LEAST: usize = 8;

/// Whether a value is to be taken out.
pub(crate) fn is_secret(strength: Strength, quoted: bool, value: &[u8]) -> bool {
    if is_reference(value) || is_placeholder(value) {
        return false;
    }
    match strength {
        Strength::Surely if quoted => !value.is_empty(),
        Strength::Surely => value.len() >= LEAST || (value.len() >= 6 && letters_and_digits(value)),
        Strength::Likely => value.len() >= LEAST,
        Strength::Perhaps => is_random(value),
    }
}

fn letters_and_digits(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Whether nobody would write this by hand: 20 characters and more of letters in both cases and digits, or 32 hexadecimal digits,
/// with many different ones.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let token = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-.~%".contains(b);
    let value = value.get(..256).unwrap_or(value);
    if value.len() < 20 || !value.iter().all(token) {
        return false;
    }
    let hex = value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit);
    let mixed = value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase);
    // Words that are joined have long runs of letters; random text of 62 characters changes its kind every few.
    let changes = value.windows(2).filter(|pair| matches!(pair, [a, b] if kind(*a) != kind(*b))).count();
    value.iter().any(u8::is_ascii_digit) && distinct(value) >= 9 && (hex || (mixed && changes * 4 >= value.len()))
}

fn kind(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    }
}

fn distinct(value: &[u8]) -> u32 {
    value.iter().fold(0_u128, |seen, byte| seen | 1_u128 << (byte & 127)).count_ones()
}

/// Where the secret comes from, not the secret: `$TOKEN`, `$(cat f)`, `` `cmd` ``, `%TOKEN%`, `{{ token }}`, `<token>`.
pub(crate) fn is_reference(value: &[u8]) -> bool {
    const SOURCES: [&[u8]; 22] = [
        b"env:",
        b"env.",
        b"ENV[",
        b"process.env",
        b"import.meta.env",
        b"os.environ",
        b"os.getenv",
        b"os.Getenv",
        b"std::env",
        b"Deno.env",
        b"System.getenv",
        b"secrets.",
        b"vault:",
        b"op://",
        b"ref+",
        b"file:",
        b"arn:aws:secretsmanager:",
        b"projects/",
        b"@Microsoft.KeyVault",
        b"%{",
        // An address is a place; a secret within it is found there.
        b"http://",
        b"https://",
    ];
    match value {
        [b'$', rest @ ..] => is_expansion(rest),
        // The bound keeps a text of nothing but these from being read again at each of them.
        [b'%', .., b'%'] => value.len() <= 64,
        [b'%', b'(', ..] | [b'#', b'{', ..] | [b'@', b'{', ..] => true,
        [b'{', b'{', ..] | [b'`' | b'<' | b'[', ..] => true,
        [b'{', .., b'}'] => value.len() <= 64 && !value.contains(&b':'),
        _ => SOURCES.iter().any(|source| value.starts_with(source)),
    }
}

/// What follows a `$`: a variable or a command, and not the second field of `$argon2id$…`.
fn is_expansion(rest: &[u8]) -> bool {
    let name = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    match rest.first() {
        Some(b'(' | b'{' | b'\'' | b'"') => true,
        // A bcrypt hash is `$2b$12$…`, a positional argument `$1`.
        Some(first) if first.is_ascii_digit() => rest.len() == 1,
        Some(first) => (first.is_ascii_alphabetic() || *first == b'_') && rest.get(name) != Some(&b'$'),
        None => false,
    }
}

/// `null`, `********`, `xxxxxxxx`, `...`, `your-api-key`: nothing is there to hide.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: [&str; 14] = [
        "null",
        "none",
        "undefined",
        "true",
        "false",
        "required",
        "optional",
        "redacted",
        "string",
        "str",
        "number",
        "boolean",
        "placeholder",
        "same-origin",
    ];
    const STARTS: [&str; 9] =
        ["your-", "your_", "your ", "replace-", "replace_", "insert-", "insert_", "placeholder", "todo"];
    let starts = |word: &str| value.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    let filler = |b: &u8| b"*x.-X_#".contains(b) || !b.is_ascii();
    let same = value.len() > 2
        && value.first().is_some_and(|first| filler(first) && value.iter().all(|b| b == first || !b.is_ascii()));
    // `sk-****`, `abcd…wxyz`: masked already. What is left is too short to be of use.
    let stars = value.iter().filter(|b| **b == b'*').count();
    let masked = value.windows(3).any(|three| three == b"***") && value.len() - stars <= 8;
    let words = value.len() < 40 && value.iter().all(|b| b.is_ascii_alphabetic() || b"-_ .".contains(b));
    same || masked
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
        || (words && STARTS.iter().any(|word| starts(word)))
}
