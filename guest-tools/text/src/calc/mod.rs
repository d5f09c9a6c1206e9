//! `calc`: exact arithmetic.

mod functions;
mod number;
mod parse;
mod show;

use caisson_sdk::{Output, ToolError};
use number::Number;

/// A longer expression would hold more work than a call may do.
const MAX_EXPRESSION: usize = 4_000;
/// Digits after the point where a result does not end by itself.
const PLACES: u32 = 20;
/// The most of them.
const MAX_PLACES: u32 = 200;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Args {
    /// For example `(19.99 * 3 - 5%4) / 7` or `round(1000 * 1.05^10, 2)`. `%` is the remainder
    #[schemars(length(min = 1, max = 4000))]
    pub expression: String,
    /// Digits after the point of a result that does not end, or is not exact; 20 by default
    #[schemars(range(max = 200))]
    pub places: Option<u32>,
}

/// The result as data. Numbers are text, so that no reader turns them into binary fractions.
#[derive(serde::Serialize)]
struct Answer<'a> {
    value: &'a str,
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    fraction: Option<&'a str>,
}

pub fn answer(args: &Args) -> Result<Output, ToolError> {
    let places = args.places.unwrap_or(PLACES);
    if places > MAX_PLACES {
        return Err(ToolError::invalid_arguments(format!("`places` is {places}; at most {MAX_PLACES} are shown")));
    }
    let number = evaluate(&args.expression)?;
    let shown = show::show(&number, places);
    let answer = Answer { value: &shown.value, exact: shown.exact, fraction: shown.fraction.as_deref() };
    Ok(Output::text(shown.text()).with_structured(&answer))
}

fn evaluate(expression: &str) -> Result<Number, ToolError> {
    if expression.len() > MAX_EXPRESSION {
        return Err(ToolError::invalid_arguments(format!(
            "the expression has {} bytes; at most {MAX_EXPRESSION} are computed: split it",
            expression.len()
        )));
    }
    parse::evaluate(expression).map_err(ToolError::invalid_arguments)
}

#[cfg(test)]
mod tests;
