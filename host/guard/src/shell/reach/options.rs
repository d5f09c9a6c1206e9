//! Where the options of a program end.

use crate::shell::seen::Word;

/// The options of a program that starts another one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    /// Letters without a value.
    pub(super) flags: &'static str,
    /// Letters whose value is the rest of the word or the next word.
    pub(super) values: &'static str,
    /// Letters whose value, if any, is the rest of the word.
    pub(super) attached: &'static str,
    /// Long options without a value, or with one behind `=`.
    pub(super) long_flags: &'static [&'static str],
    /// Long options with a value.
    pub(super) long_values: &'static [&'static str],
}

/// An option that was found.
#[derive(Clone, Debug)]
pub(super) struct Found<'w> {
    /// The letter, or the long name without dashes.
    pub(super) name: String,
    /// Its value, where it stands in a word of its own.
    pub(super) word: Option<&'w Word>,
    /// Its value, where it stands in the option's own word.
    pub(super) rest: Option<String>,
}

impl Found<'_> {
    /// The value as a word.
    pub(super) fn value(&self, near: &Word) -> Option<Word> {
        match (&self.rest, self.word) {
            (Some(text), _) => Some(Word::known_text(text.clone(), near.span)),
            (None, word) => word.cloned(),
        }
    }
}

/// The most places at which the wrapped program may begin that are followed.
const MOST_STARTS: usize = 4;

/// The options before the first operand, and every place at which the operands may begin: with an option that is not known,
/// the word behind it may be its value or the first operand.
pub(super) fn walk<'w>(args: &'w [Word], options: &Options) -> (Vec<Found<'w>>, Vec<usize>) {
    let mut found = Vec::new();
    let mut starts = Vec::new();
    let mut doubts = 0_usize;
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.known().unwrap_or_else(|| word.prefix());
        if text == "--" && word.known().is_some() {
            starts.push(at + 1);
            return (found, starts);
        }
        if text.len() < 2 || !text.starts_with('-') {
            starts.push(at);
            if doubts == 0 || starts.len() >= MOST_STARTS {
                return (found, starts);
            }
            doubts -= 1;
            at += 1;
            continue;
        }
        let next = args.get(at + 1);
        let (takes_next, known) = match text.strip_prefix("--") {
            Some(long) => long_option(long, next, options, &mut found),
            None => short_options(text.get(1..).unwrap_or_default(), next, options, &mut found),
        };
        doubts += usize::from(!known || word.known().is_none());
        at += 1 + usize::from(takes_next);
    }
    starts.push(args.len());
    (found, starts)
}

/// Notes a long option; whether the next word is its value, and whether it is known.
fn long_option<'w>(long: &str, next: Option<&'w Word>, options: &Options, found: &mut Vec<Found<'w>>) -> (bool, bool) {
    if let Some((name, value)) = long.split_once('=') {
        let name = full(options.long_values, name).unwrap_or(name);
        found.push(Found { name: name.to_owned(), word: None, rest: Some(value.to_owned()) });
        return (false, true);
    }
    if options.long_flags.contains(&long) {
        found.push(Found { name: long.to_owned(), word: None, rest: None });
        return (false, true);
    }
    match (full(options.long_values, long), full(options.long_flags, long)) {
        (Some(name), _) => {
            found.push(Found { name: name.to_owned(), word: next, rest: None });
            (true, true)
        }
        (None, flag) => {
            found.push(Found { name: flag.unwrap_or(long).to_owned(), word: None, rest: None });
            (false, flag.is_some())
        }
    }
}

/// The name that a long option stands for: itself, or the first that it is the beginning of.
fn full(names: &[&'static str], long: &str) -> Option<&'static str> {
    names.iter().find(|name| **name == long).or_else(|| names.iter().find(|name| name.starts_with(long))).copied()
}

/// Notes letters; whether the next word is the last one's value, and whether all are known.
fn short_options<'w>(
    letters: &str,
    next: Option<&'w Word>,
    options: &Options,
    found: &mut Vec<Found<'w>>,
) -> (bool, bool) {
    for (at, letter) in letters.char_indices() {
        let rest = letters.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty()).map(str::to_owned);
        let name = letter.to_string();
        if options.values.contains(letter) {
            let takes_next = rest.is_none();
            found.push(Found { name, word: next.filter(|_| takes_next), rest });
            return (takes_next, true);
        }
        if options.attached.contains(letter) {
            found.push(Found { name, word: None, rest });
            return (false, true);
        }
        found.push(Found { name, word: None, rest: None });
        if !options.flags.contains(letter) {
            return (false, false);
        }
    }
    (false, true)
}
