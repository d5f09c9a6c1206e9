//! Values that are known to be secret: what the tenant stored and what was put into this call's requests.

use crate::span::Spans;
use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::sync::Arc;

/// Shorter values are left alone: taking every `admin` or `1234` out of a text would destroy it and hide nothing.
const LEAST_CHARS: usize = 6;

/// Secret values to take out, in every form in which they usually leave: as they are, escaped as in JSON, percent-encoded,
/// hexadecimal, and base64 at any offset of a longer encoded text. Building one costs some µs a value, so build it when the
/// secrets change and not for each call. Cheap to clone; it cannot be printed.
#[derive(Clone, Default)]
pub struct Secrets(Option<Arc<AhoCorasick>>);

impl Secrets {
    /// No known values.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// These values. Values of fewer than 6 characters are left out.
    #[must_use]
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut forms: Vec<String> = Vec::new();
        for value in values {
            let value = value.as_ref();
            if value.chars().count() >= LEAST_CHARS {
                add_forms(value, &mut forms);
            }
        }
        forms.sort_unstable();
        forms.dedup();
        if forms.is_empty() {
            return Self(None);
        }
        // Fails only past 2³¹ states: some GiB of secrets, far more than the store takes.
        Self(AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(forms).ok().map(Arc::new))
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn find(&self, text: &str, spans: &mut Spans) {
        if let Some(matcher) = &self.0 {
            for found in matcher.find_iter(text) {
                spans.add(found.range());
            }
        }
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

fn add_forms(value: &str, forms: &mut Vec<String>) {
    forms.push(value.to_owned());
    let json = serde_json::Value::from(value).to_string();
    forms.push(json.trim_matches('"').to_owned());
    let lower: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    forms.push(lower.to_uppercase());
    forms.push(lower);
    for space_is_plus in [false, true] {
        let percent = percent_encoded(value, space_is_plus);
        forms.push(percent.replace("%2F", "/"));
        forms.push(lower_escapes(&percent));
        forms.push(percent);
    }
    for offset in 0..3 {
        forms.push(base64_core(&STANDARD_NO_PAD, value, offset));
        forms.push(base64_core(&URL_SAFE_NO_PAD, value, offset));
    }
    // The whole encoded value first and longest, so that its last character and padding go too.
    let whole = STANDARD_NO_PAD.encode(value);
    let padding = "=".repeat((4 - whole.len() % 4) % 4);
    forms.push(format!("{whole}{padding}"));
    forms.push(whole);
    forms.push(URL_SAFE_NO_PAD.encode(value));
}

/// Those characters of the encoded value that depend on the value alone when `offset` bytes stand before it and others may
/// follow.
fn base64_core(engine: &impl Engine, value: &str, offset: usize) -> String {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(value.as_bytes());
    let encoded = engine.encode(&padded);
    let first = (offset * 8).div_ceil(6);
    let last = padded.len() * 8 / 6;
    encoded.get(first..last).unwrap_or_default().to_owned()
}

fn percent_encoded(value: &str, space_is_plus: bool) -> String {
    let mut out = String::with_capacity(value.len() * 3);
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' if space_is_plus => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The same with `%2f` for `%2F`.
fn lower_escapes(percent: &str) -> String {
    let mut escape = 0;
    percent
        .chars()
        .map(|c| {
            let in_escape = escape > 0;
            escape = if c == '%' { 2 } else { escape.max(1) - 1 };
            if in_escape { c.to_ascii_lowercase() } else { c }
        })
        .collect()
}
