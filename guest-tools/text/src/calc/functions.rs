//! Functions and constants by name.

use super::number::{Fault, Number, read};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{Pow, Signed, ToPrimitive, Zero};

const PI: &str =
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651";
const E: &str =
    "2.71828182845904523536028747135266249775724709369995957496696762772407663035354759457138217852516642742746639193";
const NAMES: &str =
    "abs, sign, min, max, sum, avg, round, floor, ceil, trunc, sqrt, root, pow, mod, gcd, lcm, factorial";

pub fn constant(name: &str) -> Result<Number, Fault> {
    let digits = match name {
        "pi" | "PI" | "π" => PI,
        "e" => E,
        _ => return Err(format!("there is no constant `{name}`: there are pi and e, and the functions {NAMES}")),
    };
    Ok(Number { exact: false, ..read(digits)? })
}

pub fn apply(name: &str, arguments: Vec<Number>) -> Result<Number, Fault> {
    match name.to_ascii_lowercase().as_str() {
        "abs" => one(name, arguments).map(|x| Number { value: x.value.abs(), ..x }),
        "sign" => one(name, arguments).map(|x| Number { value: x.value.signum(), ..x }),
        "floor" => one(name, arguments).map(|x| Number { value: x.value.floor(), ..x }),
        "ceil" | "ceiling" => one(name, arguments).map(|x| Number { value: x.value.ceil(), ..x }),
        "trunc" => one(name, arguments).map(|x| Number { value: x.value.trunc(), ..x }),
        "round" => round(name, arguments),
        "sqrt" | "√" => one(name, arguments)?.root(2),
        "cbrt" => one(name, arguments)?.root(3),
        "root" => {
            let (x, degree) = two(name, arguments)?;
            x.root(degree.to_integer("the degree of a root")?.to_u32().unwrap_or(0))
        }
        "pow" => two(name, arguments).and_then(|(x, y)| x.power(y)),
        "mod" => two(name, arguments).and_then(|(x, y)| x.remainder(y)),
        "factorial" => one(name, arguments)?.factorial(),
        "min" => fold(name, arguments, |a, b| Ok(if b.value < a.value { b } else { a })),
        "max" => fold(name, arguments, |a, b| Ok(if b.value > a.value { b } else { a })),
        "sum" => fold(name, arguments, Number::add),
        "avg" | "mean" => {
            let count = arguments.len();
            fold(name, arguments, Number::add)?.divide(Number::integer(count))
        }
        "gcd" => fold(name, arguments, |a, b| integers(a, b, |a, b| a.gcd(b))),
        "lcm" => fold(name, arguments, |a, b| integers(a, b, |a, b| a.lcm(b))),
        "ln" | "log" | "log10" | "log2" | "exp" | "sin" | "cos" | "tan" => {
            Err(format!("`{name}` has no exact value and is not computed here; there are {NAMES}"))
        }
        _ => Err(format!("there is no function `{name}`; there are {NAMES}")),
    }
}

fn one(name: &str, arguments: Vec<Number>) -> Result<Number, Fault> {
    let [x] = <[Number; 1]>::try_from(arguments).map_err(|all| count(name, "one number", all.len()))?;
    Ok(x)
}

fn two(name: &str, arguments: Vec<Number>) -> Result<(Number, Number), Fault> {
    let [x, y] = <[Number; 2]>::try_from(arguments).map_err(|all| count(name, "two numbers", all.len()))?;
    Ok((x, y))
}

fn count(name: &str, wanted: &str, have: usize) -> Fault {
    format!("`{name}` takes {wanted}, not {have}; separate them with commas")
}

fn fold(
    name: &str,
    arguments: Vec<Number>,
    with: impl Fn(Number, Number) -> Result<Number, Fault>,
) -> Result<Number, Fault> {
    let mut arguments = arguments.into_iter();
    let first = arguments.next().ok_or_else(|| count(name, "at least one number", 0))?;
    // Which one is taken hangs on them all, so an inexact one makes the result so.
    arguments.try_fold(first, |a, b| {
        let exact = a.exact && b.exact;
        Ok(Number { exact, ..with(a, b)? })
    })
}

fn integers(a: Number, b: Number, with: impl Fn(&BigInt, &BigInt) -> BigInt) -> Result<Number, Fault> {
    let value = with(&a.to_integer("each argument")?, &b.to_integer("each argument")?);
    Number::integer(value).bounded()
}

/// Half away from zero, as people do it; negative places round to tens, hundreds, …
fn round(name: &str, mut arguments: Vec<Number>) -> Result<Number, Fault> {
    if arguments.len() == 1 {
        arguments.push(Number::integer(0));
    }
    let (x, places) = two(name, arguments)?;
    let places = places.to_integer("the places to round to")?;
    let places = places.to_i32().filter(|places| places.abs() <= 1_000).ok_or("round to -1000 to 1000 places")?;
    let scale: BigRational = Pow::pow(&BigRational::from_integer(10.into()), places);
    let scaled = (&x.value * &scale).round();
    // An inexact number rounded to fewer digits than it was computed to is as good as exact only by luck, so it stays marked.
    Ok(Number { value: if scaled.is_zero() { scaled } else { scaled / scale }, exact: x.exact })
}
