//! How the arguments of a program are looked at: as words, some of them options.

/// Whether a word is an option.
pub(crate) fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Whether a word may be the value of the option before it.
pub(crate) fn may_be_value(words: &[&str], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|before| words.get(before))
        .is_some_and(|before| is_option(before) && !before.contains('='))
}

/// Whether options, and what may be their values, can stand where this word stands without changing which words count.
pub(crate) fn may_be_skipped(words: &[&str], at: usize) -> bool {
    words.get(at).is_some_and(|word| is_option(word)) || may_be_value(words, at)
}
