//! `json_transform`: jq's language, by jaq.

use caisson_sdk::{ToolError, schemars};
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data};
use jaq_json::{Val, read, write};

const MAX_FILTER: usize = 8_000;
/// What the results may have together, in bytes.
const MAX_RESULT: usize = 1 << 20;
/// Arrays and objects within each other: reading and writing them costs stack for each.
const MAX_DEPTH: usize = 500;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Args {
    /// The JSON to transform: a value, or a string that holds JSON text (several values one after the other are each transformed)
    #[schemars(schema_with = "any")]
    pub input: serde_json::Value,
    /// A filter in jq's language
    #[schemars(length(min = 1, max = 8000))]
    pub filter: String,
    /// One line for each result; false by default
    #[serde(default)]
    pub compact: bool,
    /// Show results that are strings as they are, without quotes; false by default
    #[serde(default)]
    pub raw: bool,
}

/// Several model APIs want a type for each property.
fn any(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["object", "array", "string", "number", "boolean", "null"] })
}

type Filter = jaq_core::Filter<data::JustLut<Val>>;

pub fn transform(args: &Args) -> Result<String, ToolError> {
    if args.filter.len() > MAX_FILTER {
        return Err(ToolError::invalid_arguments(format!(
            "the filter has {} bytes; at most {MAX_FILTER} are taken",
            args.filter.len()
        )));
    }
    let inputs = inputs(&args.input)?;
    let filter = compile(&args.filter)?;
    let mut results = String::new();
    for input in inputs {
        run(&filter, input, args, &mut results)?;
    }
    // The last line end is not part of a result.
    results.pop();
    Ok(if results.is_empty() { "[the filter has no results]".to_owned() } else { results })
}

fn inputs(input: &serde_json::Value) -> Result<Vec<Val>, ToolError> {
    let text = match input {
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    if depth(&text) > MAX_DEPTH {
        return Err(ToolError::invalid_arguments(format!(
            "`input` is nested more than {MAX_DEPTH} deep; give the inner part that matters"
        )));
    }
    let values: Result<Vec<Val>, _> = read::parse_many(text.as_bytes()).collect();
    let values = values.map_err(|error| {
        ToolError::invalid_arguments(format!(
            "`input` is a string that holds no JSON: {error}; give the JSON value itself, or valid JSON text"
        ))
    })?;
    if values.is_empty() {
        return Err(ToolError::invalid_arguments("`input` is empty; give a JSON value"));
    }
    Ok(values)
}

/// How deep the brackets of JSON text go, whether or not it is valid.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                // To the quote that ends the string.
                while let Some(byte) = bytes.next().filter(|byte| *byte != b'"') {
                    if byte == b'\\' {
                        bytes.next();
                    }
                }
            }
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn compile(code: &str) -> Result<Filter, ToolError> {
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let place = |part: &str| {
        // Parts are slices of the code, so where they lie in it tells the place.
        let at = (part.as_ptr() as usize).checked_sub(code.as_ptr() as usize).filter(|at| *at <= code.len());
        let rest: String = at.and_then(|at| code.get(at..)).unwrap_or(part).chars().take(20).collect();
        if rest.is_empty() { "at its end".to_owned() } else { format!("at `{rest}`") }
    };
    let wrong = |faults: Vec<String>| {
        let first = faults.into_iter().next().unwrap_or_else(|| "it does not parse".to_owned());
        ToolError::invalid_arguments(format!("`filter` is no jq filter: {first}"))
    };
    let modules = Loader::new(definitions).load(&arena, File { code, path: () }).map_err(|errors| {
        let faults = errors.into_iter().flat_map(|(_, error)| match error {
            load::Error::Io(all) => all.iter().map(|(path, why)| format!("`{path}` cannot be loaded: {why}")).collect(),
            load::Error::Lex(all) => all
                .iter()
                .map(|(expected, found)| format!("{} expected {}", expected.as_str(), place(found)))
                .collect::<Vec<_>>(),
            load::Error::Parse(all) => {
                all.iter().map(|(expected, found)| format!("{} expected {}", expected.as_str(), place(found))).collect()
            }
        });
        wrong(faults.collect())
    })?;
    Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
        let faults = errors.into_iter().flat_map(|(_, all)| all);
        wrong(faults.map(|(name, kind)| format!("there is no {} `{name}`", kind.as_str())).collect())
    })
}

fn run(filter: &Filter, input: Val, args: &Args, results: &mut String) -> Result<(), ToolError> {
    let layout = if args.compact {
        write::Pp::default()
    } else {
        write::Pp { indent: Some("  ".to_owned()), sep_space: true, ..Default::default() }
    };
    let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
    for result in filter.id.run((context, input)) {
        let value = match result {
            Ok(value) => value,
            Err(exception) => match exception.get_err() {
                Ok(error) => {
                    return Err(ToolError::failed(format!(
                        "the filter failed: {}; `?` after a part ignores its errors",
                        shorten(&error.to_string())
                    )));
                }
                // `halt` ends the results.
                Err(_) => return Ok(()),
            },
        };
        match (&value, args.raw) {
            (Val::TStr(text), true) => results.push_str(&String::from_utf8_lossy(text)),
            _ => {
                let mut json = Vec::new();
                write::write(&mut json, &layout, 0, &value)
                    .map_err(|error| ToolError::failed(format!("a result cannot be written: {error}")))?;
                results.push_str(&String::from_utf8_lossy(&json));
            }
        }
        results.push('\n');
        if results.len() > MAX_RESULT {
            return Err(ToolError::failed(format!(
                "the results have more than {MAX_RESULT} bytes; select less, for example with `limit(100; …)`"
            )));
        }
    }
    Ok(())
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(300).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use serde_json::{Value, json};

    fn run(input: Value, filter: &str) -> Result<String, ToolError> {
        transform(&Args { input, filter: filter.into(), compact: true, raw: false })
    }

    fn fault(input: Value, filter: &str) -> String {
        run(input, filter).unwrap_err().message().to_owned()
    }

    #[test]
    fn a_filter_that_is_wrong_is_told_with_its_place() {
        for (filter, part) in [
            (".a |", "term expected at its end"),
            (".a | foo(1)", "there is no filter `foo`"),
            ("$x", "there is no variable `$x`"),
            ("map(.a", "expected"),
            ("import \"m\" as m; .", "cannot be loaded"),
        ] {
            let fault = fault(json!({}), filter);
            assert!(fault.contains(part), "{filter}: {fault}");
        }
    }

    #[test]
    fn what_fails_while_it_runs_is_told() {
        assert!(fault(json!({"a": 1}), ".a.b").contains("the filter failed"));
        assert!(fault(json!(null), "error(\"no\")").contains("no"));
        assert!(fault(json!("{not json"), ".").contains("holds no JSON"));
        assert!(fault(json!(""), ".").contains("`input` is empty"));
    }

    #[test]
    fn results_are_bounded() {
        assert!(fault(json!(0), "repeat(.)").contains("more than 1048576 bytes"));
        assert!(fault(json!(0), "\"x\" * 2000000").contains("more than 1048576 bytes"));
    }

    #[test]
    fn nesting_is_bounded_and_brackets_in_strings_are_none() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(fault(json!(nested(MAX_DEPTH + 1)), ".").contains("more than 500 deep"));
        assert_eq!(run(json!(nested(MAX_DEPTH)), "length").unwrap(), "1");
        let quoted = format!(r#""\"{}""#, nested(MAX_DEPTH + 1));
        assert_eq!(run(json!(quoted), "length").unwrap(), "1003");
        assert_eq!(run(json!("[1] ".repeat(MAX_DEPTH + 1)), "empty").unwrap(), "[the filter has no results]");
    }

    #[test]
    fn halt_ends_the_results_and_nothing_else() {
        assert_eq!(run(json!(1), "., halt, 2").unwrap(), "1");
    }

    #[test]
    fn filters_transform() {
        let input = json!({"items": [{"id": 1, "price": 2.5}, {"id": 2, "price": 4}]});
        assert_eq!(run(input.clone(), ".items | map(.price) | add").unwrap(), "6.5");
        assert_eq!(run(input.clone(), ".items[] | {id}").unwrap(), "{\"id\":1}\n{\"id\":2}");
        assert_eq!(run(input, "empty").unwrap(), "[the filter has no results]");
        assert_eq!(run(json!("[1,2] [3]"), "length").unwrap(), "2\n1");
        assert_eq!(run(json!(12345678901234567890_u64), ". + 1").unwrap(), "12345678901234567891");
    }

    #[test]
    fn results_are_laid_out_as_asked() {
        let args = |compact, raw| Args { input: json!({"a": ["x"]}), filter: "., .a[0]".into(), compact, raw };
        assert_eq!(transform(&args(false, true)).unwrap(), "{\n  \"a\": [\n    \"x\"\n  ]\n}\nx");
        assert_eq!(transform(&args(true, false)).unwrap(), "{\"a\":[\"x\"]}\n\"x\"");
    }
}
