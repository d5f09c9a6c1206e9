//! Words that may stand in prose, although an expression denies them in arguments.

use crate::fault::{Fault, below, nearest, object, shown};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Words of a person that an operator lets into selected arguments of one program: `secret` in the body of an issue, while
/// `gh secret set` stays denied. Only what expressions look for anywhere is touched; denied commands, written as words, are not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeywordRule {
    /// Its name, for the audit.
    pub id: String,
    /// The program.
    pub command: String,
    /// The first words of the arguments, such as `issue create`; options before them make it another command.
    pub subcommands: Vec<String>,
    /// Options whose values are prose: `--body X`, `--body=X`.
    #[serde(default)]
    pub args: Vec<String>,
    /// Arguments that are prose, counted from 0 behind the subcommand. An option there is no prose.
    #[serde(default)]
    pub arg_positions: Vec<usize>,
    /// The words, whatever their capitals.
    pub keywords: Vec<String>,
    /// Why, for whoever reads it later.
    pub reason: String,
    /// Whether it holds.
    #[serde(default = "yes")]
    pub enabled: bool,
}

fn yes() -> bool {
    true
}

/// A keyword that was let through, for the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Let {
    /// The rule.
    pub rule: String,
    /// The keyword.
    pub keyword: String,
}

const KEYS: [(&str, &str); 8] = [
    ("id", "a text"),
    ("command", "a text such as `gh`"),
    ("subcommands", "a list of texts such as `issue create`"),
    ("args", "a list of options such as `--body`"),
    ("argPositions", "a list of whole numbers"),
    ("keywords", "a list of words"),
    ("reason", "a text"),
    ("enabled", "true or false"),
];

/// Rules, and entries of each list of a rule.
const MOST: usize = 64;

/// Stands where a keyword stood. No expression names it.
const PLACEHOLDER: char = '\u{FFFC}';

impl KeywordRule {
    /// Reads the setting `commandKeywordAllowlist`.
    ///
    /// # Errors
    /// All that is wrong with it; nothing of it holds then.
    pub fn read_all(value: &Value) -> Result<Vec<Self>, Vec<Fault>> {
        let at = "commandKeywordAllowlist";
        let Value::Array(rules) = value else { return Err(vec![Fault::new(at, "a list of rules is needed")]) };
        if rules.len() > MOST {
            return Err(vec![Fault::new(at, format!("there may be at most {MOST} rules"))]);
        }
        let read = rules.iter().enumerate().map(|(index, rule)| Self::read(rule, &format!("{at}[{index}]")));
        let (rules, faults): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
        let faults: Vec<Fault> = faults.into_iter().filter_map(Result::err).flatten().collect();
        if faults.is_empty() { Ok(rules.into_iter().filter_map(Result::ok).collect()) } else { Err(faults) }
    }

    fn read(value: &Value, at: &str) -> Result<Self, Vec<Fault>> {
        object(value, at, &KEYS)?;
        let missing =
            ["id", "command", "subcommands", "keywords", "reason"].into_iter().filter(|key| value.get(key).is_none());
        let missing: Vec<Fault> = missing.map(|key| Fault::new(below(at, key), "this is needed")).collect();
        if !missing.is_empty() {
            return Err(missing);
        }
        let rule: Self = serde_json::from_value(value.clone()).map_err(|_| wrong_types(value, at))?;
        let faults = rule.check(at);
        if faults.is_empty() { Ok(rule) } else { Err(faults) }
    }

    fn check(&self, at: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut must = |key: &str, right: bool, why: &str| {
            if !right {
                faults.push(Fault::new(below(at, key), why));
            }
        };
        let few = |list: &[String]| list.len() <= MOST;
        must("id", (1..=64).contains(&self.id.chars().count()), "a name of 1 to 64 characters is needed");
        must("command", !self.command.is_empty() && !self.command.contains(['/', ' ']), "a program's name is needed");
        must("reason", !self.reason.trim().is_empty(), "say why");
        let words = |text: &String| text.split_whitespace().next().is_some_and(|first| !first.starts_with('-'));
        let subcommands = !self.subcommands.is_empty() && few(&self.subcommands) && self.subcommands.iter().all(words);
        must("subcommands", subcommands, "1 to 64 subcommands, such as `issue create`, are needed");
        let options =
            few(&self.args) && self.args.iter().all(|arg| crate::words::is_option(arg) && !arg.contains(['=', ' ']));
        must("args", options, "at most 64 options, such as `--body`, are needed");
        let somewhere = !self.args.is_empty() || !self.arg_positions.is_empty();
        must("args", somewhere, "a rule without `args` and `argPositions` lets nothing through; name one");
        must("argPositions", self.arg_positions.len() <= MOST, "at most 64 positions are needed");
        let keyword = |word: &String| {
            (2..=64).contains(&word.chars().count())
                && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '))
                && word.starts_with(char::is_alphanumeric)
                && word.ends_with(char::is_alphanumeric)
        };
        let keywords = !self.keywords.is_empty() && few(&self.keywords) && self.keywords.iter().all(keyword);
        must("keywords", keywords, "1 to 64 words of 2 to 64 letters and digits are needed");
        faults
    }

    /// How many words the subcommand has, where it is one of this rule's.
    fn subcommand(&self, arguments: &[&str]) -> Option<usize> {
        let lengths = self.subcommands.iter().filter_map(|written| {
            let words: Vec<&str> = written.split_whitespace().collect();
            arguments.starts_with(&words).then_some(words.len())
        });
        lengths.max()
    }
}

fn wrong_types(value: &Value, at: &str) -> Vec<Fault> {
    let texts = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    let right = |key: &str, value: &Value| match key {
        "id" | "command" | "reason" => value.is_string(),
        "enabled" => value.is_boolean(),
        "argPositions" => value.as_array().is_some_and(|list| list.iter().all(Value::is_u64)),
        _ => texts(value),
    };
    let wrong = KEYS.iter().filter(|(key, _)| value.get(key).is_some_and(|value| !right(key, value)));
    wrong.map(|(key, needed)| Fault::new(below(at, key), format!("{needed} is needed"))).collect()
}

/// Checks that every rule is about a program that there is: one with a misspelt name would let nothing through and nobody would
/// know why.
#[must_use]
pub fn check_commands(rules: &[KeywordRule], programs: &[&str]) -> Vec<Fault> {
    let strangers = rules.iter().enumerate().filter(|(_, rule)| !programs.contains(&rule.command.as_str()));
    strangers
        .map(|(index, rule)| {
            let nearest = nearest(&rule.command, programs.iter().copied());
            let hint = nearest.map(|name| format!("; the nearest is `{name}`")).unwrap_or_default();
            let why = format!("no program `{}` is registered{hint}", shown(&rule.command));
            Fault::new(format!("commandKeywordAllowlist[{index}].command"), why)
        })
        .collect()
}

/// The arguments with keywords taken out where rules let them stand, and which were.
pub(crate) fn mask(rules: &[KeywordRule], program: &str, arguments: &[&str]) -> (Vec<String>, Vec<Let>) {
    let mut masked: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let mut uses = Vec::new();
    for rule in rules.iter().filter(|rule| rule.enabled && rule.command == program) {
        let Some(first) = rule.subcommand(arguments) else { continue };
        for (at, argument) in arguments.iter().enumerate().skip(first) {
            let Some(text) = masked.get_mut(at) else { continue };
            let before = at.checked_sub(1).and_then(|before| arguments.get(before)).filter(|_| at > first);
            let follows = before.is_some_and(|before| rule.args.iter().any(|arg| arg == before));
            let positioned = rule.arg_positions.contains(&(at - first)) && !argument.starts_with('-');
            let value = argument.split_once('=').filter(|(name, _)| rule.args.iter().any(|arg| arg == name));
            if follows || positioned {
                *text = taken_out(text, rule, &mut uses);
            } else if value.is_some()
                && let Some((name, value)) = text.split_once('=')
            {
                *text = format!("{name}={}", taken_out(value, rule, &mut uses));
            }
        }
    }
    (masked, uses)
}

/// The text without the keywords, whole words only.
fn taken_out(text: &str, rule: &KeywordRule, uses: &mut Vec<Let>) -> String {
    let mut text = text.to_owned();
    for keyword in &rule.keywords {
        let (without, found) = without(&text, keyword);
        if found {
            uses.push(Let { rule: rule.id.clone(), keyword: keyword.clone() });
            text = without;
        }
    }
    text
}

fn without(text: &str, keyword: &str) -> (String, bool) {
    let chars: Vec<char> = text.chars().collect();
    let wanted: Vec<char> = keyword.chars().collect();
    let word = |c: &char| c.is_alphanumeric() || *c == '_';
    let same = |(a, b): (&char, &char)| a.to_lowercase().eq(b.to_lowercase());
    let (mut out, mut at, mut found) = (String::with_capacity(text.len()), 0, false);
    while let Some(next) = chars.get(at) {
        let rest = chars.get(at..).unwrap_or_default();
        let begins = at.checked_sub(1).and_then(|before| chars.get(before)).is_none_or(|before| !word(before));
        let ends = rest.get(wanted.len()).is_none_or(|after| !word(after));
        if begins && ends && rest.len() >= wanted.len() && rest.iter().zip(&wanted).all(same) {
            out.push(PLACEHOLDER);
            at += wanted.len();
            found = true;
        } else {
            out.push(*next);
            at += 1;
        }
    }
    (out, found)
}
