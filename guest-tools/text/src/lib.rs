//! The built-in plugin `text`: tools that compute. They touch nothing outside the call but the results that the host keeps for
//! the caller.

mod calc;
mod datetime;
mod json;
mod kept;
mod patterns;
mod utils;

use caisson_sdk::{Output, ToolError, plugin, tool};

/// Dates and times in any IANA time zone: tells the current time, converts between zones, adds a duration, or tells how long it
/// is between two times.
#[tool(name = "datetime", effect = "read-only", title = "Date and time", groups("automation"))]
fn datetime_tool(args: datetime::Args) -> Result<Output, ToolError> {
    datetime::answer(&args)
}

/// Computes exactly, with decimals and fractions, never with binary floating point: `0.1 + 0.2` is `0.3`. Operators
/// `+ - * / % ^ !` and parentheses; functions abs, sign, min, max, sum, avg, round(x, places), floor, ceil, trunc, sqrt,
/// root(x, n), pow, mod, gcd, lcm, factorial; constants pi and e. A result that is not exact is marked with `≈`.
#[tool(
    name = "calc",
    effect = "read-only",
    title = "Calculator",
    groups("automation"),
    idempotent,
    cache_seconds = 3600
)]
fn calc_tool(args: calc::Args) -> Result<Output, ToolError> {
    calc::answer(&args)
}

/// Regular expressions on a text: find matches, list capture groups, replace, or split. The syntax is that of Rust's `regex`
/// crate (like RE2: no look-around, no back-references), which takes linear time on any text.
#[tool(
    name = "regex",
    effect = "read-only",
    title = "Regular expressions",
    groups("automation"),
    idempotent,
    cache_seconds = 3600
)]
fn regex_tool(args: patterns::Args) -> Result<Output, ToolError> {
    patterns::answer(&args)
}

/// Transforms JSON with a filter in jq's language, for example `.items | map({id, total: (.price * .count)})`. Each result stands
/// on lines of its own.
#[tool(effect = "read-only", title = "Transform JSON", groups("automation"), idempotent)]
fn json_transform(args: json::Args) -> Result<Output, ToolError> {
    json::transform(&args).map(Output::text)
}

/// Common operations on text: counting, changing case, sorting and comparing lines, encoding and decoding, hashing, cutting.
#[tool(effect = "read-only", title = "Text utilities", groups("automation"), idempotent)]
fn text_utils(args: utils::Args) -> Result<Output, ToolError> {
    utils::answer(&args).map(Output::text)
}

/// Reads a large result that was kept back, by the reference in its preview: its first or last lines, a slice, the lines around a
/// search hit, or all of it. At most 80 KB at once; it says where it stopped and how to read on.
#[tool(effect = "read-only", title = "Read kept output", groups("core"), max_result_chars = 100000)]
fn read_output(args: kept::Args) -> Result<Output, ToolError> {
    kept::read_output(&args).map(Output::text)
}

plugin!(datetime_tool, calc_tool, regex_tool, json_transform, text_utils, read_output);
