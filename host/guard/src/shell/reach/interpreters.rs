//! Programs that are given code of another language.

use super::languages::{Interpreter, interpreter};
use super::options::{Found, walk};
use super::shells::is_input;
use super::{Context, Scan};
use crate::shell::seen::{Input, Language, Source, Unparsed, Word};

impl Scan {
    /// Interpreters; whether it was one.
    pub(super) fn interpreter(
        &mut self,
        name: &str,
        index: usize,
        args: &[Word],
        cx: &Context<'_>,
    ) -> Result<bool, Unparsed> {
        if name == "deno" {
            if let [first, code, ..] = args
                && first.known() == Some("eval")
            {
                self.code(index, Language::JavaScript, Source::Text(code.clone()));
            }
            return Ok(true);
        }
        let Some(how) = interpreter(name) else { return Ok(false) };
        // A debugger starts the program that it is given with its arguments.
        let debugged = args.iter().position(|arg| match arg.known() {
            Some("--args" | "-args") => name == "gdb",
            Some("--") => name == "lldb",
            _ => false,
        });
        if let Some(at) = debugged {
            self.start(index, args.get(at + 1..).unwrap_or_default().to_vec(), cx)?;
        }
        let (found, starts) = walk(args, &how.options);
        let operand = starts.first().and_then(|start| args.get(*start));
        let given = self.optional_code(index, &how, args, &found, operand, cx)?;
        match operand {
            _ if given => {}
            Some(code) if how.operand => self.foreign_code(index, how.language, code.clone(), cx)?,
            Some(file) if !is_input(file) => {
                self.operand_code(index, how.language, file, args);
                // A database is named, and its statements come from standard input where none stand behind it.
                let none = self.invocations.get(index).is_some_and(|one| one.code.is_empty());
                if how.language == Language::Sql
                    && none
                    && let Some(source) = self.input_text(index, cx)
                {
                    self.code(index, how.language, source);
                }
            }
            _ if how.input => {
                if let Some(source) = self.input_text(index, cx) {
                    self.code(index, how.language, source);
                }
            }
            _ => {}
        }
        Ok(true)
    }

    /// Code that options give; whether any did.
    fn optional_code(
        &mut self,
        index: usize,
        how: &Interpreter,
        args: &[Word],
        found: &[Found<'_>],
        operand: Option<&Word>,
        cx: &Context<'_>,
    ) -> Result<bool, Unparsed> {
        let Some(near) = args.first() else { return Ok(false) };
        let mut codes: Vec<Word> = Vec::new();
        let mut given = false;
        for option in found {
            let name = option.name.as_str();
            if how.code.contains(&name) {
                codes.extend(option.value(near));
            } else if how.language == Language::JavaScript && name == "p" && found.iter().all(|one| one.name != "e") {
                // `-p` alone prints what the next word is, `-pe` what `-e` is given.
                codes.extend(operand.cloned());
            } else if let Some(file) = option.value(near).filter(|_| how.file.contains(&name)) {
                match self.input_text(index, cx).filter(|_| is_input(&file)) {
                    Some(source) => self.code(index, how.language, source),
                    None => self.code(index, how.language, Source::File(file)),
                }
                given = true;
            }
        }
        given |= !codes.is_empty();
        codes.extend(unusual_options(how.language, args));
        given |= how.language == Language::Other && !codes.is_empty();
        for code in codes {
            self.foreign_code(index, how.language, code, cx)?;
        }
        Ok(given)
    }

    /// The first operand: a script, or for a database its name with statements behind it.
    fn operand_code(&mut self, index: usize, language: Language, file: &Word, args: &[Word]) {
        match language {
            Language::Editor => {}
            Language::Sql => {
                let statement =
                    |arg: &&Word| arg.known().is_none_or(|text| text.contains(' ') || text.starts_with('.'));
                for statement in args.iter().skip(1).filter(statement) {
                    self.code(index, language, Source::Text(statement.clone()));
                }
            }
            language => self.code(index, language, Source::File(file.clone())),
        }
    }

    /// Notes code of another language; what an editor or debugger hands to a shell is followed.
    fn foreign_code(&mut self, index: usize, language: Language, text: Word, cx: &Context<'_>) -> Result<(), Unparsed> {
        self.code(index, language, Source::Text(text.clone()));
        if !matches!(language, Language::Editor | Language::Other) {
            return Ok(());
        }
        let Some(source) = text.known() else { return Ok(()) };
        let mut rest = source.trim_start_matches([':', ' ']);
        for word in ["silent!", "silent", "sil!", "sil", "shell", "term", "terminal", "exe", "r", "read"] {
            let behind = rest.strip_prefix(word);
            let ends = |behind: &&str| behind.starts_with([' ', '!']);
            if let Some(behind) = behind.filter(ends) {
                if matches!(word, "shell" | "term" | "terminal") {
                    let code = Word::known_text(behind.trim_start_matches(['!', ' ']), text.span);
                    return self.shell_code(index, code, self.dialect, Input::Inherited, cx);
                }
                rest = behind.trim_start();
            }
        }
        match rest.strip_prefix('!') {
            Some(code) => self.shell_code(index, Word::known_text(code, text.span), self.dialect, Input::Inherited, cx),
            None => Ok(()),
        }
    }
}

/// A word without the two characters of its option.
fn behind_option(word: &Word) -> Word {
    use crate::shell::seen::{Piece, Value};
    let mut word = word.clone();
    match &mut word.value {
        Value::Known(text) => *text = text.chars().skip(2).collect(),
        Value::Partial(pieces) => {
            if let Some(Piece::Text(text)) = pieces.first_mut() {
                *text = text.chars().skip(2).collect();
            }
        }
    }
    word
}

/// Code in options that are written unlike others: `vim +command`, and long names behind one dash.
fn unusual_options(language: Language, args: &[Word]) -> Vec<Word> {
    let plus = |arg: &Word| Some(Word::known_text(arg.known()?.strip_prefix('+')?, arg.span));
    let behind = |pair: &[Word]| match pair {
        [option, text] => {
            matches!(option.known(), Some("-ex" | "-iex" | "-eval" | "-eval-command")).then(|| text.clone())
        }
        _ => None,
    };
    match language {
        Language::Editor => args.iter().filter_map(plus).collect(),
        Language::Other => args.windows(2).filter_map(behind).collect(),
        // What is imported is a statement, and more may stand behind it; a pattern to split at is put into one.
        Language::Perl => {
            let put_in = |arg: &Word| {
                let rest = ["-M", "-m", "-F"].iter().find_map(|option| arg.prefix().strip_prefix(option))?;
                (!rest.is_empty()).then(|| Word { span: arg.span, ..behind_option(arg) })
            };
            args.iter().filter_map(put_in).collect()
        }
        _ => Vec::new(),
    }
}
