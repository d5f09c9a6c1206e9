//! JSON values.

use crate::REDACTED;
use crate::anchor::{Strength, name_strength};
use crate::value;
use serde_json::{Map, Value};

/// Cleans every string, and takes out whole what stands under a secret's name. Recursion is as deep as the value, which
/// serde_json bounds when it reads one.
pub(crate) fn clean(value: Value, text: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(words) => Value::String(text(&words)),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| clean(item, text)).collect()),
        Value::Object(map) => Value::Object(object(map, text)),
        other => other,
    }
}

fn object(map: Map<String, Value>, text: &dyn Fn(&str) -> String) -> Map<String, Value> {
    map.into_iter()
        .map(|(name, value)| {
            let value = match name_strength(&name) {
                Some(strength) => under(strength, value, text),
                None => clean(value, text),
            };
            (text(&name), value)
        })
        .collect()
}

fn under(strength: Strength, value: Value, text: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(words) if value::is_secret(strength, true, words.as_bytes()) => {
            Value::String(REDACTED.to_owned())
        }
        Value::Number(_) if strength == Strength::Surely => Value::String(REDACTED.to_owned()),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| under(strength, item, text)).collect()),
        other => clean(other, text),
    }
}
