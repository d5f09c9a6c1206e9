//! What is wrong with something that is to be saved.

use serde_json::{Map, Value};
use std::fmt;

/// One thing that is wrong. Never holds a value that was given, since that may be a secret in the wrong place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: `deny_args[2]`, `env.GH_TOKEN`.
    pub at: String,
    /// What is wrong and what to write instead.
    pub why: String,
}

impl Fault {
    pub(crate) fn new(at: impl Into<String>, why: impl Into<String>) -> Self {
        Self { at: at.into(), why: why.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.at, self.why)
    }
}

impl std::error::Error for Fault {}

/// The most characters of a name that are compared and shown: comparing costs the product of both lengths.
const MOST_SHOWN: usize = 64;

/// A name from outside in a message: short, on one line, and without what would end its quotes.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(MOST_SHOWN).flat_map(char::escape_debug).collect::<String>().replace('`', "'")
}

/// The name that is most alike.
pub(crate) fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let name: String = name.chars().take(MOST_SHOWN).flat_map(char::to_lowercase).collect();
    let likeness = |other: &str| strsim::normalized_damerau_levenshtein(&name, other);
    names.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
}

/// A key of an object from outside, and what belongs there.
pub(crate) type Key = (&'static str, &'static str);

/// The object with only keys that there are. `at` is empty for the whole.
pub(crate) fn object<'v>(value: &'v Value, at: &str, keys: &[Key]) -> Result<&'v Map<String, Value>, Vec<Fault>> {
    let Value::Object(map) = value else {
        return Err(vec![Fault::new(if at.is_empty() { "body" } else { at }, "an object is needed")]);
    };
    let strangers = map.keys().filter(|key| !keys.iter().any(|(known, _)| known == key));
    let faults: Vec<Fault> = strangers
        .map(|key| {
            let nearest = nearest(key, keys.iter().map(|(known, _)| *known)).unwrap_or_default();
            Fault::new(below(at, &shown(key)), format!("there is no such key; the nearest is `{nearest}`"))
        })
        .collect();
    if faults.is_empty() { Ok(map) } else { Err(faults) }
}

/// The name of what stands in something.
pub(crate) fn below(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

/// Reads an object whose keys are all optional, so that each can be read alone and a fault names its key. What serde says is
/// not passed on: it repeats values.
pub(crate) fn read<T: serde::de::DeserializeOwned>(
    map: &Map<String, Value>,
    at: &str,
    keys: &[Key],
) -> Result<T, Vec<Fault>> {
    if let Ok(all) = serde_json::from_value(Value::Object(map.clone())) {
        return Ok(all);
    }
    let alone = |key: &String, value: &Value| {
        serde_json::from_value::<T>(Value::Object(Map::from_iter([(key.clone(), value.clone())]))).is_ok()
    };
    let wrong = map.iter().filter(|(key, value)| !alone(key, value));
    let faults: Vec<Fault> = wrong
        .map(|(key, _)| {
            let needed = keys.iter().find(|(known, _)| known == key).map_or("something else", |(_, needed)| needed);
            Fault::new(below(at, key), format!("{needed} is needed"))
        })
        .collect();
    if faults.is_empty() {
        // Two spellings of one key.
        let names = map.keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        return Err(vec![Fault::new(
            if at.is_empty() { "body" } else { at },
            format!("a key is given twice in {names}"),
        )]);
    }
    Err(faults)
}
