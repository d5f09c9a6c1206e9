//! What the arguments of a program may not be.

use crate::fault::Fault;
use crate::words;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

/// Characters of a pattern; nobody can judge a longer one by reading it.
const MOST_PATTERN: usize = 256;

/// Bytes of a compiled pattern: counted repetitions of wide classes grow without bound.
const MOST_COMPILED: usize = 256 * 1024;

/// Words of a pattern of words; they are counted in the bits of a number.
const MOST_WORDS: usize = 16;

/// A pattern as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PatternText {
    /// A regular expression, looked for anywhere in the arguments: joined by blanks, without options, and without options and
    /// the words behind them, so that an option in between hides nothing.
    Regex(String),
    /// Words from the first argument on.
    Words(WordsText),
}

/// Regular expressions separated by blanks, each for one whole argument, in order from the first; `**` is any number of
/// arguments, and options may stand in between. Capitals do not matter. So `repo delete` is the command and not a text that
/// speaks of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordsText {
    /// The expressions.
    pub words: String,
}

impl PatternText {
    /// Words from the first argument on.
    #[must_use]
    pub fn words(words: impl Into<String>) -> Self {
        Self::Words(WordsText { words: words.into() })
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Regex(text) => text,
            Self::Words(text) => &text.words,
        }
    }
}

/// A pattern that can be matched, in time linear in the arguments.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: PatternText,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Anywhere(Regex),
    Words(Vec<Step>),
}

#[derive(Clone, Debug)]
enum Step {
    /// One argument.
    One(Regex),
    /// Any number of arguments.
    Any,
}

impl Pattern {
    pub(crate) fn new(text: &PatternText, at: &str) -> Result<Self, Fault> {
        let written = text.as_str();
        if written.trim().is_empty() || written.chars().count() > MOST_PATTERN {
            return Err(Fault::new(at, format!("a pattern of 1 to {MOST_PATTERN} characters is needed")));
        }
        let form = match text {
            PatternText::Regex(text) => Form::Anywhere(compiled(text, false).map_err(|why| Fault::new(at, why))?),
            PatternText::Words(text) => Form::Words(steps(&text.words).map_err(|why| Fault::new(at, why))?),
        };
        Ok(Self { text: text.clone(), form })
    }

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> &PatternText {
        &self.text
    }

    /// Whether arguments match. `views` may be of the same arguments with what was allowed as prose taken out, which counts only
    /// for expressions that look anywhere: a word of the command itself is never prose.
    pub(crate) fn matches(&self, arguments: &[&str], views: &Views) -> bool {
        match &self.form {
            Form::Anywhere(regex) => views.0.iter().any(|view| regex.is_match(view)),
            Form::Words(steps) => walk(steps, arguments),
        }
    }
}

/// The engine has no backtracking, so the time grows with the arguments and no faster. A line break is a character like others.
fn compiled(text: &str, whole: bool) -> Result<Regex, String> {
    let pattern = if whole { format!("^(?:{text})$") } else { text.to_owned() };
    RegexBuilder::new(&pattern)
        .dot_matches_new_line(true)
        .case_insensitive(whole)
        .size_limit(MOST_COMPILED)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "the expression grows too large; repeat less".into(),
            _ => "this is no regular expression (without look-around and back-references)".into(),
        })
}

fn steps(text: &str) -> Result<Vec<Step>, String> {
    let steps: Vec<Step> = text
        .split_whitespace()
        .map(|word| if word == "**" { Ok(Step::Any) } else { compiled(word, true).map(Step::One) })
        .collect::<Result<_, _>>()?;
    if steps.len() > MOST_WORDS { Err(format!("at most {MOST_WORDS} words are matched")) } else { Ok(steps) }
}

/// The arguments as one text, in the ways in which options may stand between the words that count. Each ends in a blank, so
/// that `auth\s+` is also what ends with it.
pub(crate) struct Views([String; 3]);

impl Views {
    pub(crate) fn of(arguments: &[String]) -> Self {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let join = |keep: &dyn Fn(usize, &str) -> bool| {
            let kept = words.iter().enumerate().filter(|(at, word)| keep(*at, word));
            kept.fold(String::new(), |text, (_, word)| text + word + " ")
        };
        Self([
            join(&|_, _| true),
            join(&|_, word| !words::is_option(word)),
            join(&|at, word| !words::is_option(word) && !words::may_be_value(&words, at)),
        ])
    }
}

/// Which steps may come next is a set of bits, so that every way of taking options in between is followed at once.
fn walk(steps: &[Step], arguments: &[&str]) -> bool {
    let open = |at: usize, set: u32| {
        let mut set = set | 1 << at;
        let mut at = at;
        while matches!(steps.get(at), Some(Step::Any)) {
            at += 1;
            set |= 1 << at;
        }
        set
    };
    let done = 1u32 << steps.len();
    let mut set = open(0, 0);
    for (at, argument) in arguments.iter().enumerate() {
        if set & done != 0 {
            return true;
        }
        let mut next = if words::may_be_skipped(arguments, at) { set } else { 0 };
        for (index, step) in steps.iter().enumerate().filter(|(index, _)| set & 1 << index != 0) {
            match step {
                Step::Any => next = open(index, next),
                Step::One(regex) if regex.is_match(argument) => next = open(index + 1, next),
                Step::One(_) => {}
            }
        }
        set = next;
    }
    set & done != 0
}

/// Whether one argument (or two, where a value stands apart from its option) begins with what makes a program say too much.
/// `-v` is also `-vv` and `-v=9`, and not `--version` or `-version`.
pub(crate) fn speaks(verbose: &[Verbose], arguments: &[&str]) -> Option<(usize, PatternText)> {
    arguments.iter().enumerate().find_map(|(at, argument)| {
        if !words::is_option(argument) {
            return None;
        }
        let joined = arguments.get(at + 1).map(|next| format!("{argument}={next}"));
        let found =
            verbose.iter().find(|one| one.fits(argument) || joined.as_deref().is_some_and(|text| one.fits(text)));
        found.map(|one| (at, one.text.clone()))
    })
}

/// An option that makes a program say too much.
#[derive(Clone, Debug)]
pub(crate) struct Verbose {
    text: PatternText,
    begins: Regex,
    /// Written out without any special character: then abbreviations of it count too.
    plain: bool,
}

/// Characters of a long option's abbreviation, at least: fewer are another option more often than this one.
const LEAST_ABBREVIATION: usize = 5;

impl Verbose {
    pub(crate) fn new(text: &PatternText, at: &str) -> Result<Self, Fault> {
        let PatternText::Regex(written) = text else {
            return Err(Fault::new(at, "an expression for one option is needed, such as `--verbose`"));
        };
        if written.trim().is_empty() || written.chars().count() > MOST_PATTERN {
            return Err(Fault::new(at, format!("an expression of 1 to {MOST_PATTERN} characters is needed")));
        }
        let begins = compiled(&format!("^(?:{written})"), false).map_err(|why| Fault::new(at, why))?;
        Ok(Self { text: text.clone(), begins, plain: regex::escape(written).replace('\\', "") == *written })
    }

    fn fits(&self, argument: &str) -> bool {
        let ends = |found: regex::Match<'_>| ends(found.as_str(), argument.get(found.end()..).unwrap_or_default());
        (self.plain && abbreviates(argument, self.text.as_str())) || self.begins.find(argument).is_some_and(ends)
    }
}

/// Whether an argument is the beginning of a long option, with the same value where the option is denied with one only.
fn abbreviates(argument: &str, option: &str) -> bool {
    let part = |text| str::split_once(text, '=').map_or((text, None), |(name, value)| (name, Some(value)));
    let ((short, given), (long, denied)) = (part(argument), part(option));
    let begins = short.starts_with("--") && short.len() >= LEAST_ABBREVIATION && long.starts_with(short);
    begins && denied.is_none_or(|denied| given == Some(denied))
}

/// Whether what follows a match is still the same option: nothing, a value, or its last letter again.
fn ends(found: &str, rest: &str) -> bool {
    let last = found.chars().next_back();
    let value = |next: char| next.is_ascii_digit() || !(next.is_alphabetic() || matches!(next, '-' | ' '));
    rest.chars().next().is_none_or(value) || rest.chars().all(|next| Some(next) == last)
}
