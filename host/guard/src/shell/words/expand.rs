//! Expansion of one word.

use super::brace::{self, Token};
use super::build::Build;
use crate::shell::reach::{Context, Scan};
use crate::shell::seen::{Feature, MAX_WORDS, Place, Unparsed, Use, Value, Why, Word};
use crate::shell::syntax::{Part, RawParameter, RawWord};

/// How a word is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expand {
    /// As an argument: braces, field splitting, patterns; any number of words.
    Fields,
    /// As the value of an assignment, a target or a subject: one word.
    One,
}

impl Scan {
    /// Expands a word and adds what it becomes.
    pub(crate) fn expand(&mut self, raw: &RawWord, cx: &Context<'_>, words: &mut Vec<Word>) -> Result<(), Unparsed> {
        if let Some(text) = raw.plain() {
            words.push(Word::known_text(text, cx.span(raw.span)));
            return Ok(());
        }
        let span = cx.span(raw.span);
        let mut build = Build::new(span);
        if self.braces && brace::opens(&raw.parts) {
            match brace::alternatives(&raw.parts) {
                Some(alternatives) => {
                    if alternatives.len() > 1 {
                        // Others keep the braces.
                        self.tally.differs = true;
                        self.tally.uses.push(Use { feature: Feature::Brace, span });
                    }
                    for tokens in alternatives {
                        for token in tokens {
                            match token {
                                Token::Part(part) => self.part(part, false, Expand::Fields, cx, &mut build)?,
                                Token::Text(text) => build.text(&text),
                            }
                        }
                        build.end();
                    }
                }
                None => {
                    for part in &raw.parts {
                        self.part(part, false, Expand::Fields, cx, &mut Build::new(span))?;
                    }
                    build.unknown(Why::Limit, true);
                }
            }
        } else {
            for part in &raw.parts {
                self.part(part, false, Expand::Fields, cx, &mut build)?;
            }
        }
        build.end();
        self.count(build.words.len(), span)?;
        words.append(&mut build.words);
        Ok(())
    }

    /// Expands a word that stays one word.
    pub(crate) fn expand_one(&mut self, raw: &RawWord, cx: &Context<'_>) -> Result<Word, Unparsed> {
        let span = cx.span(raw.span);
        if let Some(text) = raw.plain() {
            return Ok(Word::known_text(text, span));
        }
        let mut build = Build::new(span);
        build.text("");
        for part in &raw.parts {
            self.part(part, false, Expand::One, cx, &mut build)?;
        }
        build.end();
        let empty = || Word { value: Value::Known(String::new()), quoted: false, span };
        Ok(build.words.pop().unwrap_or_else(empty))
    }

    /// Counts words that expansions made.
    fn count(&mut self, more: usize, span: crate::shell::seen::Span) -> Result<(), Unparsed> {
        self.expanded += more;
        self.tally.steps += more;
        if self.expanded > 2 * MAX_WORDS {
            return Err(Unparsed { fault: crate::shell::seen::Fault::TooManyWords, span });
        }
        Ok(())
    }

    fn part(
        &mut self,
        part: &Part,
        quoted: bool,
        mode: Expand,
        cx: &Context<'_>,
        build: &mut Build,
    ) -> Result<(), Unparsed> {
        let splits = !quoted && mode == Expand::Fields;
        match part {
            Part::Literal(text) => build.text(text),
            Part::Quoted(text) => {
                build.quote();
                build.text(text);
            }
            Part::Double(parts) => {
                build.quote();
                for part in parts {
                    self.part(part, true, mode, cx, build)?;
                }
            }
            Part::Brace(mark) => build.text(mark.encode_utf8(&mut [0; 4])),
            Part::Glob(mark) => build.glob(mark.encode_utf8(&mut [0; 4])),
            Part::Bracket => build.bracket(),
            Part::Tilde(text) => build.unknown(Why::Tilde(text.clone()), false),
            Part::Parameter(parameter) => self.parameter(parameter, quoted, mode, cx, build)?,
            Part::Substitution(list) => {
                let output = self.substitution(list, Place::Substitution, cx)?;
                self.insert(output.as_deref(), Why::Substitution, splits, build);
            }
            Part::Process { list, writes } => {
                let fed = writes.then(|| cx.fed());
                self.substitution(list, Place::Process, fed.as_ref().unwrap_or(cx))?;
                build.text("/dev/fd/");
                build.unknown(Why::Substitution, false);
            }
            Part::Arithmetic(parts) => {
                self.discard(parts, cx)?;
                build.unknown(Why::Arithmetic, splits);
            }
            Part::Array(words) => {
                for word in words {
                    self.expand(word, cx, &mut Vec::new())?;
                }
                build.unknown(Why::Limit, false);
            }
            Part::Body(number) => {
                build.quote();
                for part in cx.bodies.get(*number).map(|body| body.parts.as_slice()).unwrap_or_default() {
                    self.part(part, true, mode, cx, build)?;
                }
            }
        }
        Ok(())
    }

    /// Expands parts only for what they start.
    fn discard(&mut self, parts: &[Part], cx: &Context<'_>) -> Result<(), Unparsed> {
        let mut unused = Build::new(cx.span(crate::shell::seen::Span::default()));
        for part in parts {
            self.part(part, true, Expand::One, cx, &mut unused)?;
        }
        Ok(())
    }

    /// Puts a value in, or a gap where it is not known or the text would grow without bound (`a=$b$b; c=$a$a; …`).
    fn insert(&mut self, value: Option<&str>, why: Why, splits: bool, build: &mut Build) {
        match value {
            Some(value) if value.len() <= self.budget => {
                self.budget -= value.len();
                self.tally.steps += value.len();
                match splits {
                    false => build.text(value),
                    true if self.plain_fields(value) => build.fields(value),
                    true => build.unknown(why, true),
                }
            }
            Some(_) => build.unknown(Why::Limit, splits),
            None => build.unknown(why, splits),
        }
    }

    /// Whether a value splits the usual way: `IFS` is untouched, or there is nothing to split at.
    fn plain_fields(&self, value: &str) -> bool {
        !self.tally.set.contains_key("IFS") || value.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }

    /// The value of a name, where it is certain.
    fn value(&self, name: &str) -> Option<String> {
        match (name, self.tally.set.get(name)) {
            ("IFS", None) => Some(" \t\n".to_owned()),
            (_, Some(1)) if !(self.tally.repeats && self.tally.sets_unseen) => self.values.get(name).map(str::to_owned),
            _ => None,
        }
    }

    fn parameter(
        &mut self,
        parameter: &RawParameter,
        quoted: bool,
        mode: Expand,
        cx: &Context<'_>,
        build: &mut Build,
    ) -> Result<(), Unparsed> {
        let splits = mode == Expand::Fields && (!quoted || parameter.name == "@" || !parameter.direct);
        let value = if parameter.direct { self.value(&parameter.name) } else { None };
        let why = || Why::Variable(parameter.name.clone());
        let (colon, sign) = match parameter.operator {
            "" => {
                self.discard(&parameter.operand, cx)?;
                self.insert(value.as_deref(), why(), splits, build);
                return Ok(());
            }
            ":-" | ":=" => (true, '-'),
            "-" | "=" => (false, '-'),
            ":+" => (true, '+'),
            "+" => (false, '+'),
            _ => {
                self.discard(&parameter.operand, cx)?;
                build.unknown(why(), splits);
                return Ok(());
            }
        };
        let is_set = value.as_ref().map(|value| !(colon && value.is_empty()));
        let takes_operand = is_set.map(|is_set| is_set == (sign == '+'));
        if takes_operand.is_none() {
            self.guessed = true;
        }
        match takes_operand.or(self.defaults.then_some(true)) {
            Some(true) => {
                for part in &parameter.operand {
                    self.operand_part(part, quoted, mode, cx, build)?;
                }
            }
            known => {
                self.discard(&parameter.operand, cx)?;
                match known {
                    Some(_) if sign == '+' => {}
                    _ => self.insert(value.as_deref(), why(), splits, build),
                }
            }
        }
        Ok(())
    }

    /// A part of an operand that is used: its plain text is split like a value.
    fn operand_part(
        &mut self,
        part: &Part,
        quoted: bool,
        mode: Expand,
        cx: &Context<'_>,
        build: &mut Build,
    ) -> Result<(), Unparsed> {
        match part {
            Part::Literal(text) if !quoted && mode == Expand::Fields => {
                build.fields(text);
                Ok(())
            }
            part => self.part(part, quoted, mode, cx, build),
        }
    }
}
