//! What an invocation starts through its words.

use super::options::{Options, walk};
use super::prefixes::{BEHIND, prefix, subcommand, takes_operand};
use super::{Context, Scan};
use crate::shell::seen::{
    Assignment, Code, Dialect, Fault, Input, Language, Piece, Source, Span, Unparsed, Value, Why, Word,
};
use crate::shell::syntax::{self, is_name};
use crate::shell::variables;

impl Scan {
    /// Follows what an invocation starts. Each step takes a wrapper off, and there are only so many.
    pub(super) fn unwrap(&mut self, index: usize, cx: &Context<'_>) -> Result<(), Unparsed> {
        let Some(invocation) = self.invocations.get(index) else { return Ok(()) };
        if !invocation.assignments.is_empty() {
            let set = invocation.assignments.clone();
            self.command_variables(index, &set, cx)?;
        }
        let Some(invocation) = self.invocations.get(index) else { return Ok(()) };
        if invocation.unknown_program() {
            // It may be a builtin that sets names.
            self.values.lose();
        }
        let Some(name) = invocation.name().map(|name| name.strip_suffix(".exe").unwrap_or(name).to_owned()) else {
            return Ok(());
        };
        // Taken out while they are looked at, so that no command's words are copied only to be read.
        let args = match self.invocations.get_mut(index) {
            Some(invocation) => std::mem::take(&mut invocation.args),
            None => Vec::new(),
        };
        let result = self.by_name(&name, index, &args, cx);
        if let Some(invocation) = self.invocations.get_mut(index) {
            invocation.args = args;
        }
        result
    }

    /// Follows what a program of this name starts.
    fn by_name(&mut self, name: &str, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        if self.builtin(name, index, args, cx)?
            || self.shell(name, index, args, cx)?
            || self.interpreter(name, index, args, cx)?
            || self.special(name, index, args, cx)?
        {
            return Ok(());
        }
        if let Some(prefix) = prefix(name) {
            let (found, starts) = walk(args, &prefix.options);
            for start in &starts {
                self.prefixed(index, args, start + prefix.skip, prefix.assigns, cx)?;
            }
            let asks = found.iter().any(|one| matches!(one.name.as_str(), "s" | "i" | "shell" | "login"));
            let shell = matches!(name, "chroot" | "unshare" | "nsenter") || asks && matches!(name, "sudo" | "doas");
            if shell {
                self.login_shell(index, args.get(starts.first().map_or(0, |start| start + prefix.skip)..), asks, cx)?;
            }
        } else {
            self.guess(name, index, args, cx)?;
        }
        for words in subcommand(name) {
            if let Some(start) = behind(args, words) {
                self.behind_subcommand(name, index, args, start, cx)?;
            }
        }
        Ok(())
    }

    /// A shell that is started where no program is named, or (`sudo -s`) one that is given the words as its code.
    pub(super) fn login_shell(
        &mut self,
        index: usize,
        words: Option<&[Word]>,
        asks: bool,
        cx: &Context<'_>,
    ) -> Result<(), Unparsed> {
        match joined(words.unwrap_or_default()) {
            Some(text) if asks => {
                let stdin = self.stdin_of(index);
                self.shell_code(index, text, self.dialect, stdin, cx)
            }
            Some(_) => Ok(()),
            None => self.shell_input(index, self.dialect, cx),
        }
    }

    /// The standard input of an invocation.
    pub(super) fn stdin_of(&self, index: usize) -> Input {
        self.invocations.get(index).map(|one| one.stdin.clone()).unwrap_or_default()
    }

    /// A program whose words begin at `start`, maybe behind assignments.
    pub(super) fn prefixed(
        &mut self,
        index: usize,
        args: &[Word],
        start: usize,
        assigns: bool,
        cx: &Context<'_>,
    ) -> Result<(), Unparsed> {
        let mut words = args.get(start..).unwrap_or_default();
        if assigns && words.first().and_then(Word::known) == Some("-") {
            // `env - ls` is `env -i ls`.
            words = words.get(1..).unwrap_or_default();
        }
        let mut set = Vec::new();
        while let Some((first, rest)) = words.split_first() {
            match assigned_any(first).filter(|_| assigns) {
                Some(assignment) => set.push(assignment),
                None => break,
            }
            words = rest;
        }
        if words.is_empty() {
            // `env NAME=value` only prints.
            return Ok(());
        }
        self.check_values(&set)?;
        let Some(wrapper) = self.invocations.get(index) else { return Ok(()) };
        let (stdin, span) = (wrapper.stdin.clone(), wrapper.span);
        self.start_with(index, words.to_vec(), set, stdin, span, cx)
    }

    /// A program behind `exec`, `run` and the like: where the options end, and behind `--` too.
    fn behind_subcommand(
        &mut self,
        name: &str,
        index: usize,
        args: &[Word],
        start: usize,
        cx: &Context<'_>,
    ) -> Result<(), Unparsed> {
        let rest = args.get(start..).unwrap_or_default();
        let (_, mut starts) = walk(rest, &BEHIND);
        let dashes = |at: usize| rest.get(at).and_then(Word::known) == Some("--");
        for start in &mut starts {
            *start += usize::from(takes_operand(name));
            *start += usize::from(dashes(*start));
        }
        starts.extend(rest.iter().position(|word| word.known() == Some("--")).map(|at| at + 1));
        starts.sort_unstable();
        starts.dedup();
        let entry = entry_point(rest);
        for at in starts {
            let words = rest.get(at..).unwrap_or_default();
            // With an entry point, the words behind the image are only its arguments.
            self.start(index, entry.iter().chain(words).cloned().collect(), cx)?;
        }
        Ok(())
    }

    /// Values of variables that programs run.
    pub(super) fn command_variables(
        &mut self,
        index: usize,
        set: &[Assignment],
        cx: &Context<'_>,
    ) -> Result<(), Unparsed> {
        for assignment in set {
            let name = assignment.name.as_str();
            no_renaming(name, assignment.span)?;
            if matches!(name, "PS0" | "PS1" | "PS2" | "PS4") {
                // A prompt is expanded each time it is shown.
                if assignment.value.literals().any(|text| text.contains("$(") || text.contains('`')) {
                    return Err(Unparsed { fault: Fault::Expansion, span: assignment.span });
                }
            } else if matches!(name, "LESSOPEN" | "LESSCLOSE") {
                let text = assignment.value.known().map(|text| text.trim_start_matches(['|', '-']).to_owned());
                let code =
                    text.map_or_else(|| assignment.value.clone(), |text| Word::known_text(text, assignment.span));
                self.shell_code(index, code, self.dialect, Input::Inherited, cx)?;
            } else if variables::is_command(name) && !variables::is_prefixed_tool(&assignment.value) {
                let text = assignment.value.known().and_then(|text| text.strip_prefix('!'));
                let code =
                    text.map_or_else(|| assignment.value.clone(), |text| Word::known_text(text, assignment.span));
                self.shell_code(index, code, self.dialect, Input::Inherited, cx)?;
            }
        }
        Ok(())
    }

    /// Notes code that an invocation is given.
    pub(super) fn code(&mut self, index: usize, language: Language, source: Source) {
        if let Some(invocation) = self.invocations.get_mut(index) {
            invocation.code.push(Code { language, source });
        }
    }

    /// Notes shell code and follows it in a shell of its own.
    pub(super) fn shell_code(
        &mut self,
        index: usize,
        text: Word,
        dialect: Dialect,
        stdin: Input,
        cx: &Context<'_>,
    ) -> Result<(), Unparsed> {
        let values = std::mem::take(&mut self.values);
        let result = self.code_here(index, text, dialect, stdin, cx);
        self.values = values;
        result
    }

    /// Notes shell code and follows it in this very shell.
    pub(super) fn code_here(
        &mut self,
        index: usize,
        text: Word,
        dialect: Dialect,
        stdin: Input,
        cx: &Context<'_>,
    ) -> Result<(), Unparsed> {
        self.code(index, Language::Shell, Source::Text(text.clone()));
        let Some(source) = text.known() else {
            self.values.lose();
            return Ok(());
        };
        let span = cx.span(text.span);
        if source.len() > self.code_budget {
            return Err(Unparsed { fault: Fault::TooLong, span });
        }
        self.code_budget -= source.len();
        let mut inside = self.inside(index, cx)?;
        self.tally.depth = inside.depth;
        let script = syntax::read(source, dialect, Some(span), &mut self.tally)?;
        self.tally.depth = 0;
        if let Some(span) = self.runs_if_computed.filter(|_| self.tally.computes) {
            return Err(Unparsed { fault: Fault::Expansion, span });
        }
        inside.outer = Some(span);
        inside.stdin = super::shared(stdin);
        inside.piped = None;
        let inside = Context { bodies: &script.bodies, ..inside };
        let braces = std::mem::replace(&mut self.braces, dialect != Dialect::Posix);
        let result = self.list(&script.list, &inside);
        self.braces = braces;
        result.map(|_| ())
    }
}

/// `NAME=value` as an argument.
pub(super) fn assigned(word: &Word) -> Option<Assignment> {
    assigned_any(word).filter(|assignment| is_name(&assignment.name))
}

/// The same for programs that take any text before `=` for a name.
fn assigned_any(word: &Word) -> Option<Assignment> {
    let (name, rest) = word.prefix().split_once('=')?;
    let name = name.strip_suffix('+').filter(|name| is_name(name)).unwrap_or(name);
    let value = match &word.value {
        Value::Known(_) => Value::Known(rest.to_owned()),
        Value::Partial(pieces) => {
            let behind = pieces.iter().skip(1).cloned();
            Value::Partial(std::iter::once(Piece::Text(rest.to_owned())).chain(behind).collect())
        }
    };
    let value = Word { value, quoted: word.quoted, span: word.span };
    Some(Assignment { name: name.to_owned(), value, span: word.span })
}

/// Refuses names through which one program stands for another: aliases, remembered paths, functions from the environment.
pub(super) fn no_renaming(name: &str, span: Span) -> Result<(), Unparsed> {
    if matches!(name, "BASH_ALIASES" | "BASH_CMDS") || name.starts_with("BASH_FUNC_") {
        return Err(Unparsed { fault: Fault::Alias, span });
    }
    Ok(())
}

/// The program of `--entrypoint`.
fn entry_point(words: &[Word]) -> Option<Word> {
    let at = words.iter().position(|word| word.prefix().starts_with("--entrypoint"))?;
    let option = words.get(at)?;
    match option.known().and_then(|text| text.strip_prefix("--entrypoint=")) {
        Some(program) => Some(Word::known_text(program, option.span)),
        None if option.known() == Some("--entrypoint") => words.get(at + 1).cloned(),
        None => Some(Word::unknown(Why::Limit, false, option.span)),
    }
}

/// Where the words behind these words begin; options may stand between.
fn behind(args: &[Word], words: &[&str]) -> Option<usize> {
    let mut at = 0;
    for wanted in words {
        let rest = args.get(at..)?;
        at += 1 + rest.iter().take(8).position(|word| word.known() == Some(wanted))?;
    }
    Some(at)
}

/// Joins words with blanks, as `eval`, `ssh` and `watch` do.
pub(super) fn joined(words: &[Word]) -> Option<Word> {
    let first = words.first()?;
    if let Some(texts) = words.iter().map(Word::known).collect::<Option<Vec<_>>>() {
        return Some(Word::known_text(texts.join(" "), first.span));
    }
    let mut pieces = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            pieces.push(Piece::Text(" ".to_owned()));
        }
        match &word.value {
            Value::Known(text) => pieces.push(Piece::Text(text.clone())),
            Value::Partial(more) => pieces.extend(more.iter().cloned()),
        }
    }
    Some(Word { value: Value::Partial(pieces), quoted: false, span: first.span })
}

/// A word in which a marker (`{}`) stands for input.
pub(super) fn with_gaps(word: &Word, marker: &str) -> Word {
    let Some(text) = word.known().filter(|text| !marker.is_empty() && text.contains(marker)) else {
        return word.clone();
    };
    let mut pieces = Vec::new();
    for (at, part) in text.split(marker).enumerate() {
        if at > 0 {
            pieces.push(Piece::Unknown { why: Why::Input, splits: false });
        }
        if !part.is_empty() {
            pieces.push(Piece::Text(part.to_owned()));
        }
    }
    Word { value: Value::Partial(pieces), quoted: word.quoted, span: word.span }
}

/// The value of the first of these options.
pub(super) fn option_value(args: &[Word], options: &Options, names: &[&str]) -> Option<Word> {
    let (found, _) = walk(args, options);
    let near = args.first()?;
    found.iter().find(|one| names.contains(&one.name.as_str())).and_then(|one| one.value(near))
}
