//! A sample plugin of the kind that anybody may write: `unit_price` computes, `save_price` also keeps the result in a file of the
//! workspace, which its manifest has to ask for.

mod decimal;
mod list;

use caisson_sdk::{Output, ToolError, plugin, tool};
use decimal::Decimal;
use std::path::Path;

/// What was bought.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Bought {
    /// What was paid, a decimal number, for example `3.50`
    price: String,
    /// How much was bought, a decimal number, for example `2`
    quantity: String,
    /// The unit of the quantity, for example `kg`
    unit: String,
}

/// What was bought, and where to keep it.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Saved {
    /// What was paid, a decimal number, for example `3.50`
    price: String,
    /// How much was bought, a decimal number, for example `2`
    quantity: String,
    /// The unit of the quantity, for example `kg`
    unit: String,
    /// What it was, for example `apples`
    #[serde(default)]
    item: String,
    /// The list to add it to, a file in the workspace; `prices.csv` by default
    file: Option<String>,
}

/// The price of one unit.
#[derive(Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
struct UnitPrice {
    /// The price of one unit, a decimal number of at most 4 places
    price: String,
    /// The unit
    unit: String,
}

/// Tells the price of one unit: price ÷ quantity, rounded half up to 4 places.
#[tool(effect = "read-only", title = "Unit price", idempotent, cache_seconds = 3600, returns = UnitPrice)]
fn unit_price(args: Bought) -> Result<Output, ToolError> {
    let one = per_unit(&args.price, &args.quantity, &args.unit)?;
    Ok(Output::text(format!("{} per {}", one.price, one.unit)).with_structured(&one))
}

/// Computes the price of one unit and adds a line with it to the price list `prices.csv` in the workspace.
#[tool(title = "Save price")]
fn save_price(args: Saved) -> Result<Output, ToolError> {
    let one = per_unit(&args.price, &args.quantity, &args.unit)?;
    let file = args.file.as_deref().unwrap_or("prices.csv");
    let lines =
        list::add(Path::new("/workspace"), file, &[&args.item, &args.price, &args.quantity, &args.unit, &one.price])?;
    Ok(Output::text(format!("{} per {}: saved as line {lines} of `{file}`", one.price, one.unit)))
}

plugin!(unit_price, save_price);

fn per_unit(price: &str, quantity: &str, unit: &str) -> Result<UnitPrice, ToolError> {
    let unit = unit.trim();
    if unit.is_empty() {
        return Err(ToolError::invalid_arguments("`unit` is empty; name one, such as `kg` or `piece`"));
    }
    let price = Decimal::read("price", price)?;
    let quantity = Decimal::read("quantity", quantity)?;
    Ok(UnitPrice { price: price.per(quantity)?, unit: unit.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_named() {
        for (price, quantity, named) in
            [("x", "1", "`price`"), ("1", "-2", "`quantity`"), ("1", "0", "`quantity`"), ("1e3", "1", "`price`")]
        {
            let error = per_unit(price, quantity, "kg").unwrap_err();
            assert!(error.message().contains(named), "{error}");
        }
        assert!(per_unit("1", "1", " ").unwrap_err().message().contains("`unit`"));
    }

    #[test]
    fn prices_are_exact() {
        for (price, quantity, wanted) in
            [("3.50", "2", "1.75"), ("1", "3", "0.3333"), ("2", "3", "0.6667"), ("10", "4", "2.5"), ("0.3", "0.1", "3")]
        {
            let one = per_unit(price, quantity, "kg").unwrap();
            assert_eq!(one, UnitPrice { price: wanted.into(), unit: "kg".into() });
        }
    }
}
