//! From a number to text.

use super::number::Number;
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// A decimal that ends, but after more digits than this, is cut.
const MAX_DIGITS: u32 = 1_000;
/// A fraction longer than this says less than the decimal.
const MAX_FRACTION: usize = 60;

pub struct Shown {
    pub value: String,
    pub exact: bool,
    /// Numerator and denominator, where the decimal had to be cut and they are short.
    pub fraction: Option<String>,
}

impl Shown {
    pub fn text(&self) -> String {
        let mark = if self.exact { "" } else { "≈ " };
        let fraction = self.fraction.as_ref().map(|fraction| format!(" (exactly {fraction})")).unwrap_or_default();
        format!("{mark}{}{fraction}", self.value)
    }
}

pub fn show(number: &Number, places: u32) -> Shown {
    if number.exact
        && let Some(digits) = ending(number.value.denom())
    {
        return Shown { value: decimal(&number.value, digits), exact: true, fraction: None };
    }
    let fraction = number.value.to_string();
    let fraction = (number.exact && fraction.len() <= MAX_FRACTION).then_some(fraction);
    Shown { value: decimal(&number.value, places), exact: false, fraction }
}

/// After how many digits a fraction with this denominator ends, if it does.
fn ending(denominator: &BigInt) -> Option<u32> {
    let mut rest = denominator.clone();
    let mut count = |factor: u32| {
        let factor = BigInt::from(factor);
        let mut times = 0;
        while times <= MAX_DIGITS {
            let (quotient, remainder) = rest.div_rem(&factor);
            if !remainder.is_zero() {
                break;
            }
            rest = quotient;
            times += 1;
        }
        times
    };
    let digits = count(2).max(count(5));
    (rest.is_one() && digits <= MAX_DIGITS).then_some(digits)
}

/// Rounded half away from zero, without zeros at the end.
fn decimal(value: &BigRational, places: u32) -> String {
    let scale = BigInt::from(10_u8).pow(places);
    let scaled = (value * BigRational::from_integer(scale)).round().to_integer();
    let sign = if scaled.is_negative() { "-" } else { "" };
    let width = places as usize + 1;
    let digits = format!("{:0>width$}", scaled.abs().to_string());
    let (whole, part) = digits.split_at_checked(digits.len() - places as usize).unwrap_or((&digits, ""));
    let part = part.trim_end_matches('0');
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{part}")
}
