//! Whether a value under a secret's name is the secret, or a word that stands for it.

use crate::anchor::Strength;

/// Shorter values are words, numbers and types more often than secrets.
const LEAST: usize = 8;

/// Whether a value is to be taken out.
pub(crate) fn is_secret(strength: Strength, quoted: bool, value: &[u8]) -> bool {
    let least = if quoted && strength == Strength::Surely { 1 } else { LEAST };
    value.len() >= least && !is_reference(value) && !is_placeholder(value)
}

/// Where the secret comes from, not the secret: `$TOKEN`, `$(cat f)`, `` `cmd` ``, `%TOKEN%`, `{{ token }}`, `<token>`.
pub(crate) fn is_reference(value: &[u8]) -> bool {
    match value {
        [b'$', rest @ ..] => is_expansion(rest),
        // The bound keeps a text of nothing but these from being read again at each of them.
        [b'%', .., b'%'] => value.len() <= 64,
        [b'`' | b'<', ..] | [b'{', b'{', ..] | [b'[', ..] => true,
        _ => value.starts_with(b"env:") || value.starts_with(b"process.env") || value.starts_with(b"os.environ"),
    }
}

/// What follows a `$`: a variable or a command, and not the second field of `$argon2id$…`.
fn is_expansion(rest: &[u8]) -> bool {
    let name = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    match rest.first() {
        Some(b'(' | b'{' | b'\'' | b'"') => true,
        Some(first) => (first.is_ascii_alphabetic() || *first == b'_') && rest.get(name) != Some(&b'$'),
        None => false,
    }
}

/// `null`, `********`, `xxxxxxxx`, `...`: nothing is there to hide.
fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: [&str; 8] = ["null", "none", "undefined", "true", "false", "required", "optional", "redacted"];
    let same = value.len() > 2
        && value.first().is_some_and(|first| b"*x.-X_#".contains(first) && value.iter().all(|b| b == first));
    same || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}
