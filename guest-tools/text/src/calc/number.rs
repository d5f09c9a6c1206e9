//! A number: a fraction of integers of any size up to a bound, and whether it is exact.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

/// Bits of a numerator or denominator: about 4,900 digits. Keeps every single operation within milliseconds.
const MAX_BITS: u64 = 16_384;
/// Digits to which what is not rational is computed.
const DIGITS: u32 = 220;
/// A root beyond this says more about a slip than about a wish.
const MAX_ROOT: u32 = 64;

/// What is wrong with an operation, as a sentence.
pub type Fault = String;

#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    pub value: BigRational,
    /// False once a root or a constant had to be cut off.
    pub exact: bool,
}

impl Number {
    pub fn exact(value: BigRational) -> Self {
        Self { value, exact: true }
    }

    pub fn integer(value: impl Into<BigInt>) -> Self {
        Self::exact(BigRational::from_integer(value.into()))
    }

    /// The number where it is an exact integer; `what` names it in the fault.
    pub fn to_integer(&self, what: &str) -> Result<BigInt, Fault> {
        if self.value.is_integer() {
            return Ok(self.value.to_integer());
        }
        Err(format!("{what} must be a whole number"))
    }

    pub fn negate(self) -> Self {
        Self { value: -self.value, ..self }
    }

    pub fn add(self, other: Self) -> Result<Self, Fault> {
        self.with(other, |a, b| a + b)
    }

    pub fn subtract(self, other: Self) -> Result<Self, Fault> {
        self.with(other, |a, b| a - b)
    }

    pub fn multiply(self, other: Self) -> Result<Self, Fault> {
        self.with(other, |a, b| a * b)
    }

    pub fn divide(self, other: Self) -> Result<Self, Fault> {
        if other.value.is_zero() {
            return Err("division by zero".to_owned());
        }
        self.with(other, |a, b| a / b)
    }

    /// The remainder, with the sign of the divisor.
    pub fn remainder(self, other: Self) -> Result<Self, Fault> {
        if other.value.is_zero() {
            return Err("remainder of a division by zero".to_owned());
        }
        self.with(other, |a, b| {
            let times = (&a / &b).floor();
            a - b * times
        })
    }

    fn with(self, other: Self, operation: impl FnOnce(BigRational, BigRational) -> BigRational) -> Result<Self, Fault> {
        let exact = self.exact && other.exact;
        Self { value: operation(self.value, other.value), exact }.bounded()
    }

    /// The number itself, unless it is too large to go on with.
    pub fn bounded(self) -> Result<Self, Fault> {
        if self.value.numer().bits().max(self.value.denom().bits()) > MAX_BITS {
            return Err(too_large());
        }
        Ok(self)
    }

    pub fn power(self, exponent: Self) -> Result<Self, Fault> {
        let exact = self.exact && exponent.exact;
        let (times, root) = (exponent.value.numer(), exponent.value.denom());
        let root = root.to_u32().filter(|root| *root <= MAX_ROOT).ok_or_else(|| {
            format!("this exponent needs a root beyond the {MAX_ROOT}th; use one with a smaller denominator")
        })?;
        let result = power(&self.value, times)?;
        let mut result = if root == 1 { Self::exact(result) } else { Self::exact(result).root(root)? };
        result.exact &= exact;
        Ok(result)
    }

    /// The `degree`th root: exact where it is rational, otherwise to a fixed number of digits.
    pub fn root(self, degree: u32) -> Result<Self, Fault> {
        if degree == 0 || degree > MAX_ROOT {
            return Err(format!("the degree of a root must be 1 to {MAX_ROOT}"));
        }
        if self.value.is_negative() && degree.is_even() {
            return Err("an even root of a negative number is not real".to_owned());
        }
        let (numerator, denominator) = (self.value.numer(), self.value.denom());
        let (top, bottom) = (numerator.nth_root(degree), denominator.nth_root(degree));
        if &top.clone().pow(degree) == numerator && &bottom.clone().pow(degree) == denominator {
            return Ok(Self { value: BigRational::new(top, bottom), exact: self.exact });
        }
        // A small number has its first digits far behind the point.
        let small = denominator.bits().saturating_sub(numerator.bits()) / u64::from(degree);
        let digits = DIGITS + u32::try_from(small * 302 / 1_000).unwrap_or(u32::MAX / 2) + 1;
        let scale = BigInt::from(10_u8).pow(digits);
        let scaled = numerator * scale.clone().pow(degree) / denominator;
        Self { value: BigRational::new(scaled.nth_root(degree), scale), exact: false }.bounded()
    }

    pub fn factorial(self) -> Result<Self, Fault> {
        let of = self.to_integer("what is before `!`")?;
        let of = of.to_u32().ok_or_else(|| {
            if of.is_negative() { "a negative number has no factorial".to_owned() } else { too_large() }
        })?;
        let mut product = BigUint::one();
        for factor in 2..=of {
            product *= factor;
            if product.bits() > MAX_BITS {
                return Err(too_large());
            }
        }
        Ok(Self { value: BigRational::from_integer(BigInt::from(product)), exact: self.exact })
    }
}

fn power(base: &BigRational, times: &BigInt) -> Result<BigRational, Fault> {
    if base.is_zero() {
        return match times.sign() {
            Sign::Minus => Err("zero to a negative power is a division by zero".to_owned()),
            Sign::NoSign => Ok(BigRational::one()),
            Sign::Plus => Ok(base.clone()),
        };
    }
    if base.abs().is_one() {
        return Ok(if times.is_even() { BigRational::one() } else { base.clone() });
    }
    let times = times.to_i32().ok_or_else(too_large)?;
    // Checked before anything of that size is made.
    let bits = base.numer().bits().max(base.denom().bits());
    if (bits - 1).saturating_mul(u64::from(times.unsigned_abs())) > MAX_BITS {
        return Err(too_large());
    }
    Ok(Pow::pow(base, times))
}

fn too_large() -> Fault {
    "the result is too large: numbers of up to about 4900 digits are computed".to_owned()
}

/// Reads `12`, `.5`, `1.25`, `1e-9`.
pub fn read(text: &str) -> Result<Number, Fault> {
    let wrong = || format!("`{text}` is not a number; write it such as `1234.5` or `1.2e3`");
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().map_err(|_| wrong())?),
        None => (text, 0),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let both = format!("{whole}{part}");
    let number = BigInt::parse_bytes(both.as_bytes(), 10).ok_or_else(wrong)?;
    let exponent = exponent - i64::try_from(part.len()).map_err(|_| wrong())?;
    let size = u32::try_from(exponent.unsigned_abs()).ok().filter(|size| *size < 4_900).ok_or_else(too_large)?;
    let scale = BigInt::from(10_u8).pow(size);
    let value = if exponent < 0 { BigRational::new(number, scale) } else { BigRational::from_integer(number * scale) };
    Number::exact(value).bounded()
}
