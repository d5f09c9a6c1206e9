//! From text to a number, in one pass: each rule computes what it has read.

use super::functions;
use super::number::{self, Fault, Number};

/// Parentheses, signs and powers within each other. Each costs a few frames of the guest's stack.
const MAX_DEPTH: u32 = 100;

pub fn evaluate(text: &str) -> Result<Number, Fault> {
    let mut parser = Parser { rest: text, depth: 0 };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(found) => Err(parser.unexpected(found)),
    }
}

struct Parser<'t> {
    rest: &'t str,
    depth: u32,
}

impl<'t> Parser<'t> {
    /// The next character that is not white space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn skip(&mut self, c: char) {
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
    }

    /// Takes the first of these characters that comes next.
    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|next| wanted.contains(next))?;
        self.skip(next);
        Some(next)
    }

    fn sum(&mut self) -> Result<Number, Fault> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&['+', '-', '−', '–']) {
            let next = self.product()?;
            value = if operator == '+' { value.add(next)? } else { value.subtract(next)? };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<Number, Fault> {
        let mut value = self.signed()?;
        loop {
            if self.rest.trim_start().starts_with("**") {
                return Err("`**` comes after something that is no number; parenthesize it".to_owned());
            }
            let Some(operator) = self.take(&['*', '×', '·', '/', '÷', '%']) else { return Ok(value) };
            if operator == '%' && matches!(self.peek(), None | Some(')' | ',' | ';' | '+' | '*' | '/')) {
                return Err("`%` is the remainder and needs a number after it; for percent write `/ 100`".to_owned());
            }
            let next = self.signed()?;
            value = match operator {
                '/' | '÷' => value.divide(next)?,
                '%' => value.remainder(next)?,
                _ => value.multiply(next)?,
            };
        }
    }

    fn signed(&mut self) -> Result<Number, Fault> {
        match self.take(&['+', '-', '−', '–']) {
            None => self.power(),
            Some('+') => self.deeper(Self::signed),
            Some(_) => Ok(self.deeper(Self::signed)?.negate()),
        }
    }

    /// `-2^2` is −4, `2^3^2` is 512.
    fn power(&mut self) -> Result<Number, Fault> {
        let mut value = self.primary()?;
        while self.take(&['!']).is_some() {
            value = value.factorial()?;
        }
        if self.peek() == Some('^') {
            self.skip('^');
        } else if let Some(rest) = self.rest.strip_prefix("**") {
            self.rest = rest;
        } else {
            return Ok(value);
        }
        let exponent = self.deeper(Self::signed)?;
        value.power(exponent)
    }

    fn primary(&mut self) -> Result<Number, Fault> {
        match self.peek() {
            Some('(') => {
                self.skip('(');
                let value = self.deeper(Self::sum)?;
                self.close("(")?;
                Ok(value)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => number::read(self.number()),
            Some(c) if c.is_alphabetic() || c == '√' => self.name(),
            Some(found) => Err(self.unexpected(found)),
            None => Err("the expression ends where a number should stand".to_owned()),
        }
    }

    fn number(&mut self) -> &'t str {
        let plain = |text: &str| text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let mut end = plain(self.rest);
        let tail = self.rest.get(end..).unwrap_or_default();
        if let Some(exponent) = tail.strip_prefix(['e', 'E']) {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let count = digits.bytes().take_while(u8::is_ascii_digit).count();
            if count > 0 {
                end += tail.len() - digits.len() + count;
            }
        }
        let (number, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        number
    }

    fn name(&mut self) -> Result<Number, Fault> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '√').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        if self.peek() != Some('(') {
            return functions::constant(name);
        }
        self.skip('(');
        let mut arguments = Vec::new();
        if self.peek() != Some(')') {
            arguments.push(self.deeper(Self::sum)?);
            while self.take(&[',', ';']).is_some() {
                arguments.push(self.deeper(Self::sum)?);
            }
        }
        self.close(name)?;
        functions::apply(name, arguments)
    }

    fn close(&mut self, opened: &str) -> Result<(), Fault> {
        match self.peek() {
            Some(')') => {
                self.skip(')');
                Ok(())
            }
            None => Err(format!("a `)` is missing for `{opened}`")),
            Some(found) => Err(self.unexpected(found)),
        }
    }

    fn deeper(&mut self, rule: fn(&mut Self) -> Result<Number, Fault>) -> Result<Number, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("the expression is nested more than {MAX_DEPTH} deep; split it"));
        }
        let value = rule(self);
        self.depth -= 1;
        value
    }

    fn unexpected(&self, found: char) -> Fault {
        let near: String = self.rest.chars().take(20).collect();
        let hint = match found {
            ',' => "; write large numbers without commas, `1234567.8`",
            '=' => "; leave `=` out, an expression has one value",
            '$' | '€' | '£' => "; leave the currency out",
            '(' | '0'..='9' => "; write `*` between factors",
            _ => "",
        };
        format!("`{found}` is unexpected at `{near}`{hint}")
    }
}
