//! Builtins that run text or set names, and shells.

use super::options::{Options, walk};
use super::unwrap::{assigned, joined, no_renaming};
use super::{Context, Scan};
use crate::shell::seen::{Assignment, Dialect, Fault, Input, Language, Source, Unparsed, Word};
use crate::shell::words::decode_base64;

/// Shells whose language is read.
const SHELLS: [&str; 14] =
    ["sh", "bash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "pdksh", "oksh", "rbash", "rksh", "posh", "yash"];

/// Programs that take a part of standard input and leave the rest to whoever reads next.
const PART_READERS: [&str; 12] =
    ["read", "mapfile", "readarray", "head", "tail", "dd", "sed", "line", "od", "xxd", "cut", "busybox"];

/// Shells of another language.
const OTHER_SHELLS: [&str; 10] = ["fish", "csh", "tcsh", "nu", "nushell", "xonsh", "elvish", "rc", "es", "oil"];

impl Scan {
    /// Builtins of the shell itself; whether it was one whose words need no further look.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        index: usize,
        args: &[Word],
        cx: &Context<'_>,
    ) -> Result<bool, Unparsed> {
        match name {
            "eval" => {
                let text = joined(args.strip_prefix(&dashes(args)[..]).unwrap_or(args));
                if let Some(text) = text {
                    let stdin = self.stdin_of(index);
                    self.code_here(index, text, self.dialect, stdin, cx)?;
                }
            }
            "." | "source" => {
                self.values.lose();
                if let Some(file) = args.iter().find(|arg| arg.known() != Some("--")) {
                    self.code(index, Language::Shell, Source::File(file.clone()));
                }
            }
            "trap" => {
                let (_, starts) = walk(args, &Options { flags: "lpP", ..Options::default() });
                let code = starts.first().and_then(|start| args.get(*start)).filter(|_| args.len() > 1);
                if let Some(code) = code.filter(|code| code.known() != Some("-")).cloned() {
                    self.code_here(index, code, self.dialect, Input::Inherited, cx)?;
                }
            }
            "alias" => self.no_alias(args)?,
            "hash" if args.iter().any(|arg| arg.prefix().starts_with("-p")) => return Err(renames(args)),
            "export" | "readonly" | "declare" | "typeset" | "local" => self.declare(index, args, cx)?,
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "printf" | "let" | "test" | "[" => {
                self.sets(name, args)?;
                if matches!(name, "mapfile" | "readarray") {
                    self.option_code(index, args, &["C"], "Cdnsuoc", cx)?;
                }
            }
            "bind" => self.option_code(index, args, &["x"], "xmfqur", cx)?,
            "complete" | "compgen" => self.option_code(index, args, &["C", "F"], "AGWFCXPSo", cx)?,
            "command" if args.iter().any(|arg| matches!(arg.known(), Some("-v" | "-V" | "-pv" | "-pV"))) => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn no_alias(&self, args: &[Word]) -> Result<(), Unparsed> {
        let plain = |arg: &Word| arg.known().is_some_and(|text| !text.contains('='));
        if args.iter().all(plain) { Ok(()) } else { Err(renames(args)) }
    }

    /// `export NAME=value` and its kin.
    fn declare(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let options = args.iter().any(|arg| arg.prefix().starts_with(['-', '+']));
        let mut set: Vec<Assignment> = Vec::new();
        if args.iter().any(|arg| arg.prefix().starts_with('-') && arg.prefix().contains('i')) {
            self.tally.computes = true;
            if let Some(span) = self.runs_if_computed {
                return Err(Unparsed { fault: Fault::Expansion, span });
            }
        }
        for arg in args {
            no_renaming(arg.prefix().split(['=', '[']).next().unwrap_or_default(), arg.span)?;
            match (assigned(arg), arg.known()) {
                (Some(assignment), _) => {
                    let value = assignment.value.known().map(str::to_owned);
                    if options {
                        // A reference by name makes the value a name that is set later.
                        self.assign(value.as_deref().unwrap_or_default(), None);
                        self.assign(&assignment.name, None);
                    } else {
                        self.assign(&assignment.name, value);
                    }
                    set.push(assignment);
                }
                (None, Some(name)) => {
                    check_index(arg)?;
                    if options {
                        self.assign(name, None);
                    }
                }
                (None, None) => self.values.lose(),
            }
        }
        self.check_values(&set)?;
        self.command_variables(index, &set, cx)
    }

    /// Names that a builtin sets are not certain any more.
    fn sets(&mut self, name: &str, args: &[Word]) -> Result<(), Unparsed> {
        let sets = match name {
            "test" | "[" => false,
            "printf" => args.first().is_some_and(|first| first.prefix().starts_with("-v") || first.known().is_none()),
            _ => true,
        };
        for arg in args {
            check_index(arg)?;
            no_renaming(arg.prefix().split('[').next().unwrap_or_default(), arg.span)?;
            match arg.known() {
                _ if !sets => {}
                Some(text) => {
                    for name in text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_') {
                        self.assign(name, None);
                    }
                }
                None => self.values.lose(),
            }
        }
        Ok(())
    }

    /// The value of an option as shell code. `bind -x` has a key and a colon before it.
    fn option_code(
        &mut self,
        index: usize,
        args: &[Word],
        names: &[&str],
        values: &'static str,
        cx: &Context<'_>,
    ) -> Result<(), Unparsed> {
        let Some(code) = super::unwrap::option_value(args, &Options { values, ..Options::default() }, names) else {
            return Ok(());
        };
        let code = match code
            .known()
            .and_then(|text| text.trim_start().strip_prefix('"'))
            .and_then(|text| text.split_once(':'))
        {
            Some((_, text)) => Word::known_text(text, code.span),
            None => code,
        };
        self.code_here(index, code, self.dialect, Input::Inherited, cx)
    }

    /// Shells; whether it was one.
    pub(super) fn shell(
        &mut self,
        name: &str,
        index: usize,
        args: &[Word],
        cx: &Context<'_>,
    ) -> Result<bool, Unparsed> {
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            "pwsh" | "powershell" | "pwsh-preview" => self.powershell(index, args)?,
            "cmd" => {
                let at =
                    args.iter().position(|arg| matches!(arg.known(), Some("/c" | "/C" | "/k" | "/K" | "/r" | "/R")));
                if let Some(text) = at.and_then(|at| args.get(at + 1..)).and_then(joined) {
                    self.code(index, Language::Cmd, Source::Text(text));
                }
            }
            _ if OTHER_SHELLS.contains(&name) => {
                let options = Options {
                    flags: "bdefFilmnNqstvVxXPp",
                    values: "cC",
                    long_values: &["command", "init-command", "commands"],
                    ..Options::default()
                };
                match super::unwrap::option_value(args, &options, &["c", "C", "command", "init-command", "commands"]) {
                    Some(text) => {
                        // Plain commands are the same in every shell, and what a POSIX shell cannot read nobody here can.
                        self.code(index, Language::OtherShell, Source::Text(text.clone()));
                        let stdin = self.stdin_of(index);
                        self.shell_code(index, text, Dialect::Bash, stdin, cx)?;
                    }
                    None => self.script_or_input(index, Language::OtherShell, args, cx),
                }
            }
            _ if is_shell(name) => self.posix_shell(name, index, args, cx)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn posix_shell(&mut self, name: &str, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let dialect = match name {
            "sh" => self.dialect,
            "dash" | "ash" | "posh" | "yash" => Dialect::Posix,
            _ => Dialect::Bash,
        };
        let call = Call::of(args);
        let operands = args.get(call.operands..).unwrap_or_default();
        if call.code {
            let Some(text) = operands.first() else { return Ok(()) };
            let stdin = self.stdin_of(index);
            return self.shell_code(index, text.clone(), dialect, stdin, cx);
        }
        if let (true, Some(word)) = (call.doubtful, args.first()) {
            self.code(
                index,
                Language::Shell,
                Source::Text(Word { span: word.span, ..joined(args).unwrap_or_else(|| word.clone()) }),
            );
            return Ok(());
        }
        match operands.first().filter(|_| !call.input) {
            Some(file) if !is_input(file) => self.code(index, Language::Shell, Source::File(file.clone())),
            _ => self.shell_input(index, dialect, cx)?,
        }
        Ok(())
    }

    /// Standard input as shell code, where somebody feeds it.
    pub(super) fn shell_input(&mut self, index: usize, dialect: Dialect, cx: &Context<'_>) -> Result<(), Unparsed> {
        match self.input_text(index, cx) {
            Some(Source::Text(text)) if text.known().is_some() => {
                let lines = text.known().is_some_and(|text| text.trim_end().contains('\n'));
                let start = self.invocations.len();
                self.shell_code(index, text, dialect, Input::Inherited, cx)?;
                if lines && self.reads_on(start) {
                    self.code(index, Language::Shell, Source::Input);
                }
            }
            Some(source) => self.code(index, Language::Shell, source),
            None => {}
        }
        Ok(())
    }

    /// Whether any invocation since `start` reads a part of the very text that it stands in: the shell then goes on with what
    /// is left, which may be in the midst of what was a quote, a comment or a here-document.
    fn reads_on(&self, start: usize) -> bool {
        self.invocations.get(start..).unwrap_or_default().iter().any(|one| {
            one.stdin == Input::Inherited
                && one.program.is_some()
                && (!one.code.is_empty() || one.name().is_none_or(|name| PART_READERS.contains(&name)))
        })
    }

    /// What a program reads from standard input as code; none where nobody feeds it.
    pub(super) fn input_text(&self, index: usize, cx: &Context<'_>) -> Option<Source> {
        let invocation = self.invocations.get(index)?;
        match &invocation.stdin {
            Input::Inherited => None,
            Input::Text(word) => Some(Source::Text(word.clone())),
            Input::File(word) => Some(Source::File(word.clone())),
            Input::Pipe(_) => match &cx.piped {
                Some(text) => Some(Source::Text(Word::known_text(&**text, invocation.span))),
                None => Some(Source::Input),
            },
            Input::Process(_) => Some(Source::Input),
        }
    }

    /// The first operand as a script, or standard input.
    pub(super) fn script_or_input(&mut self, index: usize, language: Language, args: &[Word], cx: &Context<'_>) {
        let source = match args.iter().find(|arg| !arg.prefix().starts_with('-') || is_input(arg)) {
            Some(file) if !is_input(file) => Some(Source::File(file.clone())),
            _ => self.input_text(index, cx),
        };
        if let Some(source) = source {
            self.code(index, language, source);
        }
    }

    fn powershell(&mut self, index: usize, args: &[Word]) -> Result<(), Unparsed> {
        for (at, arg) in args.iter().enumerate() {
            let Some(option) = arg.known().and_then(|text| text.strip_prefix(['-', '/'])) else { continue };
            let option = option.to_ascii_lowercase();
            let rest = args.get(at + 1..).unwrap_or_default();
            let starts = |name: &str, least: usize| option.len() >= least && name.starts_with(&option);
            let source = if starts("encodedcommand", 1) || option == "ec" {
                let Some(text) = rest.first() else { continue };
                Source::Text(decoded(text)?)
            } else if starts("command", 1) || option == "cwa" {
                match joined(rest) {
                    Some(text) => Source::Text(text),
                    None => continue,
                }
            } else if starts("file", 1) {
                match rest.first() {
                    Some(file) => Source::File(file.clone()),
                    None => continue,
                }
            } else {
                continue;
            };
            self.code(index, Language::PowerShell, source);
            return Ok(());
        }
        if let Some(text) = joined(args).filter(|text| !text.prefix().starts_with('-')) {
            self.code(index, Language::PowerShell, Source::Text(text));
        }
        Ok(())
    }
}

/// Whether a program is a shell whose language is read. A version may stand behind its name.
pub(super) fn is_shell(name: &str) -> bool {
    let name = name.strip_prefix('-').unwrap_or(name);
    SHELLS.contains(&name)
        || SHELLS.contains(&name.trim_end_matches(|end: char| end.is_ascii_digit() || matches!(end, '.' | '-')))
}

/// How a shell was called.
struct Call {
    /// Where its operands begin.
    operands: usize,
    /// `-c`: the first operand is code.
    code: bool,
    /// `-s`: code comes from standard input.
    input: bool,
    /// Whether an option is not known.
    doubtful: bool,
}

impl Call {
    fn of(args: &[Word]) -> Self {
        let mut call = Self { operands: 0, code: false, input: false, doubtful: false };
        while let Some(word) = args.get(call.operands) {
            let Some(text) = word.known() else {
                call.doubtful |= word.prefix().starts_with(['-', '+']) || word.prefix().is_empty() && !call.code;
                break;
            };
            if text.len() < 2 || !text.starts_with(['-', '+']) {
                call.operands += usize::from(text == "-");
                break;
            }
            call.operands += 1;
            match text.strip_prefix("--") {
                Some("") => break,
                Some("rcfile" | "init-file" | "emulate") => call.operands += 1,
                Some("command") => call.code = true,
                Some(_) => {}
                None => {
                    let letters = text.get(1..).unwrap_or_default();
                    call.code |= text.starts_with('-') && letters.contains('c');
                    call.input |= text.starts_with('-') && letters.contains('s');
                    // `-o name`: one value for each.
                    call.operands += letters.matches(['o', 'O']).count();
                }
            }
        }
        call
    }
}

/// Whether an operand means standard input.
pub(super) fn is_input(word: &Word) -> bool {
    matches!(word.known(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

fn dashes(args: &[Word]) -> Vec<Word> {
    args.first().filter(|first| first.known() == Some("--")).cloned().into_iter().collect()
}

fn renames(args: &[Word]) -> Unparsed {
    Unparsed { fault: Fault::Alias, span: args.first().map(|arg| arg.span).unwrap_or_default() }
}

/// An index is computed, and a substitution inside it is run, even where the word was quoted.
fn check_index(arg: &Word) -> Result<(), Unparsed> {
    let runs = arg
        .literals()
        .any(|text| text.split_once('[').is_some_and(|(_, index)| index.contains("$(") || index.contains('`')));
    if runs { Err(Unparsed { fault: Fault::Expansion, span: arg.span }) } else { Ok(()) }
}

/// The text of `-EncodedCommand`: base64 of UTF-16, low byte first.
fn decoded(word: &Word) -> Result<Word, Unparsed> {
    let Some(text) = word.known() else { return Ok(word.clone()) };
    let fault = Unparsed { fault: Fault::Encoding, span: word.span };
    let bytes = decode_base64(text).ok_or(fault)?;
    let units: Vec<u16> =
        bytes.chunks_exact(2).filter_map(|pair| <[u8; 2]>::try_from(pair).ok()).map(u16::from_le_bytes).collect();
    let text = String::from_utf16(&units).map_err(|_| fault)?;
    Ok(Word::known_text(text, word.span))
}
