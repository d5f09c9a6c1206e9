//! `text_utils`.

mod case;
mod encode;

use caisson_sdk::ToolError;
use similar::TextDiff;
use std::collections::HashSet;
use std::time::Duration;

const LENGTH: usize = 100;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Args {
    /// What to do with `text`; `diff` compares it with `other`
    pub operation: Operation,
    /// The text
    pub text: String,
    /// For `diff`: the new text
    pub other: Option<String>,
    /// For `truncate`: how many characters to keep, the ellipsis included; 100 by default
    #[schemars(range(min = 1))]
    pub length: Option<usize>,
}

#[derive(Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Count,
    Upper,
    Lower,
    Title,
    Snake,
    Camel,
    Pascal,
    Kebab,
    Slug,
    Trim,
    TrimLines,
    CollapseSpaces,
    SortLines,
    UniqueLines,
    ReverseLines,
    NumberLines,
    Truncate,
    Diff,
    Base64Encode,
    Base64Decode,
    UrlEncode,
    UrlDecode,
    HexEncode,
    HexDecode,
    JsonEscape,
    HtmlEscape,
    Sha256,
}

pub fn answer(args: &Args) -> Result<String, ToolError> {
    let text = args.text.as_str();
    Ok(match args.operation {
        Operation::Count => count(text),
        Operation::Upper => text.to_uppercase(),
        Operation::Lower => text.to_lowercase(),
        Operation::Title => case::title(text),
        Operation::Snake => case::joined(text, "_"),
        Operation::Kebab => case::joined(text, "-"),
        Operation::Camel => case::camel(text, false),
        Operation::Pascal => case::camel(text, true),
        Operation::Slug => case::slug(text),
        Operation::Trim => text.trim().to_owned(),
        Operation::TrimLines => lines(text, |all| all.iter().map(|line| line.trim()).collect()),
        Operation::CollapseSpaces => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Operation::SortLines => lines(text, |mut all| {
            all.sort_unstable();
            all
        }),
        Operation::UniqueLines => lines(text, |all| {
            let mut seen = HashSet::new();
            all.into_iter().filter(|line| seen.insert(*line)).collect()
        }),
        Operation::ReverseLines => lines(text, |all| all.into_iter().rev().collect()),
        Operation::NumberLines => {
            let width = text.lines().count().to_string().len();
            let numbered = text.lines().enumerate().map(|(index, line)| format!("{:>width$} {line}", index + 1));
            numbered.collect::<Vec<_>>().join("\n")
        }
        Operation::Truncate => truncate(text, args.length.unwrap_or(LENGTH))?,
        Operation::Diff => diff(text, args.other.as_deref())?,
        Operation::Base64Encode => encode::base64(text),
        Operation::Base64Decode => encode::from_base64(text)?,
        Operation::UrlEncode => encode::url(text),
        Operation::UrlDecode => encode::from_url(text)?,
        Operation::HexEncode => encode::hex(text.as_bytes()),
        Operation::HexDecode => encode::from_hex(text)?,
        Operation::JsonEscape => serde_json::to_string(text)?,
        Operation::HtmlEscape => encode::html(text),
        Operation::Sha256 => encode::sha256(text),
    })
}

fn count(text: &str) -> String {
    format!(
        "{} characters, {} words, {} lines, {} bytes",
        text.chars().count(),
        text.split_whitespace().count(),
        text.lines().count(),
        text.len()
    )
}

/// Changes the lines; whether the last one has a line end stays as it is.
fn lines(text: &str, change: impl for<'l> FnOnce(Vec<&'l str>) -> Vec<&'l str>) -> String {
    let mut changed = change(text.lines().collect()).join("\n");
    if text.ends_with('\n') {
        changed.push('\n');
    }
    changed
}

fn truncate(text: &str, length: usize) -> Result<String, ToolError> {
    if length == 0 {
        return Err(ToolError::invalid_arguments("`length` counts from 1"));
    }
    if text.chars().nth(length).is_none() {
        return Ok(text.to_owned());
    }
    let mut short: String = text.chars().take(length - 1).collect();
    short.push('…');
    Ok(short)
}

fn diff(text: &str, other: Option<&str>) -> Result<String, ToolError> {
    let other = other.ok_or_else(|| ToolError::invalid_arguments("`diff` needs `other`: the text to compare with"))?;
    if text == other {
        return Ok("[no difference]".to_owned());
    }
    // Past this the lines are matched less well, but the result stays a right one.
    let diff = TextDiff::configure().timeout(Duration::from_millis(500)).diff_lines(text, other);
    let unified = diff.unified_diff().context_radius(3).header("text", "other").to_string();
    Ok(unified)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn run(operation: Operation, text: &str) -> String {
        answer(&Args { operation, text: text.into(), other: None, length: None }).unwrap()
    }

    fn fault(operation: Operation, text: &str) -> String {
        let args = Args { operation, text: text.into(), other: None, length: Some(0) };
        answer(&args).unwrap_err().message().to_owned()
    }

    #[test]
    fn what_cannot_be_decoded_is_told() {
        assert!(fault(Operation::Base64Decode, "a*b").contains("is not base64"));
        assert!(fault(Operation::Base64Decode, "gA==").contains("hex 80"));
        assert!(fault(Operation::UrlDecode, "%zz").contains("`%zz`"));
        assert!(fault(Operation::UrlDecode, "%8").contains("`%8`"));
        assert!(fault(Operation::HexDecode, "abc").contains("an even number"));
        assert!(fault(Operation::HexDecode, "xy").contains("is not hexadecimal"));
        assert!(fault(Operation::Diff, "a").contains("needs `other`"));
        assert!(fault(Operation::Truncate, "a").contains("`length`"));
    }

    #[test]
    fn codes_go_both_ways() {
        for text in ["", "a", "héllo wörld/?&=+%", "日本\n"] {
            assert_eq!(run(Operation::Base64Decode, &run(Operation::Base64Encode, text)), text);
            assert_eq!(run(Operation::UrlDecode, &run(Operation::UrlEncode, text)), text);
            assert_eq!(run(Operation::HexDecode, &run(Operation::HexEncode, text)), text);
        }
        assert_eq!(run(Operation::Base64Decode, "aGk_aGk"), "hi?hi");
        assert_eq!(run(Operation::UrlEncode, "a b&ü"), "a%20b%26%C3%BC");
        assert_eq!(run(Operation::UrlDecode, "a+b"), "a b");
        assert_eq!(run(Operation::HexEncode, "hi"), "6869");
        assert_eq!(run(Operation::HtmlEscape, "<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
        assert_eq!(run(Operation::JsonEscape, "a\"\n"), "\"a\\\"\\n\"");
        assert_eq!(
            run(Operation::Sha256, "abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn cases_change() {
        let text = "helloWorld, HTTPServer 2x_über";
        assert_eq!(run(Operation::Snake, text), "hello_world_http_server_2x_über");
        assert_eq!(run(Operation::Kebab, text), "hello-world-http-server-2x-über");
        assert_eq!(run(Operation::Camel, text), "helloWorldHttpServer2xÜber");
        assert_eq!(run(Operation::Pascal, text), "HelloWorldHttpServer2xÜber");
        assert_eq!(run(Operation::Title, "the o'neill  way"), "The O'neill  Way");
        assert_eq!(run(Operation::Slug, "  Crème Brûlée & Straße, 50%! "), "creme-brulee-strasse-50");
        assert_eq!(run(Operation::Upper, "straße"), "STRASSE");
    }

    #[test]
    fn lines_change() {
        assert_eq!(run(Operation::SortLines, "b\na\nc\n"), "a\nb\nc\n");
        assert_eq!(run(Operation::UniqueLines, "b\na\nb"), "b\na");
        assert_eq!(run(Operation::ReverseLines, "1\n2"), "2\n1");
        assert_eq!(run(Operation::TrimLines, " a \n b"), "a\nb");
        assert_eq!(run(Operation::CollapseSpaces, " a \n\t b "), "a b");
        assert_eq!(run(Operation::NumberLines, "a\nb"), "1 a\n2 b");
        assert_eq!(run(Operation::Count, "añb c\nd"), "7 characters, 3 words, 2 lines, 8 bytes");
    }

    #[test]
    fn texts_are_cut_and_compared() {
        let cut = |text: &str, length| {
            answer(&Args { operation: Operation::Truncate, text: text.into(), other: None, length: Some(length) })
                .unwrap()
        };
        assert_eq!(cut("häuser", 6), "häuser");
        assert_eq!(cut("häuser", 3), "hä…");
        let diff = |text: &str, other: &str| {
            answer(&Args { operation: Operation::Diff, text: text.into(), other: Some(other.into()), length: None })
                .unwrap()
        };
        assert_eq!(diff("a\nb\n", "a\nc\n"), "--- text\n+++ other\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(diff("a", "a"), "[no difference]");
    }
}
