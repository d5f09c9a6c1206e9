//! What is too large for the model is kept, and a preview with a reference goes instead.

use super::find::Found;
use crate::gateway::Inner;
use crate::outputs::CallerOutputs;
use caisson_scrub::CleanResult;

/// Characters of a preview.
const PREVIEW: usize = 4_000;

/// Most that a tool may set for itself.
const MAX_OWN: usize = 100_000;

pub(crate) async fn keep_back(inner: &Inner, found: &Found, clean: CleanResult) -> CleanResult {
    let limit = found.tool.max_result_chars.map_or(inner.config.max_result_chars, |own| own.min(MAX_OWN));
    // Bytes are never fewer than characters, so most results are decided without counting.
    if clean.text_bytes() <= limit {
        return clean;
    }
    let whole = clean.text();
    if whole.chars().count() <= limit {
        return clean;
    }
    let kind = kind(&whole);
    let outputs = CallerOutputs::of(&inner.store, &inner.scrubber, &found.call.principal, &found.tool.name);
    let chars = whole.chars().count();
    let lines = whole.lines().count();
    let preview = preview(&whole, kind);
    let shown = preview.chars().count();
    let kept = outputs.keep_clean(kind.media_type(), whole.into_bytes()).await;
    let mark = kept.map_or_else(
        |error| {
            tracing::error!(error, "a large result cannot be kept");
            "not kept, since the store is not available: call again with narrower arguments".into()
        },
        |reference| format!("ref:{reference}"),
    );
    clean.with_text(format!(
        "[LARGE OUTPUT: {} | type:{} | lines:{lines} | chars:{chars} | {mark}]\nTRUNCATED: {shown} of {chars} characters are shown below; {} are not. Ask the tool for a part of it, or read the rest with `read_output` and this ref.\n\nPreview:\n{preview}",
        found.tool.name,
        kind.word(),
        chars.saturating_sub(shown),
    ))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Json,
    JsonLines,
    Html,
    Xml,
    Csv,
    Text,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::JsonLines => "jsonl",
            Self::Html => "html",
            Self::Xml => "xml",
            Self::Csv => "csv",
            Self::Text => "text",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::JsonLines => "application/x-ndjson",
            Self::Html => "text/html",
            Self::Xml => "application/xml",
            Self::Csv => "text/csv",
            Self::Text => "text/plain",
        }
    }

    /// Units that a preview of this kind holds.
    fn lines(self) -> usize {
        match self {
            Self::Json | Self::Text | Self::Html => 60,
            Self::JsonLines => 5,
            Self::Csv => 6,
            Self::Xml => 10,
        }
    }
}

fn kind(text: &str) -> Kind {
    let start = text.trim_start();
    let is_json = |line: &str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
    if start.starts_with(['{', '[']) {
        if is_json(start) {
            return Kind::Json;
        }
        if start.lines().take(20).all(|line| line.trim().is_empty() || line.starts_with('{')) {
            return Kind::JsonLines;
        }
    }
    let head: String = start.chars().take(15).collect::<String>().to_ascii_lowercase();
    if head.starts_with("<!doctype html") || head.starts_with("<html") {
        return Kind::Html;
    }
    if head.starts_with("<?xml") {
        return Kind::Xml;
    }
    let commas: Vec<usize> = start.lines().take(6).map(|line| line.matches([',', '\t']).count()).collect();
    match commas.as_slice() {
        [first, rest @ ..] if *first > 0 && !rest.is_empty() && rest.iter().all(|count| count == first) => Kind::Csv,
        _ => Kind::Text,
    }
}

fn preview(text: &str, kind: Kind) -> String {
    let units = if kind == Kind::Json { first_entries(text) } else { None };
    let head = units.unwrap_or_else(|| text.lines().take(kind.lines()).collect::<Vec<_>>().join("\n"));
    head.chars().take(PREVIEW).collect()
}

/// The first five entries of a JSON array or object, one a line.
fn first_entries(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let entries: Vec<String> = match value {
        serde_json::Value::Array(items) => {
            items.iter().take(5).enumerate().map(|(n, item)| format!("[{n}] {item}")).collect()
        }
        serde_json::Value::Object(map) => map.iter().take(5).map(|(key, value)| format!("{key}: {value}")).collect(),
        _ => return None,
    };
    Some(entries.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        for (text, expected) in [
            ("{\"a\":1}", Kind::Json),
            ("[1,2]", Kind::Json),
            ("{\"a\":1}\n{\"a\":2}\n", Kind::JsonLines),
            ("<!DOCTYPE html><p>", Kind::Html),
            ("<?xml version='1.0'?><a/>", Kind::Xml),
            ("a,b\n1,2\n3,4\n", Kind::Csv),
            ("a sentence, with a comma\nand one without", Kind::Text),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn a_preview_is_bounded_also_where_everything_is_one_line() {
        let one_line = format!("[\"{}\"]", "x".repeat(50_000));
        assert_eq!(preview(&one_line, Kind::Json).chars().count(), PREVIEW);
        assert_eq!(preview(&"y".repeat(50_000), Kind::Text).chars().count(), PREVIEW);
    }
}
