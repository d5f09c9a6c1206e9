//! `regex`.

use caisson_sdk::{Output, ToolError};
use regex::{Captures, Regex, RegexBuilder};

/// How much memory a compiled pattern may take.
const MAX_COMPILED: usize = 1 << 20;
const MAX_PATTERN: usize = 4_000;
const LIMIT: usize = 100;
/// What a result may have in bytes: templates that repeat a match grow without end otherwise.
const MAX_RESULT: usize = 1 << 20;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Args {
    /// `find` lists the matches, `captures` their groups too, `replace` gives the text with each match replaced, `split` the parts
    /// between matches
    pub operation: Operation,
    /// For example `(?<user>\w+)@(\w+\.com)`; `(?i)`, `(?m)`, `(?s)`, `(?x)` set flags
    #[schemars(length(max = 4000))]
    pub pattern: String,
    /// The text to search
    pub text: String,
    /// For `replace`: `$1`, `${name}` stand for groups, `$$` for a dollar
    pub replacement: Option<String>,
    /// Upper and lower case are the same; false by default
    #[serde(default)]
    pub ignore_case: bool,
    /// How many matches at most; 100 by default, for `replace` all
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

#[derive(Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    Find,
    Captures,
    Replace,
    Split,
}

pub fn answer(args: &Args) -> Result<Output, ToolError> {
    let regex = compile(args)?;
    if args.limit == Some(0) {
        return Err(ToolError::invalid_arguments(format!("`limit` counts from 1; leave it out for {LIMIT}")));
    }
    match args.operation {
        Operation::Find => Ok(listed(&args.text, &regex, args.limit, |found, line| {
            found.get(0).map(|whole| format!("{line}: {}", whole.as_str())).unwrap_or_default()
        })),
        Operation::Captures => Ok(listed(&args.text, &regex, args.limit, |found, line| groups(&regex, found, line))),
        Operation::Replace => replace(args, &regex),
        Operation::Split => Ok(split(args, &regex)),
    }
}

fn compile(args: &Args) -> Result<Regex, ToolError> {
    if args.pattern.len() > MAX_PATTERN {
        return Err(ToolError::invalid_arguments(format!(
            "the pattern has {} bytes; at most {MAX_PATTERN} are taken",
            args.pattern.len()
        )));
    }
    let built = RegexBuilder::new(&args.pattern)
        .case_insensitive(args.ignore_case)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .build();
    built.map_err(|error| {
        let hint = match &error {
            regex::Error::CompiledTooBig(_) => "; it is too large when compiled: use smaller repetitions",
            _ if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| args.pattern.contains(look)) => {
                "; look-around is not supported: match more and use a group"
            }
            _ => "",
        };
        ToolError::invalid_arguments(format!("`pattern` does not parse: {error}{hint}"))
    })
}

/// One block of text for each match, with the line that it begins on; the matches are the structured result too.
fn listed(text: &str, regex: &Regex, limit: Option<usize>, show: impl Fn(&Captures<'_>, usize) -> String) -> Output {
    let limit = limit.unwrap_or(LIMIT);
    let (mut shown, mut matches) = (Vec::new(), Vec::new());
    let (mut size, mut line, mut from) = (0, 1, 0);
    let mut all = regex.captures_iter(text);
    for found in all.by_ref().take(limit) {
        let Some(whole) = found.get(0) else { continue };
        line += text.get(from..whole.start()).unwrap_or_default().matches('\n').count();
        from = whole.start();
        let one = show(&found, line);
        size += one.len() + whole.as_str().len();
        if size > MAX_RESULT {
            shown
                .push("[the matches are too long to show all; use a smaller `limit` or a narrower pattern]".to_owned());
            return Output::text(shown.join("\n"));
        }
        shown.push(one);
        matches.push(
            serde_json::json!({ "match": whole.as_str(), "line": line, "start": whole.start(), "end": whole.end() }),
        );
    }
    if matches.is_empty() {
        shown.push("no match".to_owned());
    }
    let more = all.next().is_some();
    if more {
        shown.push(format!("[more than {limit} matches; raise `limit` to see more]"));
    }
    Output::text(shown.join("\n")).with_structured(serde_json::json!({ "matches": matches, "more": more }))
}

fn groups(regex: &Regex, found: &Captures<'_>, line: usize) -> String {
    let mut text = String::new();
    for (index, (name, group)) in regex.capture_names().zip(found.iter()).enumerate() {
        let label = name.map_or_else(|| index.to_string(), |name| format!("{index} {name}"));
        match group {
            Some(group) if index == 0 => text.push_str(&format!("{line}: {}", group.as_str())),
            Some(group) => text.push_str(&format!("\n  [{label}] {}", group.as_str())),
            None => text.push_str(&format!("\n  [{label}] took no part")),
        }
    }
    text
}

fn replace(args: &Args, regex: &Regex) -> Result<Output, ToolError> {
    let replacement = args.replacement.as_deref().ok_or_else(|| {
        ToolError::invalid_arguments("`replace` needs `replacement`; give an empty one to remove the matches")
    })?;
    let (mut text, mut from, mut count) = (String::new(), 0, 0);
    for found in regex.captures_iter(&args.text).take(args.limit.unwrap_or(usize::MAX)) {
        let Some(whole) = found.get(0) else { continue };
        text.push_str(args.text.get(from..whole.start()).unwrap_or_default());
        found.expand(replacement, &mut text);
        from = whole.end();
        count += 1;
        if text.len() > MAX_RESULT {
            return Err(ToolError::invalid_arguments(format!(
                "the result has more than {MAX_RESULT} bytes; replace less at once, or use a shorter replacement"
            )));
        }
    }
    text.push_str(args.text.get(from..).unwrap_or_default());
    let note = if count == 0 { "[no match, the text is unchanged]".to_owned() } else { format!("[replaced {count}]") };
    Ok(Output::text(text.clone())
        .with_text(note)
        .with_structured(serde_json::json!({ "text": text, "replaced": count })))
}

fn split(args: &Args, regex: &Regex) -> Output {
    let parts: Vec<&str> = regex.splitn(&args.text, args.limit.unwrap_or(LIMIT)).collect();
    Output::text(parts.join("\n")).with_structured(serde_json::json!({ "parts": parts }))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn run(operation: Operation, pattern: &str, text: &str, replacement: Option<&str>) -> Result<Output, ToolError> {
        let replacement = replacement.map(ToOwned::to_owned);
        answer(&Args {
            operation,
            pattern: pattern.into(),
            text: text.into(),
            replacement,
            ignore_case: false,
            limit: None,
        })
    }

    #[test]
    fn what_does_not_compile_is_told() {
        let fault = |pattern: &str| run(Operation::Find, pattern, "", None).unwrap_err().message().to_owned();
        assert!(fault("(").contains("unclosed group"));
        assert!(fault("(?=a)").contains("look-around is not supported"));
        assert!(fault(r"\w{1000}{1000}").contains("smaller repetitions"));
        assert!(fault(&"a".repeat(4001)).contains("at most 4000"));
        assert!(run(Operation::Replace, "a", "a", None).is_err());
    }

    #[test]
    fn a_pattern_that_backtracks_elsewhere_ends() {
        let text = "a".repeat(100_000);
        let output = run(Operation::Find, "^(a+)+$|(a*)*b", &format!("{text}!"), None).unwrap();
        assert_eq!(output.model_text(), "no match");
    }

    #[test]
    fn a_template_cannot_grow_without_end() {
        let error = run(Operation::Replace, "(?s).+", &"a".repeat(500_000), Some("$0$0$0$0")).unwrap_err();
        assert!(error.message().contains("more than 1048576 bytes"), "{error}");
    }

    #[test]
    fn matches_have_their_lines() {
        let output = run(Operation::Find, "[0-9]+", "a1\nb\nc22 333", None).unwrap();
        assert_eq!(output.model_text(), "1: 1\n3: 22\n3: 333");
        assert!(output.structured().unwrap().contains(r#"{"end":2,"line":1,"match":"1","start":1}"#), "{output:?}");
    }

    #[test]
    fn groups_have_their_names() {
        let output = run(Operation::Captures, r"(?<key>\w+)=(\w*)(;)?", "a=1;b=", None).unwrap();
        assert_eq!(
            output.model_text(),
            "1: a=1;\n  [1 key] a\n  [2] 1\n  [3] ;\n1: b=\n  [1 key] b\n  [2] \n  [3] took no part"
        );
    }

    #[test]
    fn matches_are_replaced() {
        let output = run(Operation::Replace, r"(\w+) (\w+)", "hello world", Some("$2 $1 $$")).unwrap();
        assert_eq!(output.model_text(), "world hello $\n[replaced 1]");
        let output = run(Operation::Replace, "x", "abc", Some("")).unwrap();
        assert_eq!(output.model_text(), "abc\n[no match, the text is unchanged]");
    }

    #[test]
    fn text_is_split_and_limits_hold() {
        assert_eq!(run(Operation::Split, r",\s*", "a, b,c", None).unwrap().model_text(), "a\nb\nc");
        let args = Args {
            operation: Operation::Find,
            pattern: "A".into(),
            text: "aaa".into(),
            replacement: None,
            ignore_case: true,
            limit: Some(2),
        };
        assert_eq!(answer(&args).unwrap().model_text(), "1: a\n1: a\n[more than 2 matches; raise `limit` to see more]");
    }
}
