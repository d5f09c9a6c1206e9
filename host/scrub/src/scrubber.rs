//! The scrubber and all that it cleans.

use crate::anchor::{self, Anchor};
use crate::finder::Finder;
use crate::pass::Pass;
use crate::result::{CleanError, CleanResult};
use crate::span::{Span, Writer};
use crate::{Secrets, Stream, json};
use caisson_call::{Content, RawOutput, RawResult};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// What stands where a secret was.
pub const REDACTED: &str = "[REDACTED]";

/// Takes secrets out of what leaves. Build one and share it.
pub struct Scrubber {
    pub(crate) rules: &'static Rules,
    pub(crate) long_hex: bool,
}

/// The static classes, the same for everybody and so compiled once.
pub(crate) struct Rules {
    pub(crate) finder: Finder,
    /// What each of the finder's literals stands for, and its class.
    pub(crate) anchors: Vec<(Anchor, &'static str)>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let (literals, anchors) = anchor::all();
    Rules { finder: Finder::new(literals), anchors }
});

/// A text without its secrets, and which kinds of secret were in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The text, cleaned.
    pub text: String,
    /// The classes that matched, each once, in the order of their first match: those of [`crate::PROVIDERS`], and `assignment`,
    /// `variable`, `high-entropy`, `bearer`, `basic`, `jwt`, `private-key`, `connection-string`, `known-value`, `long-hex`, ….
    pub classes: Vec<&'static str>,
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
    /// All static classes but long hexadecimal runs. The first one costs some milliseconds.
    #[must_use]
    pub fn new() -> Self {
        Self { rules: &RULES, long_hex: false }
    }

    /// The same, which also takes out any run of 64 hexadecimal digits that nothing beside it calls a digest. Off by default:
    /// hashes are more common than keys.
    #[must_use]
    pub fn with_long_hex(mut self, on: bool) -> Self {
        self.long_hex = on;
        self
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
        let spans = self.spans(text, secrets);
        if spans.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(without(text, spans)) }
    }

    /// The text cleaned, with the classes that matched: what an operator asks when something went that should have stayed.
    #[must_use]
    pub fn explain(&self, text: &str) -> Explained {
        self.explain_with(text, &Secrets::none())
    }

    /// The same, and without these known values.
    #[must_use]
    pub fn explain_with(&self, text: &str, secrets: &Secrets) -> Explained {
        let mut spans = self.spans(text, secrets);
        spans.sort_by_key(|span| span.range.start);
        let mut classes = Vec::new();
        for span in &spans {
            if !classes.contains(&span.class) {
                classes.push(span.class);
            }
        }
        Explained { text: without(text, spans), classes }
    }

    /// Cleans text that comes in pieces.
    #[must_use]
    pub fn stream(self: &Arc<Self>, secrets: &Secrets) -> Stream {
        Stream::new(Arc::clone(self), secrets)
    }

    fn spans(&self, text: &str, secrets: &Secrets) -> Vec<Span> {
        let mut pass = Pass::new(secrets);
        pass.advance(self, secrets, text.as_bytes(), true);
        pass.spans
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

fn without(text: &str, mut spans: Vec<Span>) -> String {
    let mut out = Vec::with_capacity(text.len());
    Writer::default().write(text.as_bytes(), text.len(), &mut spans, &mut out);
    // Secrets end at ASCII bytes or are whole texts; should one ever end within a character, that must not become a panic.
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
