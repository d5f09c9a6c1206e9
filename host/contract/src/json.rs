//! JSON from callers and guests, read strictly.
//!
//! Two readers of one text must not see two values, so a key that stands twice in an object is an error and not the last one
//! wins. This runs on every call: one pass, and the pointer is put together only when something is wrong.

use caisson_call::Fault;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Deeper JSON than this is refused in arguments: validators and guests recurse, and no honest argument is so deep.
pub const MAX_JSON_DEPTH: usize = 64;

/// Reads JSON of at most [`MAX_JSON_DEPTH`] levels without duplicate keys.
///
/// # Errors
/// What is wrong, with a JSON Pointer (RFC 6901) to it; the pointer is empty where the text is no JSON, and the message then
/// has line and column.
pub fn parse_json(json: &str) -> Result<Value, Fault> {
    duplicate_key_check(json, MAX_JSON_DEPTH)
}

/// [`parse_json`] with another depth; 0 allows only a scalar.
///
/// # Errors
/// As [`parse_json`].
pub fn duplicate_key_check(json: &str, max_depth: usize) -> Result<Value, Fault> {
    let mut wrong = Wrong::default();
    let mut reader = serde_json::Deserializer::from_str(json);
    let value = Strict { depth: max_depth, wrong: &mut wrong }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| match wrong.message.take() {
        Some(message) => Fault { pointer: wrong.pointer(), message },
        None => Fault { pointer: String::new(), message: format!("this is not JSON: {}", reason(&error)) },
    })
}

/// serde_json's own depth limit has the same cause as ours and should have the same words.
fn reason(error: &serde_json::Error) -> String {
    error.to_string().replace("recursion limit exceeded", "nested too deeply; flatten it")
}

/// What was found wrong; segments are pushed from the inside out while the error travels up.
#[derive(Default)]
struct Wrong {
    message: Option<String>,
    segments: Vec<String>,
}

impl Wrong {
    fn pointer(&self) -> String {
        self.segments.iter().rev().map(|s| format!("/{}", s.replace('~', "~0").replace('/', "~1"))).collect()
    }
}

struct Strict<'w> {
    depth: usize,
    wrong: &'w mut Wrong,
}

impl Strict<'_> {
    fn deeper<E: Error>(&mut self) -> Result<usize, E> {
        self.depth.checked_sub(1).ok_or_else(|| {
            self.wrong.message = Some("nested too deeply; flatten it".into());
            E::custom("depth")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Value, A::Error> {
        let depth = self.deeper()?;
        let mut items = Vec::new();
        loop {
            match seq.next_element_seed(Strict { depth, wrong: self.wrong }) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => return Ok(Value::Array(items)),
                Err(error) => {
                    if self.wrong.message.is_some() {
                        self.wrong.segments.push(items.len().to_string());
                    }
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Value, A::Error> {
        let depth = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                self.wrong.message = Some("this key stands twice in its object; leave one".into());
                self.wrong.segments.push(key);
                return Err(A::Error::custom("duplicate"));
            }
            match entries.next_value_seed(Strict { depth, wrong: self.wrong }) {
                Ok(value) => {
                    map.insert(key, value);
                }
                Err(error) => {
                    if self.wrong.message.is_some() {
                        self.wrong.segments.push(key);
                    }
                    return Err(error);
                }
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn fault(json: &str) -> (String, String) {
        let fault = parse_json(json).unwrap_err();
        (fault.pointer, fault.message)
    }

    #[test]
    fn a_key_that_stands_twice_is_pointed_at() {
        assert_eq!(fault(r#"{"a":1,"a":1}"#).0, "/a");
        assert_eq!(fault(r#"{"x":[0,{"y/~":{"b":1,"c":2,"\u0062":3}}]}"#).0, "/x/1/y~1~0/b");
        assert!(fault(r#"{"a":1,"a":1}"#).1.contains("twice"));
        assert!(parse_json(r#"[{"a":1},{"a":1},{"b":{"a":1}}]"#).is_ok());
    }

    #[test]
    fn depth_is_bounded_and_the_bound_itself_is_allowed() {
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse_json(&nested(MAX_JSON_DEPTH)).is_ok());
        assert!(fault(&nested(MAX_JSON_DEPTH + 1)).1.contains("too deeply"));
        assert!(fault(&nested(100_000)).1.contains("too deeply"));
        assert!(fault(&r#"{"a":"#.repeat(100_000)).1.contains("too deeply"));
        assert!(duplicate_key_check("1", 0).is_ok());
        assert!(duplicate_key_check("{}", 0).is_err());
    }

    #[test]
    fn broken_json_has_line_and_column() {
        let (pointer, message) = fault("{\"a\":\n tru}");
        assert!(pointer.is_empty() && message.contains("line 2"), "{message}");
        assert!(fault("{} {}").1.contains("trailing"));
        assert!(!fault("").1.is_empty());
    }

    #[test]
    fn every_kind_of_value_is_as_serde_json_reads_it() {
        let text = r#" {"n":null,"b":[true,false],"i":-3,"u":18446744073709551615,"f":1.5e3,"s":"\u00e5\n"} "#;
        assert_eq!(parse_json(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }
}
