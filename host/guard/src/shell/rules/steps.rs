//! Paths: what a word may name, resolved by text alone, and whether it may be in a place.
//!
//! Parts that are not known are kept in the text as marks from Unicode's private use area, so that one comparison serves
//! plain and partly known paths. What a word holds of these characters itself is read as a pattern too, which denies more.

use crate::shell::{Piece, Value, Why, Word};
use std::borrow::Cow;

/// Any run of characters within a step: `*`.
pub(super) const RUN: char = '\u{f8f0}';
/// Any one character: `?`, `[…]`.
pub(super) const ONE: char = '\u{f8f1}';
/// A value that is not known.
pub(super) const ANY: char = '\u{f8f2}';

/// The path that a word may be, with marks for what is not known. `$HOME` reads as `~`, `$PWD` as the workspace.
pub(crate) fn text_of<'w>(word: &'w Word, workspace: &str) -> Cow<'w, str> {
    let pieces = match &word.value {
        Value::Known(text) => return Cow::Borrowed(text),
        Value::Partial(pieces) => pieces,
    };
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Glob(pattern) => push_pattern(&mut text, pattern),
            Piece::Unknown { why: Why::Tilde(part), .. } => text.push_str(part),
            Piece::Unknown { why: Why::Variable(name), .. } if name == "HOME" && text.is_empty() => text.push('~'),
            Piece::Unknown { why: Why::Variable(name), .. } if name == "PWD" && text.is_empty() => {
                text.push_str(workspace);
            }
            Piece::Unknown { why: Why::Variable(name), .. } if NUMBERS.contains(&name.as_str()) => text.push(RUN),
            Piece::Unknown { why: Why::Arithmetic, .. } => text.push(RUN),
            Piece::Unknown { .. } => text.push(ANY),
        }
    }
    Cow::Owned(text)
}

/// Variables that hold a number.
const NUMBERS: &[&str] =
    &["$", "!", "?", "#", "PPID", "BASHPID", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "SHLVL"];

fn push_pattern(text: &mut String, pattern: &str) {
    let mut rest = pattern.chars();
    while let Some(next) = rest.next() {
        match next {
            '*' => text.push(RUN),
            '?' => text.push(ONE),
            '[' => {
                // A class is one character, whatever it lists; one without an end is itself.
                match rest.as_str().get(1..).and_then(|inner| inner.find(']')) {
                    Some(end) => {
                        let after = rest.as_str().get(end + 2..).unwrap_or_default();
                        rest = after.chars();
                        text.push(ONE);
                    }
                    None => text.push('['),
                }
            }
            other => text.push(other),
        }
    }
}

/// The path without `.`, `..` and empty steps, absolute where `base` is. `~` stays as the first step.
pub(crate) fn resolve(path: &str, base: &str) -> String {
    let rooted = path.starts_with('/') || path.starts_with('~');
    let mut steps: Vec<&str> = Vec::new();
    let whole = if rooted { "" } else { base };
    for step in whole.split('/').chain(path.split('/')) {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            _ => steps.push(step),
        }
    }
    let mut text = String::with_capacity(path.len() + whole.len() + 1);
    for step in steps {
        if !(text.is_empty() && step.starts_with('~')) {
            text.push('/');
        }
        text.push_str(step);
    }
    if text.is_empty() { "/".to_owned() } else { text }
}

/// Whether a step may be this name.
pub(crate) fn step_may_be(step: &str, name: &str) -> bool {
    if is_plain(step) {
        return step == name;
    }
    // A value of which nothing is known names nothing; a lone `*` does not name what begins with a dot.
    if step.chars().all(|c| c == ANY) || (name.starts_with('.') && step.starts_with([RUN, ONE])) {
        return false;
    }
    pattern_matches(step, name)
}

/// Greedy matching with one point to return to: the product of both lengths at worst, and names are short.
fn pattern_matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    let mut back: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mut ahead = pattern.clone();
        match (ahead.next(), name.clone().next()) {
            (Some(RUN | ANY), _) => {
                pattern = ahead;
                back = Some((pattern.clone(), name.clone()));
                continue;
            }
            (Some(ONE), Some(_)) => {
                pattern = ahead;
                name.next();
                continue;
            }
            (Some(p), Some(n)) if p == n => {
                pattern = ahead;
                name.next();
                continue;
            }
            (None, None) => return true,
            _ => {}
        }
        let Some((after, mut from)) = back.take() else { return false };
        if from.next().is_none() {
            return false;
        }
        pattern = after.clone();
        name = from.clone();
        back = Some((after, from));
    }
}

/// Whether a path may be this one or lie below it. Both absolute, or both from `~`. A step of which nothing is known is
/// taken for another one; see [`may_be_within`].
pub(crate) fn within(path: &str, place: &str) -> bool {
    lies(path, place, false)
}

/// As [`within`], with a step of which nothing is known taken for any number of any steps.
pub(crate) fn may_be_within(path: &str, place: &str) -> bool {
    lies(path, place, true)
}

fn lies(path: &str, place: &str, any: bool) -> bool {
    if path.starts_with('/') != place.starts_with('/') {
        return false;
    }
    let mut steps = path.split('/').filter(|step| !step.is_empty());
    for wanted in place.split('/').filter(|step| !step.is_empty()) {
        match steps.next() {
            Some(step) if step_may_be(step, wanted) => {}
            // A value that is not known may hold slashes, so anything may follow.
            Some(step) if any && step.contains(ANY) => {
                return wanted.starts_with(step.split(ANY).next().unwrap_or_default());
            }
            _ => return false,
        }
    }
    true
}

/// Whether a text surely has no marks: each of them begins with this byte.
pub(super) fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| byte == 0xef)
}

/// Whether a step says at least so many letters itself, or has no pattern.
pub(super) fn says(step: &str, least: usize) -> bool {
    is_plain(step) || step.chars().filter(|c| !matches!(*c, RUN | ONE | ANY)).count() >= least
}

/// Whether steps (`.git/hooks`) occur in a path side by side; `*` is any step.
pub(crate) fn has_steps(path: &str, wanted: &str) -> bool {
    let mut start = path;
    loop {
        let mut steps = start.split('/');
        let fits = wanted
            .split('/')
            .all(|name| steps.next().is_some_and(|step| name == "*" || (says(step, 2) && step_may_be(step, name))));
        if fits {
            return true;
        }
        match start.split_once('/') {
            Some((_, rest)) => start = rest,
            None => return false,
        }
    }
}

/// The last step.
pub(crate) fn last_step(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Whether the last step may be one of these. A pattern must say three letters of the name, or every `*` would be a key.
pub(super) fn last_is(path: &str, names: &[&str]) -> bool {
    let last = last_step(path);
    says(last, 3) && names.iter().any(|name| step_may_be(last, name))
}
