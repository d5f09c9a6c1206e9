//! The allowlist: one plain command of those listed.

use crate::shell::rules::Look;
use crate::shell::{Feature, Invocation, Language, Seen, Source, Span, Word};
use std::fmt;

/// The commands that may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowlist {
    entries: Vec<Entry>,
}

/// A program, with its arguments where they are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    program: String,
    /// None where any arguments will do.
    arguments: Option<Vec<String>>,
}

/// An entry that is no plain command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryInvalid {
    /// The entry, cut to 64 characters.
    pub entry: String,
}

impl fmt::Display for EntryInvalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no entry of an allowlist; write a program and, after blanks, its arguments, as in `git status *`",
            self.entry
        )
    }
}

impl std::error::Error for EntryInvalid {}

impl Allowlist {
    /// From entries such as `ls`, `git status *`, `/usr/bin/rg --json *`. A program alone may have any arguments; where
    /// arguments are listed, each is matched by one (`*` within it for any text), and a `*` at the end by any number.
    /// A name without a folder allows the program only by that name.
    ///
    /// # Errors
    /// The first entry that is empty, or whose program is a pattern: what is allowed is named.
    pub fn new(entries: &[&str]) -> Result<Self, EntryInvalid> {
        let read = |entry: &&str| {
            let mut words = entry.split_whitespace().map(str::to_owned);
            let program = words.next().filter(|program| !program.contains(['*', '?', '[', '\'', '"', '$', '\\']));
            let program = program.ok_or_else(|| EntryInvalid { entry: entry.chars().take(64).collect() })?;
            let arguments: Vec<String> = words.collect();
            Ok(Entry { program, arguments: (!arguments.is_empty()).then_some(arguments) })
        };
        Ok(Self { entries: entries.iter().map(read).collect::<Result<_, _>>()? })
    }
}

/// Why a command is not on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// There is no list.
    Empty(Span),
    /// It is not one plain command.
    NotPlain(Span),
    /// No entry has this program.
    Program(Span),
    /// The entries of this program do not have these arguments.
    Arguments(Span),
    /// The entry names the program only, and the command gives it code, or makes it write a file.
    Beyond(Span),
}

/// Judges a command by the list.
pub(crate) fn check(list: &Allowlist, seen: &Seen, looks: &[Look<'_>]) -> Result<(), Miss> {
    let all = seen.invocations.first().map(|one| one.span).unwrap_or_default();
    if list.entries.is_empty() {
        return Err(Miss::Empty(all));
    }
    if let Some(one) =
        seen.uses.iter().find(|one| !matches!(one.feature, Feature::Glob | Feature::Tilde | Feature::Brace))
    {
        return Err(Miss::NotPlain(one.span));
    }
    looks.iter().try_for_each(|look| entry_for(list, look))
}

fn entry_for(list: &Allowlist, look: &Look<'_>) -> Result<(), Miss> {
    let Some(name) = look.one.program.as_ref().and_then(Word::known) else { return Err(Miss::Program(look.one.span)) };
    let mut entries = list.entries.iter().filter(|entry| entry.program == name).peekable();
    if entries.peek().is_none() {
        return Err(Miss::Program(look.program()));
    }
    let fitting: Vec<&Entry> =
        entries.filter(|entry| entry.arguments.as_ref().is_none_or(|globs| fits(globs, &look.one.args))).collect();
    if fitting.is_empty() {
        return Err(Miss::Arguments(look.one.span));
    }
    if fitting.iter().any(|entry| entry.arguments.is_some()) {
        return Ok(());
    }
    beyond(look).map_or(Ok(()), |span| Err(Miss::Beyond(span)))
}

/// Whether each argument is matched by its glob, and a last `*` by the rest. What is not known is matched by `*` alone.
fn fits(globs: &[String], words: &[Word]) -> bool {
    let open = globs.last().is_some_and(|last| last == "*");
    let fixed = if open { globs.len() - 1 } else { globs.len() };
    if words.len() < fixed || (!open && words.len() != fixed) {
        return false;
    }
    globs.iter().take(fixed).zip(words).all(|(glob, word)| match word.known() {
        Some(text) => crate::glob_matches(&glob.replace('*', "**"), text),
        None => glob == "*",
    })
}

/// Code in a language of its own, or a file that an option makes the program write: neither is meant by a program's name.
/// sed and awk are nothing without their scripts, and rules judge those.
fn beyond(look: &Look<'_>) -> Option<Span> {
    let given = look.one.code.iter().find_map(|code| match (&code.language, &code.source) {
        (Language::Sed | Language::Awk, _) | (_, Source::File(_)) => None,
        (_, Source::Text(word)) => Some(word.span),
        (_, Source::Input) => Some(look.program()),
    });
    let by_option = |one: &Invocation, span: Span| {
        let at = one.args.iter().position(|word| word.span == span)?;
        let own = one.args.get(at)?.prefix().starts_with('-');
        let before = at
            .checked_sub(1)
            .and_then(|before| one.args.get(before))
            .is_some_and(|word| word.prefix().starts_with('-'));
        (own || before).then_some(span)
    };
    given.or_else(|| look.named.iter().filter(|named| named.writes).find_map(|named| by_option(look.one, named.span)))
}
