//! Every part of an answer is cleaned.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_call::{Content, Outcome, RawOutput, RawResult, ToolErrorReason};
use caisson_scrub::{Scrubber, Secrets};
use serde_json::json;

const KEY: &str = "sk-abcdefghijklmnopqrstuvwx";

#[test]
fn an_error_is_cleaned_in_message_and_details() {
    let raw = RawResult::new(RawOutput::Error {
        reason: ToolErrorReason::Failed,
        message: format!("the server said {KEY}"),
        retry_after_ms: Some(7),
        details: Some(json!({ "seen": KEY, "password": "x" }).to_string()),
    });
    let clean = Scrubber::new().clean(raw);
    assert_eq!((clean.outcome(), clean.text().as_str()), (Outcome::ToolError, "the server said [REDACTED]"));
    let error = clean.error().unwrap();
    assert_eq!(error.retry_after_ms, Some(7));
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(error.details.as_deref().unwrap()).unwrap(),
        json!({ "seen": "[REDACTED]", "password": "[REDACTED]" })
    );
}

#[test]
fn an_output_is_cleaned_in_all_its_parts_but_paths() {
    let path = format!("/workspace/{KEY}");
    let svg = format!("<svg>{KEY}</svg>");
    let raw = RawResult::new(RawOutput::Output {
        for_model: vec![
            Content::Text(KEY.into()),
            Content::Image { mime_type: "image/png".into(), data: svg.clone().into_bytes() },
            Content::Image { mime_type: "image/svg+xml".into(), data: svg.clone().into_bytes() },
            Content::File { path: path.clone(), mime_type: None, caption: Some(format!("made with {KEY}")) },
            Content::Kept("r".into()),
        ],
        for_user: Some(format!("see {KEY}")),
        structured: Some(format!("{{\"k\":\"\\u0073{}\"}}", &KEY[1..])),
        silent: true,
    });
    let clean = Scrubber::new().clean_with(raw, &Secrets::new(["made with"]));
    assert_eq!(
        clean.for_model(),
        [
            Content::Text("[REDACTED]".into()),
            Content::Image { mime_type: "image/png".into(), data: svg.into_bytes() },
            Content::Image { mime_type: "image/svg+xml".into(), data: b"<svg>[REDACTED]</svg>".to_vec() },
            Content::File { path, mime_type: None, caption: Some("[REDACTED] [REDACTED]".into()) },
            Content::Kept("r".into()),
        ]
    );
    assert_eq!(
        (clean.for_user(), clean.structured(), clean.silent()),
        (Some("see [REDACTED]"), Some("{\"k\":\"[REDACTED]\"}"), true)
    );
}

#[test]
fn clean_structured_text_stays_byte_for_byte() {
    for text in ["{ \"a\" : 1.50, \"b\": \"\\u00e9\\n\" }", "not json \\", "[]"] {
        let raw = RawOutput::Output { for_model: vec![], for_user: None, structured: Some(text.into()), silent: false };
        assert_eq!(Scrubber::new().clean(RawResult::new(raw)).structured(), Some(text));
    }
}

#[test]
fn json_values_go_by_their_names() {
    let value = json!({ "user": "bob", "apiKey": "k", "token": "short", "nested": [{ "refresh_token": "y", "password": 1234 }], "page_token": "abcdefghijkl" });
    assert_eq!(
        Scrubber::new().clean_json(value),
        json!({ "user": "bob", "apiKey": "[REDACTED]", "token": "short", "nested": [{ "refresh_token": "[REDACTED]", "password": "[REDACTED]" }], "page_token": "abcdefghijkl" })
    );
}

#[test]
fn a_preview_takes_the_place_of_all_texts() {
    let raw = RawOutput::Output {
        for_model: vec![Content::Text("one".into()), Content::Kept("r0".into()), Content::Text("two".into())],
        for_user: None,
        structured: Some("{}".into()),
        silent: false,
    };
    let clean = Scrubber::new().clean(RawResult::new(raw));
    assert_eq!((clean.text_bytes(), clean.texts().collect::<Vec<_>>()), (6, vec!["one", "two"]));
    let upper = clean.clone().map_text(|text| text.to_uppercase());
    assert_eq!(upper.text(), "ONE\nTWO");
    let short = clean.with_text("preview".into());
    assert_eq!(short.for_model(), [Content::Text("preview".into()), Content::Kept("r0".into())]);
}
