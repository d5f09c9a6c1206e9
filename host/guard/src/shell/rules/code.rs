//! Code in other languages, looked at for the calls that matter. It is not parsed: strings and comments are blanked where the
//! language's strings cannot run anything, the rest is searched for names.

use crate::shell::{Invocation, Language, Source, Word};
use std::borrow::Cow;

/// The known text of one piece of code.
pub(crate) struct Text<'a> {
    /// Its language.
    pub language: Language,
    /// The word that holds it.
    pub word: &'a Word,
    /// Its text; what is not known is left out.
    pub whole: Cow<'a, str>,
    /// That without what its strings and comments say.
    pub bare: String,
}

impl<'a> Text<'a> {
    /// Code that stands in a word.
    pub(crate) fn new(language: Language, word: &'a Word, text: Cow<'a, str>) -> Self {
        let text = if language == Language::JavaScript && (text.contains(" .") || text.contains(". ")) {
            Cow::Owned(text.replace(" .", ".").replace(". ", "."))
        } else {
            text
        };
        let whole = if language == Language::Python { without_alias(text) } else { text };
        Self { language, word, bare: bare(language, &whole), whole }
    }
}

/// The texts of an invocation's code.
pub(crate) fn texts(one: &Invocation) -> impl Iterator<Item = Text<'_>> {
    let given = one.code.iter().filter_map(|code| match &code.source {
        Source::Text(word) => Some((code.language, word)),
        _ => None,
    });
    // `python -m timeit` runs its arguments.
    let timed = one.args.windows(2).any(
        |pair| matches!(pair, [option, module] if option.known() == Some("-m") && module.known() == Some("timeit")),
    );
    let statements = one.args.iter().filter(move |word| timed && !word.prefix().starts_with('-'));
    let clustered = one.args.windows(2).filter_map(move |pair| clustered(one, pair));
    given
        .chain(statements.map(|word| (Language::Python, word)))
        .chain(clustered)
        .map(|(language, word)| Text::new(language, word, known_text(word)))
}

/// Perl's and Ruby's code behind a cluster that ends in `e` (`-le`, `-0777ne`), where the reader took it for a file.
fn clustered<'a>(one: &Invocation, pair: &'a [Word]) -> Option<(Language, &'a Word)> {
    let [option, word] = pair else { return None };
    let language = match one.name()?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "perl" => Language::Perl,
        "ruby" => Language::Ruby,
        _ => return None,
    };
    let letters = option.known()?.strip_prefix('-')?;
    let is_code = letters.ends_with(['e', 'E']) && !letters.starts_with(['-', 'M', 'm', 'I', 'r', 'e', 'E']);
    let as_file = |code: &crate::shell::Code| matches!(&code.source, Source::File(file) if file.span == word.span);
    (is_code && one.code.iter().any(as_file)).then_some((language, word))
}

/// Python code with `os` under its own name where it was given another (`import os as o`).
fn without_alias(whole: Cow<'_, str>) -> Cow<'_, str> {
    let alias = whole.split_once("os as ").and_then(|(_, rest)| rest.split(|c| !is_name(c)).next());
    match alias.filter(|alias| !alias.is_empty()) {
        Some(alias) => Cow::Owned(whole.replace(&format!("{alias}."), "os.")),
        None => whole,
    }
}

/// The known parts of a word, with blanks for the others.
pub(crate) fn known_text(word: &Word) -> Cow<'_, str> {
    match word.known() {
        Some(text) => Cow::Borrowed(text),
        None => {
            let mut text = String::new();
            for part in word.literals() {
                text.push_str(part);
                text.push(' ');
            }
            Cow::Owned(text)
        }
    }
}

/// The code without what its strings and comments say.
fn bare(language: Language, whole: &str) -> String {
    match language {
        Language::Python => blank(whole, "'\"", "", Some('#')),
        // A template string runs what stands in `${…}`.
        Language::JavaScript | Language::Lua => blank(whole, "'\"", "", None),
        // Double quotes run what stands in `#{…}` and `@{[…]}`.
        Language::Ruby | Language::Perl | Language::Php => blank(whole, "'", "\"", None),
        _ => whole.to_owned(),
    }
}

/// Replaces what stands between quotes by nothing. The text of a string stays where it may run: behind an `f`, and between
/// `filled` quotes where it has braces.
fn blank(text: &str, quotes: &str, filled: &str, comment: Option<char>) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut chars = text.chars();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        if Some(c) == comment {
            for skipped in chars.by_ref() {
                if skipped == '\n' {
                    break;
                }
            }
            bare.push('\n');
            before = ' ';
            continue;
        }
        bare.push(c);
        let formats = matches!(before, 'f' | 'F');
        if quotes.contains(c) && !formats {
            skip_string(&mut chars, c);
            bare.push(c);
        } else if filled.contains(c) {
            let mut after = chars.clone();
            skip_string(&mut after, c);
            let inner = chars.as_str().get(..chars.as_str().len() - after.as_str().len()).unwrap_or_default();
            if inner.contains('{') {
                bare.push_str(inner);
            } else {
                bare.push(c);
            }
            chars = after;
        }
        before = c;
    }
    bare
}

fn skip_string(chars: &mut std::str::Chars<'_>, quote: char) {
    let mut escaped = false;
    for c in chars.by_ref() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return,
            _ => {}
        }
    }
}

/// Whether a name stands in code: not as part of a longer name.
pub(crate) fn mentions(code: &str, name: &str) -> bool {
    let mut start = 0;
    while let Some(found) = code.get(start..).and_then(|rest| rest.find(name)) {
        let at = start + found;
        let end = at + name.len();
        let before = code.get(..at).and_then(|text| text.chars().next_back());
        let after = code.get(end..).and_then(|text| text.chars().next());
        let opens = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let closes = name.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let longer = opens && before.is_some_and(is_name) || closes && after.is_some_and(is_name);
        if !longer {
            return true;
        }
        start = end;
    }
    false
}

/// Whether any of the names stands in code.
pub(crate) fn mentions_any(code: &str, names: &[&str]) -> bool {
    names.iter().any(|name| mentions(code, name))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether Python code imports one of these modules, in any of the ways it can be said.
pub(crate) fn imports(code: &str, modules: &[&str]) -> bool {
    let listed = |name: &str| {
        let name = name.trim();
        let first = name.split([' ', '.']).next().unwrap_or_default();
        // `urllib.parse` takes addresses apart and opens none.
        modules.contains(&first) && !name.starts_with("urllib.parse") && !name.starts_with("http.cookies")
    };
    code.split([';', '\n', ':']).map(str::trim).any(|statement| {
        if let Some(names) = statement.strip_prefix("import ") {
            names.split(',').any(listed)
        } else if let Some(name) = statement.strip_prefix("from ") {
            listed(name) && !name.contains("HTTPStatus") && !name.starts_with("urllib import parse")
        } else {
            false
        }
    })
}

/// Environment variables that anybody may read one by one.
const HARMLESS_NAMES: &[&str] = &[
    "HOME",
    "PATH",
    "PWD",
    "USER",
    "LANG",
    "TERM",
    "TMPDIR",
    "SHELL",
    "LOGNAME",
    "HOSTNAME",
    "NODE_ENV",
    "CI",
    "TZ",
    "EDITOR",
    "DEBUG",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "COLUMNS",
    "LINES",
    "LC_ALL",
    "PORT",
];

/// Whether a variable may be read by anybody.
pub(crate) fn is_harmless(name: &str) -> bool {
    HARMLESS_NAMES.contains(&name)
}

/// Whether code asks for the environment in one of these ways other than for a harmless variable by name.
pub(crate) fn reads_environment(code: &str, ways: &[&str]) -> bool {
    ways.iter().any(|way| {
        let mut rest = code;
        while let Some((before, after)) = rest.split_once(way) {
            let part_of_name = before.chars().next_back().is_some_and(|c| is_name(c) || c == '.')
                || (way.ends_with(is_name) && after.chars().next().is_some_and(is_name));
            if !part_of_name && !asks_harmless(after) {
                return true;
            }
            rest = after;
        }
        false
    })
}

/// `['HOME']`, `.get("HOME")`, `.HOME`, `("HOME")`, `{HOME}`.
fn asks_harmless(after: &str) -> bool {
    let accessor = |c: char| matches!(c, '[' | ']' | '(' | ')' | '{' | '}' | '.' | '\'' | '"' | ' ' | ',');
    let mut name = after.trim_start_matches(accessor);
    for method in ["get", "fetch"] {
        name = name.strip_prefix(method).filter(|rest| rest.starts_with('(')).unwrap_or(name);
    }
    let name = name.trim_start_matches(accessor);
    let end = name.find(|c| !is_name(c)).unwrap_or(name.len());
    name.get(..end).is_some_and(is_harmless) && after.starts_with(accessor)
}
