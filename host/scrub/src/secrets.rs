//! Values that are known to be secret: the gateway's own, what the tenant stored, and what was put into this call's requests.

use crate::finder::Grams;
use crate::span::Span;
use crate::{REDACTED, forms, value};
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Shorter values are left alone: taking every `admin` or `1234` out of a text would destroy it and hide nothing.
const LEAST_CHARS: usize = 6;

/// The class of a known value.
pub(crate) const KNOWN: &str = "known-value";

/// Secret values to take out, in every form in which they usually leave: as they are, escaped as in JSON, JSON in JSON or HTML,
/// percent-encoded, hexadecimal, and base64 at any offset of a longer encoded text.
///
/// Building one costs some 10 µs for a short value, so the tenant's is built when its secrets change (see
/// [`crate::SecretCache`]) and a call's own values are laid beside it with [`Secrets::and`], which builds nothing anew. Cheap to
/// clone; it cannot be printed.
#[derive(Clone, Default)]
pub struct Secrets(Arc<[Arc<Matcher>]>);

/// Why a value is not looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// It has fewer than 6 characters.
    TooShort,
    /// It is a part of what stands where a secret was.
    PartOfMarker,
}

impl std::fmt::Display for Ignored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooShort => write!(
                f,
                "a value of fewer than {LEAST_CHARS} characters is not taken out of texts, since it stands in many; use a longer one"
            ),
            Self::PartOfMarker => write!(f, "the value is a part of `{REDACTED}`; use another one"),
        }
    }
}

impl Secrets {
    /// No known values.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// These values. Those that [`Secrets::why_ignored`] has a reason against are left out.
    #[must_use]
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut forms = BTreeSet::new();
        for value in values {
            let value = value.as_ref();
            if Self::why_ignored(value).is_none() {
                forms::add(value, &mut forms);
                // Keys of many lines are printed in part, and with other white space before each line.
                forms.extend(lines_of_keys(value));
            }
        }
        if forms.is_empty() { Self::none() } else { Self(Arc::new([Arc::new(Matcher::new(&forms))])) }
    }

    /// Why a value would not be looked for, to be told to whoever stores it.
    #[must_use]
    pub fn why_ignored(value: &str) -> Option<Ignored> {
        if value.chars().count() < LEAST_CHARS {
            return Some(Ignored::TooShort);
        }
        REDACTED.contains(value).then_some(Ignored::PartOfMarker)
    }

    /// These and those: the tenant's beside the gateway's, a call's beside both. Costs a small list, whatever their size.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(other.0.iter()).cloned().collect())
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn walks(&self) -> Vec<Walk> {
        self.0.iter().map(|matcher| Walk { state: matcher.start, at: 0, root: 0 }).collect()
    }

    /// Walks on over what the text has grown by; gives the place before which no value begins any more.
    pub(crate) fn advance(&self, walks: &mut [Walk], text: &[u8], closed: bool, spans: &mut Vec<Span>) -> usize {
        let each = self.0.iter().zip(walks).map(|(matcher, walk)| matcher.walk(walk, text, closed, spans));
        each.min().unwrap_or(text.len())
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

fn lines_of_keys(value: &str) -> impl Iterator<Item = Vec<u8>> + '_ {
    let lines = value.lines().skip(usize::from(!value.trim().contains('\n')));
    lines.map(str::trim).filter(|line| value::is_random(line.as_bytes())).map(|line| line.as_bytes().to_vec())
}

/// Finds the forms of one set of values.
struct Matcher {
    /// `None` only past 2³¹ states, some GiB of secrets; then nothing may pass as clean.
    automaton: Option<NFA>,
    start: StateID,
    /// What the forms begin with: where nothing is begun, the automaton need not look at anything else.
    first: Grams,
    longest: usize,
}

/// Where a matcher stands.
pub(crate) struct Walk {
    state: StateID,
    at: usize,
    /// No form has begun before this place that could still become whole.
    root: usize,
}

impl Walk {
    pub(crate) fn shift(&mut self, by: usize) {
        self.at = self.at.saturating_sub(by);
        self.root = self.root.saturating_sub(by);
    }
}

impl Matcher {
    fn new(forms: &BTreeSet<Vec<u8>>) -> Self {
        let automaton = NFA::builder().match_kind(MatchKind::Standard).build(forms).ok();
        let start = automaton.as_ref().and_then(|nfa| nfa.start_state(Anchored::No).ok());
        let first = Grams::of(forms.iter().map(Vec::as_slice));
        let longest = forms.iter().map(Vec::len).max().unwrap_or(1);
        Self { start: start.unwrap_or_default(), automaton: automaton.filter(|_| start.is_some()), first, longest }
    }

    fn walk(&self, walk: &mut Walk, text: &[u8], closed: bool, spans: &mut Vec<Span>) -> usize {
        let Some(automaton) = &self.automaton else {
            spans.push(Span { range: 0..text.len(), class: KNOWN });
            return text.len();
        };
        while walk.at < text.len() {
            if walk.state == self.start {
                let next = self.first.next(text, walk.at);
                walk.at = next.unwrap_or_else(|rest| rest);
                walk.root = walk.at;
                if next.is_err() {
                    return if closed { text.len() } else { walk.at };
                }
            }
            let Some(byte) = text.get(walk.at) else { break };
            walk.state = automaton.next_state(Anchored::No, walk.state, *byte);
            walk.at += 1;
            if automaton.is_match(walk.state) {
                // The first of a state is the longest.
                let length = automaton.pattern_len(automaton.match_pattern(walk.state, 0));
                add(spans, walk.at - length..walk.at);
            }
        }
        if walk.state == self.start { walk.at } else { walk.root.max((walk.at + 1).saturating_sub(self.longest)) }
    }
}

/// Matches of one set come in the order of their ends; those that touch are one.
fn add(spans: &mut Vec<Span>, mut range: std::ops::Range<usize>) {
    while let Some(last) = spans.last()
        && last.class == KNOWN
        && last.range.end >= range.start
        && last.range.start <= range.end
    {
        range = last.range.start.min(range.start)..last.range.end.max(range.end);
        spans.pop();
    }
    spans.push(Span { range, class: KNOWN });
}
