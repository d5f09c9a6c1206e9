//! Values that are known to be secret go in every form.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use caisson_scrub::{Scrubber, Secrets};

const VALUE: &str = "p?/ä s\"3cret~~~";

fn cleaned(text: &str) -> String {
    Scrubber::new().clean_text_with(text, &Secrets::new([VALUE, "short", "abcdef"])).into_owned()
}

#[test]
fn as_it_is_and_escaped() {
    let json = serde_json::Value::from(VALUE).to_string();
    let percent = "p%3F%2F%C3%A4%20s%223cret~~~";
    for form in [
        VALUE,
        json.trim_matches('"'),
        percent,
        &percent.replace("%20", "+"),
        &percent.replace("%2F", "/"),
        "p%3f%2f%c3%a4%20s%223cret~~~",
    ] {
        assert_eq!(cleaned(&format!("<{form}>")), "<[REDACTED]>", "{form}");
    }
}

#[test]
fn hexadecimal() {
    let hex: String = VALUE.bytes().map(|b| format!("{b:02x}")).collect();
    assert_eq!(cleaned(&format!(">{hex}<")), ">[REDACTED]<");
    assert_eq!(cleaned(&format!(">{}<", hex.to_uppercase())), ">[REDACTED]<");
}

#[test]
fn base64_at_any_offset() {
    for before in ["", "a", "ab", "abc", "user:", "user1:", "user12:"] {
        for after in ["", "x", "xy", "xyz"] {
            let text = format!("{before}{VALUE}{after}");
            for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                let out = cleaned(&format!("({encoded})"));
                assert!(out.contains("[REDACTED]"), "{before} {after}: {out}");
                // What is left decodes to nothing of the value but what lies beside it.
                assert!(out.len() < 2 + "[REDACTED]".len() + (before.len() + after.len()) * 4 / 3 + 8, "{out}");
            }
        }
    }
    assert_eq!(cleaned(&STANDARD.encode(VALUE)), "[REDACTED]");
}

#[test]
fn values_of_fewer_than_six_characters_stay_and_of_six_go() {
    assert_eq!(cleaned("a short abcdef end"), "a short [REDACTED] end");
    assert!(Secrets::new(["12345"]).is_empty() && Secrets::none().is_empty());
    assert_eq!(format!("{:?}", Secrets::new(["abcdef"])), "Secrets");
}

#[test]
fn a_known_value_does_not_hide_the_static_classes() {
    let text = "abcdef sk-abcdefghijklmnopqrstuvwx password=abcdefabcdef12";
    assert_eq!(cleaned(text), "[REDACTED] [REDACTED] password=[REDACTED]");
}
