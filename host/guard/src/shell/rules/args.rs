//! Options and operands, as programs of the getopt kind take them.

use crate::shell::{Piece, Span, Value, Word};

/// The options of a program that take a value; an option that is not listed takes none.
#[derive(Clone, Copy)]
pub(crate) struct Spec {
    /// Letters.
    pub short: &'static str,
    /// Names, without dashes.
    pub long: &'static [&'static str],
}

/// No option takes a value.
pub(crate) const PLAIN: Spec = Spec { short: "", long: &[] };

/// A value as far as it is known.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    /// The text that it begins with.
    pub text: &'a str,
    /// Whether that is all of it.
    pub whole: bool,
    /// The word that it stands in.
    pub word: &'a Word,
}

/// One argument.
#[derive(Clone, Copy)]
pub(crate) enum Arg<'a> {
    /// `-x`, alone or in a cluster.
    Short(char, Option<Given<'a>>, &'a Word),
    /// `--name`, perhaps shortened.
    Long(&'a str, Option<Given<'a>>, &'a Word),
    /// A word that is no option.
    Operand(&'a Word),
    /// An expansion outside quotes, which may become options as well as operands.
    Open(&'a Word),
}

/// The arguments in order.
pub(crate) struct Args<'a> {
    words: &'a [Word],
    spec: Spec,
    cluster: Option<(&'a str, &'a Word)>,
    ended: bool,
}

/// Reads arguments. Options may stand after operands, as GNU programs have it.
pub(crate) fn args(words: &[Word], spec: Spec) -> Args<'_> {
    Args { words, spec, cluster: None, ended: false }
}

impl<'a> Args<'a> {
    fn take(&mut self) -> Option<&'a Word> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn value(&mut self) -> Option<Given<'a>> {
        self.take().map(|word| Given { text: word.prefix(), whole: word.known().is_some(), word })
    }

    fn next_in_cluster(&mut self, letters: &'a str, word: &'a Word) -> Option<Arg<'a>> {
        let letter = letters.chars().next()?;
        let rest = letters.get(letter.len_utf8()..).unwrap_or_default();
        let whole = word.known().is_some();
        if self.spec.short.contains(letter) {
            let attached = Given { text: rest.strip_prefix('=').unwrap_or(rest), whole, word };
            let value = if rest.is_empty() && whole { self.value() } else { Some(attached) };
            return Some(Arg::Short(letter, value, word));
        }
        self.cluster = Some((rest, word));
        Some(Arg::Short(letter, None, word))
    }

    fn long_option(&mut self, text: &'a str, word: &'a Word) -> Arg<'a> {
        if let Some((name, value)) = text.split_once('=') {
            let given = Given { text: value, whole: word.known().is_some(), word };
            return Arg::Long(name, Some(given), word);
        }
        // A shortened name is not followed to its value: `--head` is not `--header`.
        let valued = self.spec.long.contains(&text);
        Arg::Long(text, if valued { self.value() } else { None }, word)
    }
}

impl<'a> Iterator for Args<'a> {
    type Item = Arg<'a>;

    fn next(&mut self) -> Option<Arg<'a>> {
        if let Some((letters, word)) = self.cluster.take()
            && let Some(arg) = self.next_in_cluster(letters, word)
        {
            return Some(arg);
        }
        let word = self.take()?;
        if self.ended {
            return Some(Arg::Operand(word));
        }
        let text = word.prefix();
        match (text.strip_prefix("--"), text.strip_prefix('-')) {
            (Some(""), _) if word.known().is_some() => {
                self.ended = true;
                self.next()
            }
            (Some(name), _) => Some(self.long_option(name, word)),
            (None, Some("")) if word.known().is_some() => Some(Arg::Operand(word)),
            (None, Some("")) => Some(Arg::Open(word)),
            (None, Some(letters)) => self.next_in_cluster(letters, word),
            (None, None) if opens(word) => Some(Arg::Open(word)),
            (None, None) => Some(Arg::Operand(word)),
        }
    }
}

/// Whether a word begins with an expansion outside quotes, so that it may become an option. A pattern may too, where a file
/// is called `-rf`; but `rm *.o` is everybody's, and such a file must first be made.
fn opens(word: &Word) -> bool {
    match &word.value {
        Value::Known(_) => false,
        Value::Partial(pieces) => matches!(pieces.first(), Some(Piece::Unknown { splits: true, .. })),
    }
}

/// Whether a long option as given stands for this name: getopt takes any beginning that is not shared, and two letters are
/// enough here, since no harm comes of taking more.
pub(crate) fn long_is(given: &str, name: &str) -> bool {
    given == name || (given.len() >= 2 && name.starts_with(given))
}

/// The first of the options, or an expansion that may hold them.
pub(crate) fn option(words: &[Word], spec: Spec, letters: &str, names: &[&str]) -> Option<Span> {
    args(words, spec).find_map(|arg| match arg {
        Arg::Short(letter, _, word) if letters.contains(letter) => Some(word.span),
        Arg::Long(given, _, word) if names.iter().any(|name| long_is(given, name)) => Some(word.span),
        Arg::Open(word) => Some(word.span),
        _ => None,
    })
}

/// The first of the options; an expansion counts for none.
pub(crate) fn written_option(words: &[Word], spec: Spec, letters: &str, names: &[&str]) -> Option<Span> {
    args(words, spec).find_map(|arg| match arg {
        Arg::Short(letter, _, word) if letters.contains(letter) => Some(word.span),
        Arg::Long(given, _, word) if names.iter().any(|name| long_is(given, name)) => Some(word.span),
        _ => None,
    })
}

/// The values of the options.
pub(crate) fn values<'a>(
    words: &'a [Word],
    spec: Spec,
    letters: &'a str,
    names: &'a [&'a str],
) -> impl Iterator<Item = Given<'a>> {
    args(words, spec).filter_map(move |arg| match arg {
        Arg::Short(letter, value, _) if letters.contains(letter) => value,
        Arg::Long(given, value, _) if names.iter().any(|name| long_is(given, name)) => value,
        _ => None,
    })
}

/// The operands.
pub(crate) fn operands(words: &[Word], spec: Spec) -> impl Iterator<Item = &Word> {
    args(words, spec).filter_map(|arg| match arg {
        Arg::Operand(word) | Arg::Open(word) => Some(word),
        _ => None,
    })
}

/// The subcommand (`install` of `pip -q install x`) and what stands after it.
pub(crate) fn subcommand(words: &[Word], spec: Spec) -> Option<(&Word, &[Word])> {
    let mut reader = args(words, spec);
    loop {
        match reader.next()? {
            Arg::Operand(word) | Arg::Open(word) => return Some((word, reader.words)),
            _ => {}
        }
    }
}

/// Whether a word is one of these, or may be: an expansion may be any of them.
pub(crate) fn one_of(word: &Word, texts: &[&str]) -> bool {
    match word.known() {
        Some(text) => texts.contains(&text),
        None => texts.iter().any(|text| word.may_be(text)),
    }
}

/// Whether the only thing asked for is help or the version.
pub(crate) fn only_help(words: &[Word]) -> bool {
    matches!(words, [only] if only.known().is_some_and(|text| matches!(text, "--help" | "--version" | "-V" | "-h" | "--usage")))
}
