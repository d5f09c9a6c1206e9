//! Files of recipes (`Makefile`, `justfile`, `package.json`) as the shell script that their tool would run.

use std::borrow::Cow;
use std::collections::HashMap;

/// How often a value within a value is put in; beyond, a file is not read.
const MOST_LEVELS: usize = 8;

/// How much longer than the file the script may become.
const GROWTH: usize = 8;

/// A rule of a makefile: its targets, what they need, and its commands.
struct MakeRule<'t> {
    targets: Vec<Cow<'t, str>>,
    needs: Vec<Cow<'t, str>>,
    commands: Vec<Cow<'t, str>>,
}

/// A makefile with what its variables are.
struct Makefile {
    values: HashMap<String, String>,
    left: usize,
    /// Commands that `$(shell …)` runs.
    also: Vec<String>,
}

/// What `make` would run of a makefile, for these words of its command line; none where that cannot be told.
pub(crate) fn make_script(text: &str, words: &[&str]) -> Option<String> {
    let text = text.replace("\\\n", " ");
    let mut file = Makefile { values: HashMap::new(), left: GROWTH * text.len() + 1024, also: Vec::new() };
    for (name, value) in
        [("CC", "cc"), ("CXX", "g++"), ("AR", "ar"), ("RM", "rm -f"), ("MAKE", "make"), ("SHELL", "sh")]
    {
        file.values.insert(name.to_owned(), value.to_owned());
    }
    let mut rules: Vec<MakeRule<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix('\t') {
            if let Some(rule) = rules.last_mut() {
                rule.commands.push(Cow::Borrowed(command));
            }
            continue;
        }
        let line = line.split('#').next().unwrap_or_default().trim();
        let first = line.split_whitespace().next().unwrap_or_default();
        if matches!(first, "define" | "include" | "-include" | "sinclude" | "load") || line.starts_with(".RECIPEPREFIX")
        {
            return None;
        }
        let line = line.strip_prefix("export ").or_else(|| line.strip_prefix("override ")).unwrap_or(line);
        if let Some((name, value)) = line.split_once('=').filter(|(name, _)| is_definition(name)) {
            file.define(name, value)?;
            continue;
        }
        let Some((targets, rest)) = line.split_once(':') else { continue };
        let (needs, command) =
            rest.trim_start_matches(':').split_once(';').unwrap_or((rest.trim_start_matches(':'), ""));
        let names = |text: &str, file: &mut Makefile| -> Option<Vec<Cow<'_, str>>> {
            Some(file.filled(text, 0)?.split_whitespace().map(|name| Cow::Owned(name.to_owned())).collect())
        };
        rules.push(MakeRule {
            targets: names(targets, &mut file)?,
            needs: names(needs, &mut file)?,
            commands: if command.is_empty() { Vec::new() } else { vec![Cow::Owned(command.trim().to_owned())] },
        });
    }
    let mut goals: Vec<String> = Vec::new();
    let mut valued = false;
    for word in words {
        let is_value = std::mem::replace(&mut valued, WITH_VALUE.contains(word));
        match word.split_once('=') {
            _ if is_value || word.starts_with('-') => {}
            Some((name, value)) => drop(file.values.insert(name.trim_end_matches(':').to_owned(), value.to_owned())),
            None => goals.push((*word).to_owned()),
        }
    }
    file.script(&rules, goals)
}

/// Options of `make` whose value is the next word.
const WITH_VALUE: &[&str] =
    &["-f", "--file", "--makefile", "-C", "--directory", "-I", "-o", "-W", "-l", "-E", "--eval"];

/// What stands before the `=` of a definition: a name, perhaps with a sign of how it is expanded.
fn is_definition(name: &str) -> bool {
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

impl Makefile {
    fn define(&mut self, name: &str, value: &str) -> Option<()> {
        if name.ends_with('!') {
            let command = self.filled(value, 0)?;
            self.also.push(command);
            return Some(());
        }
        if value.contains("$(shell") || value.contains("${shell") {
            // Such a value may be asked for at once, whether or not anything needs it.
            self.filled(value, 0)?;
        }
        let adds = name.ends_with('+');
        let name = name.trim_end_matches([':', '?', '+']).trim();
        let value = value.trim();
        if name == "SHELL" && !matches!(value.rsplit('/').next(), Some("sh" | "bash" | "dash" | "zsh")) {
            return None;
        }
        match self.values.get_mut(name).filter(|_| adds) {
            Some(before) => *before = format!("{before} {value}"),
            None => drop(self.values.insert(name.to_owned(), value.to_owned())),
        }
        Some(())
    }

    /// A text with the values of variables in it. What is made by a function is a variable of the shell, which nobody knows.
    fn filled(&mut self, text: &str, level: usize) -> Option<String> {
        if level > MOST_LEVELS {
            return None;
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(rest.get(..at)?);
            rest = rest.get(at + 1..)?;
            let next = rest.chars().next()?;
            if next == '$' {
                out.push('$');
                rest = rest.get(1..)?;
                continue;
            }
            if !matches!(next, '(' | '{') {
                // `$@`, `$<` and the like are names of files.
                out.push('x');
                rest = rest.get(next.len_utf8()..)?;
                continue;
            }
            let inner = balanced(rest)?;
            rest = rest.get(inner.len() + 2..)?;
            self.reference(inner, level, &mut out)?;
        }
        out.push_str(rest);
        self.left = self.left.checked_sub(out.len())?;
        Some(out)
    }

    fn reference(&mut self, inner: &str, level: usize, out: &mut String) -> Option<()> {
        let (function, argument) = inner.split_once([' ', '\t', ':']).unwrap_or((inner, ""));
        match function {
            "eval" | "call" | "foreach" | "file" | "guile" | "value" => return None,
            "shell" => {
                let command = self.filled(argument, level + 1)?;
                self.also.push(command);
                out.push_str("\"$made\"");
            }
            name if argument.is_empty() && !inner.contains('$') => {
                let value = self.values.get(name).cloned().unwrap_or_default();
                out.push_str(&self.filled(&value, level + 1)?);
            }
            _ => out.push_str("$made"),
        }
        Some(())
    }

    /// The commands of the rules that are needed for the goals; of all rules where names are patterns or made by functions.
    fn script(&mut self, rules: &[MakeRule<'_>], mut goals: Vec<String>) -> Option<String> {
        if goals.is_empty() {
            let first = rules.iter().flat_map(|rule| &rule.targets).find(|target| !target.starts_with('.'));
            goals.extend(first.map(|target| target.to_string()));
        }
        let open = |name: &str| name.contains(['%', '$']);
        let names = || rules.iter().flat_map(|rule| rule.targets.iter().chain(&rule.needs));
        // What no rule is for may be there already, or made by a rule that is not read.
        let is_target = |goal: &String| rules.iter().flat_map(|rule| &rule.targets).any(|target| target == goal);
        let all = names().any(|name| open(name)) || !goals.iter().any(is_target);
        let mut wanted = vec![all; rules.len()];
        while let Some(goal) = goals.pop() {
            for (rule, wanted) in rules.iter().zip(&mut wanted) {
                if !*wanted && rule.targets.iter().any(|target| *target == goal) {
                    *wanted = true;
                    goals.extend(rule.needs.iter().map(ToString::to_string));
                }
            }
        }
        let mut lines: Vec<String> = Vec::new();
        for (rule, _) in rules.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            for command in &rule.commands {
                lines.push(self.filled(command.trim_start_matches(['@', '-', '+', ' ', '\t']), 0)?);
            }
        }
        lines.append(&mut self.also);
        Some(lines.join("\n"))
    }
}

/// What stands between the bracket at the beginning and the one that closes it.
fn balanced(text: &str) -> Option<&str> {
    let (open, close) = if text.starts_with('(') { ('(', ')') } else { ('{', '}') };
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return text.get(1..at);
            }
        }
    }
    None
}

/// The commands of a justfile: every indented line, since recipes need each other in ways that are not read.
pub(crate) fn just_script(text: &str) -> Option<String> {
    let commands = text.lines().filter(|line| line.starts_with([' ', '\t']));
    let lines: Vec<String> = commands.map(|line| line.trim_start_matches(['@', '-', ' ', '\t']).to_owned()).collect();
    // A recipe that begins with `#!` is in another language; `{{…}}` is put in by the tool.
    let plain = !lines.iter().any(|line| line.starts_with("#!") || line.contains("{{")) && !text.contains('`');
    plain.then(|| lines.join("\n"))
}

/// The commands of `package.json`: every text of its `scripts`.
pub(crate) fn package_script(text: &str) -> Option<String> {
    let Some((_, scripts)) = text.split_once("\"scripts\"") else { return Some(String::new()) };
    let mut strings = Vec::new();
    let mut rest = scripts.split_once('{')?.1;
    while let Some(at) = rest.find(['"', '}']) {
        if rest.get(at..)?.starts_with('}') {
            break;
        }
        let (string, after) = json_string(rest.get(at + 1..)?)?;
        strings.push(string);
        rest = after;
    }
    // Names and commands in turn.
    Some(strings.into_iter().skip(1).step_by(2).collect::<Vec<_>>().join("\n"))
}

/// The string whose opening quote stands before `text`, and what stands behind its closing one.
fn json_string(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, text.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                same @ ('"' | '\\' | '/') => out.push(same),
                // A letter by its number hides what it is.
                _ => return None,
            },
            c => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn only_what_a_goal_needs_is_run() {
        let text = "A = ls\nall: one\n\t@$(A) $@\none: ; echo 1\nclean:\n\trm -rf x\n";
        assert_eq!(make_script(text, &[]).unwrap(), "ls x\necho 1");
        assert_eq!(make_script(text, &["clean"]).unwrap(), "rm -rf x");
        assert_eq!(make_script(text, &["one", "A=rm"]).unwrap(), "echo 1");
        assert_eq!(make_script(text, &["A=rm"]).unwrap(), "rm x\necho 1");
    }

    #[test]
    fn what_cannot_be_told_is_not_read() {
        for text in [
            "include x\n",
            "define a\nendef\n",
            "a:\n\t$(eval x)\n",
            "A=$(A)\na:\n\t$(A)\n",
            "SHELL=python3\na:\n\tls\n",
        ] {
            assert_eq!(make_script(text, &[]), None, "{text}");
        }
        assert_eq!(make_script("a:\n\t$(subst x,rm,x) -rf y\n", &[]).unwrap(), "$made -rf y");
        assert_eq!(make_script("X:=$(shell ls)\na:\n\techo $(X)\n", &[]).unwrap(), "echo \"$made\"\nls\nls");
    }

    #[test]
    fn texts_of_scripts_are_commands() {
        let text = r#"{"name": "a", "scripts": {"test": "jest \"a\"", "b": "ls"}, "x": "y"}"#;
        assert_eq!(package_script(text).unwrap(), "jest \"a\"\nls");
        assert_eq!(package_script(r#"{"scripts": {"a": "\u0072m"}}"#), None);
        assert_eq!(just_script("a:\n    @ls\n    rm x\n").unwrap(), "ls\nrm x");
    }
}
