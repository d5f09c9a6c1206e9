//! Which programs are given code of another language, and how.

use super::options::Options;
use crate::shell::seen::Language;

/// How an interpreter is given code.
pub(super) struct Interpreter {
    pub(super) language: Language,
    pub(super) options: Options,
    /// Options whose value is code.
    pub(super) code: &'static [&'static str],
    /// Options whose value is a file of code, or after which the operand is no code.
    pub(super) file: &'static [&'static str],
    /// Whether the first operand is code itself.
    pub(super) operand: bool,
    /// Whether standard input is code where nothing else is.
    pub(super) input: bool,
}

fn options(flags: &'static str, values: &'static str, attached: &'static str) -> Options {
    Options { flags, values, attached, ..Options::default() }
}

/// How a program takes code; none where it is no interpreter.
pub(super) fn interpreter(name: &str) -> Option<Interpreter> {
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
        "node" | "nodejs" | "bun" | "tsx" | "ts-node" | "qjs" | "d" | "mongosh" | "mongo" | "jrunscript" | "jjs" => {
            Interpreter {
                language: L::JavaScript,
                options: Options {
                    flags: "ichp",
                    values: "er",
                    long_values: &[
                        "eval",
                        "print",
                        "require",
                        "import",
                        "loader",
                        "conditions",
                        "input-type",
                        "env-file",
                    ],
                    ..Options::default()
                },
                code: &["e", "eval", "print"],
                file: &[],
                operand: false,
                input: true,
            }
        }
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
        | "guile" | "sbcl" | "clisp" | "rlang" | "swipl" | "gprolog" | "clojure" | "clj" | "bb" | "kotlin"
        | "kotlinc" | "jshell" | "crystal" | "nim" | "ocaml" | "raku" | "rakudo" | "tcl" | "gforth" => Interpreter {
            language: L::Other,
            options: Options {
                values: "ecExog",
                long_values: &["eval", "execute", "expr", "ex", "command", "expression", "batch-string"],
                ..Options::default()
            },
            code: &[
                "e",
                "c",
                "E",
                "x",
                "o",
                "g",
                "eval",
                "execute",
                "expr",
                "ex",
                "command",
                "expression",
                "batch-string",
            ],
            file: &[],
            operand: false,
            input: true,
        },
        _ => return None,
    })
}
