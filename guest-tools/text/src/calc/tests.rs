#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::*;

fn calc(expression: &str) -> String {
    answer(&Args { expression: expression.into(), places: Some(10) }).unwrap().model_text()
}

fn fault(expression: &str) -> String {
    answer(&Args { expression: expression.into(), places: None }).unwrap_err().message().to_owned()
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (expression, part) in [
        ("", "ends where a number"),
        ("1 +", "ends where a number"),
        ("(1", "a `)` is missing for `(`"),
        ("max(1", "a `)` is missing for `max`"),
        ("1)", "`)` is unexpected"),
        ("1,000", "without commas"),
        ("2(3)", "write `*` between factors"),
        ("50%", "for percent write `/ 100`"),
        ("1.2.3", "`1.2.3` is not a number"),
        (".", "`.` is not a number"),
        ("foo(1)", "there is no function `foo`"),
        ("x", "there is no constant `x`"),
        ("ln(2)", "not computed here"),
        ("sqrt(1, 2)", "takes one number, not 2"),
        ("min()", "at least one number"),
        ("$5", "leave the currency out"),
    ] {
        let fault = fault(expression);
        assert!(fault.contains(part), "{expression}: {fault}");
    }
}

#[test]
fn what_has_no_value_is_told() {
    for (expression, part) in [
        ("1/0", "division by zero"),
        ("1 % (2-2)", "division by zero"),
        ("0^-1", "division by zero"),
        ("sqrt(-4)", "not real"),
        ("(-1)!", "negative number has no factorial"),
        ("1.5!", "whole number"),
        ("gcd(1.5, 2)", "whole number"),
        ("2^(1/65)", "64th"),
    ] {
        let fault = fault(expression);
        assert!(fault.contains(part), "{expression}: {fault}");
    }
}

#[test]
fn sizes_are_bounded_before_the_work() {
    for expression in
        ["9^9^9^9", "10^4999*10^4999", "99999!", "1e999999999999", "1e99999", "2^99999999999", "(1/3)^20000"]
    {
        let fault = fault(expression);
        assert!(fault.contains("too large"), "{expression}: {fault}");
    }
    let deep = format!("{}1{}", "(".repeat(500), ")".repeat(500));
    assert!(fault(&deep).contains("nested"));
    assert!(fault(&"-".repeat(3000)).contains("nested"));
    assert!(fault(&"1+".repeat(2001)).contains("at most 4000"));
}

#[test]
fn decimals_are_exact() {
    for (expression, value) in [
        ("0.1 + 0.2", "0.3"),
        ("1.10 * 3", "3.3"),
        ("2 ^ 100", "1267650600228229401496703205376"),
        ("1e-7 * 3", "0.0000003"),
        ("10 / 4", "2.5"),
        ("-2^2", "-4"),
        ("2^3^2", "512"),
        ("2**-1", "0.5"),
        ("7 % 3", "1"),
        ("-7 % 3", "2"),
        ("5.5 % 2", "1.5"),
        ("5!", "120"),
        ("1/3*3", "1"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(1.005, 2)", "1.01"),
        ("round(1250, -2)", "1300"),
        ("floor(-1.5) + ceil(1.2) + trunc(-1.9)", "-1"),
        ("min(3, 1, 2) + max(3, 1, 2)", "4"),
        ("avg(1, 2, 4)*3", "7"),
        ("gcd(12, 18) + lcm(4, 6)", "18"),
        ("sqrt(2.25)", "1.5"),
        ("root(27/8, 3)", "1.5"),
        ("8^(2/3)", "4"),
        ("2 × 3 − 4 ÷ 2", "4"),
        ("1 - -1", "2"),
        ("(19.99 * 3 - 5%4) / 1", "58.97"),
    ] {
        assert_eq!(calc(expression), value, "{expression}");
    }
}

#[test]
fn what_is_not_exact_says_so() {
    assert_eq!(calc("1/3"), "≈ 0.3333333333 (exactly 1/3)");
    assert_eq!(calc("-2/3"), "≈ -0.6666666667 (exactly -2/3)");
    assert_eq!(calc("sqrt(2)"), "≈ 1.4142135624");
    assert_eq!(calc("sqrt(2)^2"), "≈ 2");
    assert_eq!(calc("2^0.5"), "≈ 1.4142135624");
    assert_eq!(calc("pi"), "≈ 3.1415926536");
    assert_eq!(calc("root(-2, 3)"), "≈ -1.2599210499");
    assert_eq!(calc("round(pi, 2)"), "≈ 3.14");
    assert_eq!(calc("sqrt(2e-40) * 1e20"), "≈ 1.4142135624");
}

#[test]
fn the_structured_result_has_text_numbers() {
    let output = answer(&Args { expression: "1/3".into(), places: Some(3) }).unwrap();
    assert_eq!(output.structured(), Some(r#"{"value":"0.333","exact":false,"fraction":"1/3"}"#));
}
