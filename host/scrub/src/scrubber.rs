//! The pass over a text.

use crate::anchor::{self, Anchor};
use crate::result::{CleanError, CleanResult};
use crate::span::Spans;
use crate::{Secrets, assign, hex, json, key, token, url};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use caisson_call::{Content, RawOutput, RawResult};
use std::borrow::Cow;

/// What stands where a secret was.
pub const REDACTED: &str = "[REDACTED]";

/// Takes secrets out of what leaves. Build one and share it: building costs about a millisecond, using it no lock.
pub struct Scrubber {
    anchors: Vec<Anchor>,
    /// `None` only where the fixed anchors could not be compiled; then nothing may pass as clean.
    matcher: Option<AhoCorasick>,
}

impl Default for Scrubber {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scrubber")
    }
}

impl Scrubber {
    /// Compiles the static classes.
    #[must_use]
    pub fn new() -> Self {
        let (words, anchors) = anchor::all();
        // A DFA reads each byte once whatever the number of anchors, and overlapping matches are needed: `sk-` ends many words.
        let matcher =
            AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(words).ok();
        Self { anchors, matcher }
    }

    /// Opens a guest's answer and takes the static classes out of all of it: texts, captions, media that is text, structured
    /// output, errors and their details. File paths and kept references stay as they are, since they are opened by the host.
    #[must_use]
    pub fn clean(&self, raw: RawResult) -> CleanResult {
        self.clean_with(raw, &Secrets::none())
    }

    /// The same, and these known values.
    #[must_use]
    pub fn clean_with(&self, raw: RawResult, secrets: &Secrets) -> CleanResult {
        let text = |text: String| self.owned(text, secrets);
        match raw.expose() {
            RawOutput::Output { for_model, for_user, structured, silent } => CleanResult {
                for_model: for_model.into_iter().map(|content| self.content(content, secrets)).collect(),
                for_user: for_user.map(text),
                structured: structured.map(|json| self.json_text(json, secrets)),
                silent,
                error: None,
            },
            RawOutput::Error { reason, message, retry_after_ms, details } => CleanResult {
                for_model: vec![Content::Text(text(message))],
                for_user: None,
                structured: None,
                silent: false,
                error: Some(CleanError {
                    reason,
                    retry_after_ms,
                    details: details.map(|json| self.json_text(json, secrets)),
                }),
            },
        }
    }

    /// A text without the static classes; borrowed where there is nothing to take out. For progress, logs and error messages.
    #[must_use]
    pub fn clean_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.clean_text_with(text, &Secrets::none())
    }

    /// The same, and without these known values.
    #[must_use]
    pub fn clean_text_with<'t>(&self, text: &'t str, secrets: &Secrets) -> Cow<'t, str> {
        let Some(matcher) = &self.matcher else { return Cow::Owned(REDACTED.to_owned()) };
        let mut spans = Spans::default();
        secrets.find(text, &mut spans);
        // Known values stand first so that nothing hides them, but what they cover must not stop the other passes.
        let mut fixed = Spans::default();
        let bytes = text.as_bytes();
        for found in matcher.find_overlapping_iter(text) {
            if fixed.covers(found.start()) {
                continue;
            }
            if let Some(anchor) = self.anchors.get(found.pattern().as_usize())
                && let Some(range) = look(anchor, bytes, found.start(), found.end())
            {
                fixed.add(range);
            }
        }
        token::bot_tokens(bytes, &mut fixed);
        hex::long_runs(bytes, &mut fixed);
        spans.merge(fixed).redact(text)
    }

    /// A JSON value with every string cleaned, and what stands under a name such as `password` taken out whole.
    #[must_use]
    pub fn clean_json(&self, value: serde_json::Value) -> serde_json::Value {
        self.clean_json_with(value, &Secrets::none())
    }

    /// The same, and without these known values.
    #[must_use]
    pub fn clean_json_with(&self, value: serde_json::Value, secrets: &Secrets) -> serde_json::Value {
        json::clean(value, &|text| self.clean_text_with(text, secrets).into_owned())
    }

    fn owned(&self, text: String, secrets: &Secrets) -> String {
        match self.clean_text_with(&text, secrets) {
            Cow::Borrowed(_) => text,
            Cow::Owned(cleaned) => cleaned,
        }
    }

    /// JSON text stays byte for byte as it was where nothing is to be taken out.
    fn json_text(&self, text: String, secrets: &Secrets) -> String {
        // Without an escape, what a reader sees in a string is what stands in the text.
        if !text.contains('\\') && matches!(self.clean_text_with(&text, secrets), Cow::Borrowed(_)) {
            return text;
        }
        let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else { return self.owned(text, secrets) };
        let cleaned = self.clean_json_with(value.clone(), secrets);
        if cleaned == value { text } else { cleaned.to_string() }
    }

    fn content(&self, content: Content, secrets: &Secrets) -> Content {
        let text = |text: String| self.owned(text, secrets);
        match content {
            Content::Text(words) => Content::Text(text(words)),
            Content::Image { mime_type, data } => {
                let data = self.media(&mime_type, data, secrets);
                Content::Image { mime_type: text(mime_type), data }
            }
            Content::Audio { mime_type, data } => {
                let data = self.media(&mime_type, data, secrets);
                Content::Audio { mime_type: text(mime_type), data }
            }
            Content::File { path, mime_type, caption } => {
                Content::File { path, mime_type: mime_type.map(text), caption: caption.map(text) }
            }
            Content::Kept(reference) => Content::Kept(reference),
        }
    }

    /// Text that calls itself a picture (SVG is one) is cleaned as text; other media is not looked into.
    fn media(&self, mime_type: &str, data: Vec<u8>, secrets: &Secrets) -> Vec<u8> {
        let kind = mime_type.to_ascii_lowercase();
        let textual =
            kind.starts_with("text/") || ["json", "xml", "yaml", "javascript"].iter().any(|word| kind.contains(word));
        if !textual {
            return data;
        }
        match String::from_utf8(data) {
            Ok(text) => self.owned(text, secrets).into_bytes(),
            Err(binary) => binary.into_bytes(),
        }
    }
}

/// Looks at what stands around an anchor.
fn look(anchor: &Anchor, bytes: &[u8], start: usize, end: usize) -> Option<std::ops::Range<usize>> {
    match anchor {
        Anchor::Token(shape) => token::prefixed(shape, bytes, start, end),
        Anchor::WebToken => token::web_token(bytes, start),
        Anchor::Webhook => token::webhook(bytes, end),
        Anchor::Name(strength) => assign::assigned(*strength, bytes, start, end),
        Anchor::Variable => assign::variable(bytes, start, end),
        Anchor::Scheme(scheme) => token::after_scheme(*scheme, bytes, start, end),
        Anchor::Authority => url::with_password(bytes, start, end),
        Anchor::PrivateKey => key::private(bytes, start, end),
    }
}
