#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::{Json, Reason};

#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "only reading it is tested")]
struct Args {
    cities: Vec<City>,
}

#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "only reading it is tested")]
struct City {
    name: String,
}

struct One;

impl Plugin for One {
    fn tools() -> Vec<Entry> {
        vec![Entry { name: "one", describe, call: |_| Ok(Output::text("1")) }]
    }
}

fn describe() -> Description {
    Description {
        name: "one".into(),
        title: None,
        description: "One.".into(),
        parameters: crate::schema::no_arguments(),
        returns: None,
        read_only: true,
        deferred: false,
        idempotent: false,
        cache_seconds: None,
        groups: Vec::new(),
        max_result_chars: Some(50_000),
    }
}

#[test]
fn arguments_that_do_not_fit_name_the_place() {
    let error = parse::<Args>(r#"{"cities":[{"name":"Oslo"},{"name":4}]}"#).err().unwrap();
    assert_eq!(error.reason(), Reason::InvalidArguments);
    assert!(error.message().contains("`cities[1].name`"), "{error}");
}

#[test]
fn an_unknown_tool_is_not_found_and_the_others_are_named() {
    let error = dispatch::<One>("two", "{}").unwrap_err();
    assert_eq!(error.reason(), Reason::NotFound);
    assert!(error.message().contains("`two`") && error.message().contains("one"), "{error}");
    assert_eq!(dispatch::<One>("one", "{}").unwrap().model_text(), "1");
}

#[test]
fn a_result_that_json_cannot_hold_fails_the_call() {
    let bad = std::collections::BTreeMap::from([(vec![1_u8], 1)]);
    let error = finish(Ok(Json(bad))).unwrap_err();
    assert!(error.message().contains("cannot be written as JSON"), "{error}");
    let good = finish(Ok(Json(serde_json::json!({"a": 1})))).unwrap();
    assert_eq!(good.structured(), Some(r#"{"a":1}"#));
}

#[test]
fn what_has_no_field_goes_into_extra() {
    assert_eq!(describe().extra().unwrap(), r#"{"max-result-chars":50000}"#);
}
