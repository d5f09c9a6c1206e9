//! Programs that are given code of another language.

use super::options::{Options, walk};
use super::shells::is_input;
use super::{Context, Scan};
use crate::shell::seen::{Input, Language, Source, Unparsed, Word};

/// How an interpreter is given code.
struct Interpreter {
    language: Language,
    options: Options,
    /// Options whose value is code.
    code: &'static [&'static str],
    /// Options whose value is a file of code, or after which the operand is no code.
    file: &'static [&'static str],
    /// Whether the first operand is code itself.
    operand: bool,
    /// Whether standard input is code where nothing else is.
    input: bool,
}

fn options(flags: &'static str, values: &'static str, attached: &'static str) -> Options {
    Options { flags, values, attached, ..Options::default() }
}

/// How a program takes code; none where it is no interpreter.
fn interpreter(name: &str) -> Option<Interpreter> {
    use Language as L;
    let make =
        |language, options, code| Interpreter { language, options, code, file: &[], operand: false, input: true };
    let bare = name.trim_end_matches(|end: char| end.is_ascii_digit() || matches!(end, '.' | '-'));
    Some(match bare {
        "python" | "pypy" | "ipython" | "jython" | "micropython" | "pythonw" => {
            Interpreter { file: &["m"], ..make(L::Python, options("bBdEhiIOPqsSuvVx", "cmWXQ", ""), &["c"]) }
        }
        "perl" => make(L::Perl, options("acnpsStTuUvVwWXfgh", "eEI", "MmxCdDi0lF"), &["e", "E"]),
        "ruby" | "jruby" | "irb" => make(L::Ruby, options("acdhlnpsSUvwxy", "eIrCE", "i0FKTWx"), &["e"]),
        "node" | "nodejs" | "bun" | "tsx" | "ts-node" | "qjs" | "d" => Interpreter {
            language: L::JavaScript,
            options: Options {
                flags: "ichp",
                values: "er",
                long_values: &["eval", "print", "require", "import", "loader", "conditions", "input-type", "env-file"],
                ..Options::default()
            },
            code: &["e", "eval", "print"],
            file: &[],
            operand: false,
            input: true,
        },
        "php" => make(L::Php, options("aCehHilmnqsvw", "rBRFEdcStzf", ""), &["r", "B", "R", "E"]),
        "lua" | "luajit" | "texlua" => make(L::Lua, options("ivEW", "el", ""), &["e"]),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => Interpreter {
            language: L::Awk,
            options: Options {
                flags: "bcCghknNOPrsStVMI",
                values: "FvfeEil",
                attached: "doDpLW",
                long_values: &["file", "field-separator", "assign", "source", "exec", "include", "load"],
                ..Options::default()
            },
            code: &["e", "source"],
            file: &["f", "file", "E", "exec"],
            operand: true,
            input: false,
        },
        "sed" | "gsed" => Interpreter {
            language: L::Sed,
            options: Options {
                flags: "nrEszub",
                values: "efl",
                attached: "i",
                long_flags: &[
                    "quiet",
                    "silent",
                    "regexp-extended",
                    "separate",
                    "null-data",
                    "unbuffered",
                    "posix",
                    "debug",
                    "sandbox",
                    "in-place",
                ],
                long_values: &["expression", "file", "line-length"],
            },
            code: &["e", "expression"],
            file: &["f", "file"],
            operand: true,
            input: false,
        },
        "vim" | "vi" | "nvim" | "view" | "vimdiff" | "gvim" | "rvim" | "ex" | "nano" | "emacs" | "emacsclient"
        | "kak" => Interpreter {
            language: L::Editor,
            options: Options {
                flags: "RnEesvybmMNZAHFLlQ",
                values: "cStTuUwWiPp",
                long_values: &["cmd", "eval", "execute", "load", "funcall"],
                ..Options::default()
            },
            code: &["c", "cmd", "eval", "execute", "e"],
            file: &["S", "load"],
            operand: false,
            input: bare == "ex",
        },
        "ed" | "red" => make(L::Editor, options("sGErvp", "p", ""), &[]),
        "psql" => make(L::Sql, options("aAbeEHlLnqsStwWxXz1", "cdfFhPpRTUvo", ""), &["c", "command"]),
        "mysql" | "mariadb" => make(L::Sql, options("ABbCEfHinNoqrsStvVwX", "eDhuPS", "p"), &["e", "execute"]),
        "sqlite" | "duckdb" => make(L::Sql, options("", "c", ""), &["cmd", "c"]),
        "osascript" | "gdb" | "lldb" | "dc" | "gnuplot" | "expect" | "julia" | "Rscript" | "R" | "groovy" | "scala"
        | "m4" | "tclsh" | "wish" | "octave" | "maxima" | "ghci" | "ghc" | "elixir" | "erl" | "iex" | "racket"
        | "guile" | "sbcl" | "clisp" | "rlang" => Interpreter {
            language: L::Other,
            options: Options {
                values: "ecExo",
                long_values: &["eval", "execute", "expr", "ex", "command", "expression"],
                ..Options::default()
            },
            code: &["e", "c", "E", "x", "o", "eval", "execute", "expr", "ex", "command", "expression"],
            file: &[],
            operand: false,
            input: true,
        },
        _ => return None,
    })
}

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
        let (found, starts) = walk(args, &how.options);
        let mut given = false;
        for pair in args.windows(2) {
            if let [option, text] = pair
                && how.language == Language::Other
                && matches!(option.known(), Some("-ex" | "-iex" | "-eval" | "-eval-command"))
            {
                self.foreign_code(index, how.language, text.clone(), cx)?;
                given = true;
            }
        }
        for option in &found {
            let Some(near) = args.first() else { break };
            if how.code.contains(&option.name.as_str()) {
                if let Some(text) = option.value(near) {
                    self.foreign_code(index, how.language, text, cx)?;
                    given = true;
                }
            } else if how.language == Language::JavaScript && option.name == "p" {
                // `-p` alone prints what the next word is, `-pe` what `-e` is given.
                let code = starts
                    .first()
                    .and_then(|start| args.get(*start))
                    .filter(|_| found.iter().all(|one| one.name != "e"));
                if let Some(code) = code.cloned() {
                    self.foreign_code(index, how.language, code, cx)?;
                    given = true;
                }
            } else if how.file.contains(&option.name.as_str())
                && let Some(file) = option.value(near)
            {
                self.code(index, how.language, Source::File(file));
                given = true;
            }
        }
        for arg in args {
            if let Some(text) =
                arg.known().and_then(|text| text.strip_prefix('+')).filter(|_| how.language == Language::Editor)
            {
                self.foreign_code(index, how.language, Word::known_text(text, arg.span), cx)?;
            }
        }
        let operand = starts.first().and_then(|start| args.get(*start));
        match operand {
            _ if given => {}
            Some(code) if how.operand => self.foreign_code(index, how.language, code.clone(), cx)?,
            Some(file) if !is_input(file) => {
                if !matches!(how.language, Language::Editor | Language::Sql) {
                    self.code(index, how.language, Source::File(file.clone()));
                }
                if how.language == Language::Sql && how.input {
                    for statement in args
                        .iter()
                        .skip(1)
                        .filter(|arg| arg.known().is_none_or(|text| text.contains(' ') || text.starts_with('.')))
                    {
                        self.code(index, how.language, Source::Text(statement.clone()));
                    }
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
