//! Decimal numbers as they are written, never as binary fractions.

use caisson_sdk::ToolError;

/// Digits after the point that a number may have, and that a result has.
const PLACES: u32 = 4;
const ONE: u128 = 10_u128.pow(PLACES);

/// A number of at most four places, as ten-thousandths.
#[derive(Clone, Copy)]
pub struct Decimal(u128);

impl Decimal {
    /// Reads for example `3.50`; `name` is the argument that holds it.
    pub fn read(name: &str, text: &str) -> Result<Self, ToolError> {
        let wrong = || {
            ToolError::invalid_arguments(format!(
                "`{name}` is `{text}`, which is no number of 0 or more with at most {PLACES} digits after the point; write it such as `3.50`"
            ))
        };
        let text = text.trim();
        let (whole, places) = text.split_once('.').unwrap_or((text, "0"));
        let plain = |digits: &str| {
            !digits.is_empty() && digits.len() <= 15 && digits.bytes().all(|digit| digit.is_ascii_digit())
        };
        if !plain(whole) || !plain(places) || places.len() > PLACES as usize {
            return Err(wrong());
        }
        format!("{whole}{places:0<4}").parse().map(Self).map_err(|_| wrong())
    }

    /// One number for each of the other, rounded half up.
    pub fn per(self, quantity: Self) -> Result<String, ToolError> {
        let doubled = (self.0 * ONE * 2).checked_div(quantity.0);
        let rounded = doubled
            .ok_or_else(|| ToolError::invalid_arguments("`quantity` is zero; say how much was bought"))?
            .div_ceil(2);
        let places = format!("{:04}", rounded % ONE);
        let places = places.trim_end_matches('0');
        let point = if places.is_empty() { "" } else { "." };
        Ok(format!("{}{point}{places}", rounded / ONE))
    }
}
