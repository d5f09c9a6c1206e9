//! `code_injection`, second part: code on the command line that starts programs or hides what it does.

use super::{Rule, code};
use crate::shell::{Group, Language};

const GROUP: Group = Group::CodeInjection;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "code_injection.program_from_code",
        group: GROUP,
        sentence: "code that starts programs walks past every rule about them; write the command itself",
        programs: &[],
        matches: |look| look.code().find(|text| starts_program(text)).map(|text| text.word.span),
        denies: &[
            "python3 -c 'import os; os.system(\"ls\")'",
            "python -c 'import subprocess'",
            "python3 -c 'from os import system'",
            "perl -e 'system(\"ls\")'",
            "perl -e 'print `ls`'",
            "ruby -e 'exec \"ls\"'",
            "ruby -e '%x(ls)'",
            "node -e 'require(\"child_process\")'",
            "php -r 'shell_exec(1);'",
            "awk 'BEGIN{system(\"ls\")}'",
            "awk 'BEGIN{\"ls\" | getline x}'",
            "awk '{print | \"sh\"}' f",
            "lua -e 'os.execute(1)'",
            "vim -c ':!ls' f",
            "sqlite3 a.db '.shell ls'",
            "psql -c '\\! ls'",
            "python3 <<'EOF'\nimport os\nos.popen('ls')\nEOF",
            "psql -c \"COPY t FROM PROGRAM 'ls'\"",
            "gdb -batch -ex 'shell ls'",
        ],
        allows: &[
            "python3 -c 'print(1)'",
            "python3 -c 'print(\"os.system\")'",
            "perl -ne 'print if /system/'",
            "awk '/system/ {print $2}' f",
            "awk '{print $1 \" | \" $2}' f",
            "node -e 'console.log(1)'",
            "ruby -e 'puts 1'",
            "vim -c ':wq!' f",
            "awk 'a || b' f",
            "sqlite3 a.db 'SELECT 1'",
        ],
    },
    Rule {
        id: "code_injection.hidden_code",
        group: GROUP,
        sentence: "code that builds more code cannot be judged; write what it builds",
        programs: &[],
        matches: |look| look.code().find(|text| hides(text)).map(|text| text.word.span),
        denies: &[
            "python3 -c 'exec(\"a\")'",
            "python3 -c 'eval(x)'",
            "python3 -c '__import__(\"os\")'",
            "node -e 'eval(x)'",
            "node -e 'new Function(x)()'",
            "perl -e 'eval $x'",
            "ruby -e 'eval x'",
            "php -r 'eval($x);'",
            "python3 -c 'getattr(os, \"sys\" + \"tem\")'",
            "python3 -c 'globals()[x]'",
            "pwsh -Command 'iex x'",
        ],
        allows: &[
            "python3 -c 'print(\"eval(x)\")'",
            "python3 -c 'model.evaluate()'",
            "node -e 'a.evaluate()'",
            "python3 -c 'import re; re.compile(1)'",
        ],
    },
    Rule {
        id: "code_injection.written_by_script",
        group: GROUP,
        sentence: "a script command that writes files does so where no redirection shows; use `>` behind the command",
        programs: &[],
        matches: |look| look.code().find(|text| writes_file(text)).map(|text| text.word.span),
        denies: &["awk '{print > \"/etc/cron.d/x\"}' f", "awk '{print > $1}' f"],
        allows: &["awk '$1 > 3' f", "awk '{print ($1 > 3)}' f", "awk '{print > \"out.txt\"}' f"],
    },
];

/// Calls that start programs, by language; several languages share some.
fn calls_of(language: Language) -> &'static str {
    match language {
        Language::Python => {
            "os.system os.popen os.execl os.execv os.execve os.execvp os.execvpe os.execlp os.execle os.spawnl os.spawnv os.spawnlp os.spawnvp \
             os.posix_spawn os.posix_spawnp os.fork os.forkpty os.startfile create_subprocess_exec create_subprocess_shell \
             subprocess_exec subprocess_shell distutils.spawn webbrowser"
        }
        Language::Ruby => "system exec spawn popen IO.popen Open3 fork syscall Kernel Fiddle Shellwords.exec",
        Language::JavaScript => {
            "execSync spawnSync execFile execFileSync Deno.Command Deno.run Bun.spawn Bun.spawnSync process.binding dlopen \
             _linkedBinding internalBinding Bun.$ os.exec std.popen getRuntime ProcessBuilder"
        }
        Language::Php => {
            "system exec shell_exec passthru popen proc_open pcntl_exec pcntl_fork expect_popen ssh2_exec FFI dl"
        }
        Language::Lua => "os.execute io.popen execute popen",
        Language::Editor => {
            "system shell sh term terminal python python3 py3 lua perl ruby call-process shell-command start-process job_start \
             libcall"
        }
        Language::Sql => {
            "\\! .shell .sh .system .load .excel .www edit xp_cmdshell sys_exec pg_execute_server_program load_extension"
        }
        Language::PowerShell => "start-process saps invoke-command icm cmd cmd.exe",
        Language::Other => {
            "system exec shell spawn popen os:cmd System.cmd run esyscmd syscmd pipe execute ProcessBuilder getRuntime \
             clojure.java.shell process_create run-program qx shellout"
        }
        _ => "",
    }
}

/// Python modules that start programs, or a place where they can be.
const PYTHON_MODULES: &[&str] = &[
    "subprocess",
    "pty",
    "commands",
    "pexpect",
    "sh",
    "plumbum",
    "code",
    "codeop",
    "pdb",
    "bdb",
    "multiprocessing",
    "ctypes",
    "invoke",
    "fabric",
    "posix",
    "nt",
    "_posixsubprocess",
    "_ctypes",
    "cffi",
    "pipes",
    "popen2",
    "webbrowser",
    "antigravity",
    "pydoc",
    "pip",
    "IPython",
    "xonsh",
];

fn starts_program(text: &code::Text<'_>) -> bool {
    let (whole, bare) = (text.whole.as_ref(), text.bare.as_str());
    // PowerShell does not care about case.
    let lower = if text.language == Language::PowerShell { bare.to_ascii_lowercase() } else { String::new() };
    let searched = match text.language {
        Language::PowerShell => &lower,
        // A string may be called like the function that it names.
        Language::Php => whole,
        _ => bare,
    };
    if calls_of(text.language).split_ascii_whitespace().any(|call| code::mentions(searched, call)) {
        return true;
    }
    match text.language {
        Language::Python => code::imports(bare, PYTHON_MODULES) || from_os(bare) || method_starts(bare),
        Language::Perl => perl_starts(whole, bare),
        Language::Ruby => {
            // `open("|ls")` and its kin.
            let pipes = ["\"|", "'|", "(|"].iter().any(|pipe| whole.contains(pipe));
            bare.contains('`')
                || bare.contains("%x")
                || pipes && code::mentions_any(bare, &["open", "read", "readlines", "foreach", "binread", "write"])
        }
        Language::Php => bare.contains('`'),
        // A method of that name belongs to patterns.
        Language::JavaScript if names(bare, "exec") => true,
        Language::JavaScript => whole.split(['\'', '"', '`']).any(|part| {
            matches!(
                part.strip_prefix("node:").unwrap_or(part),
                "child_process" | "worker_threads" | "vm" | "cluster" | "repl" | "inspector" | "bun:ffi"
            )
        }),
        Language::Awk => awk_starts(whole),
        Language::Editor => filters(whole),
        Language::Sql => {
            let lower = whole.to_ascii_lowercase();
            code::mentions(&lower, "program") && code::mentions(&lower, "copy") || client_pipes(whole)
        }
        Language::Make => whole.contains("$(shell") || whole.contains("!="),
        // Scala's `"ls".!`.
        Language::Other => whole.contains("\".!"),
        _ => false,
    }
}

/// Names by which Perl starts programs, or gets at what does.
const PERL_STARTS: &[&str] = &["system", "exec", "qx", "readpipe", "fork", "syscall", "sysopen"];

fn perl_starts(whole: &str, bare: &str) -> bool {
    code::mentions_any(&without_patterns(bare), PERL_STARTS)
        || code::mentions_any(bare, &["execvp", "execv", "execl", "execlp", "IPC", "POSIX::_exit"])
        || bare.contains('`')
        || (code::mentions_any(bare, &["open", "open2", "open3"]) && whole.contains('|'))
}

/// Python: `x.system(…)` whatever `x` is; `platform.system()` only says which one it is.
fn method_starts(bare: &str) -> bool {
    [".system", ".popen", ".execv", ".execve", ".execvp", ".execl", ".execlp", ".spawnl", ".spawnv", ".posix_spawn"]
        .iter()
        .any(|method| {
            bare.match_indices(method).any(|(at, _)| {
                let before = bare.get(..at).unwrap_or_default();
                let after = bare.get(at + method.len()..).unwrap_or_default();
                !before.ends_with("platform") && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        })
}

/// Commands of a database's client that hand text to a program: `.once |ls`, `\\o |ls`, ``\\set x `ls` ``, mysql's `system`.
fn client_pipes(statements: &str) -> bool {
    statements.split(['\n', ';']).map(str::trim_start).any(|line| {
        let first = line.split_whitespace().next().unwrap_or_default();
        let own = line.starts_with('.') || line.contains('\\');
        own && (line.contains('|') && !line.contains("||") || line.contains('`'))
            || matches!(first, "system" | "pager" | "\\P" | "\\setenv" | "\\e" | "\\ef" | "\\ev")
    })
}

/// `:!ls`, `:r !ls`, `:%!sh`; not `:wq!`.
fn filters(commands: &str) -> bool {
    let mut before = ' ';
    commands.chars().any(|c| {
        let starts = c == '!' && !before.is_alphanumeric();
        before = c;
        starts
    })
}

/// `from os import system`.
fn from_os(bare: &str) -> bool {
    bare.split([';', '\n']).map(str::trim).any(|statement| {
        statement.strip_prefix("from os import").is_some_and(|names| {
            names.contains('*')
                || code::mentions_any(
                    names,
                    &["system", "popen", "execv", "execl", "execvp", "execve", "fork", "spawnl", "spawnv"],
                )
        })
    })
}

/// Perl without its patterns, so that `/system/` is none of its calls. A replacement that is code (`s/a/b/e`) stays, and so
/// does a pattern with code in it. A slash is a division where an operand stands before it.
fn without_patterns(bare: &str) -> String {
    let mut outside = String::with_capacity(bare.len());
    let mut rest = bare;
    while let Some(at) = rest.find('/') {
        let (before, after) = (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
        outside.push_str(before);
        let last = before.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let operator = before.trim_end().ends_with(['(', ',', '~', '{', ';', '&', '|', '!', '=', '?', ':']);
        let replaces = matches!(last, "s" | "y" | "tr");
        if !(before.trim().is_empty() || operator || replaces || BEFORE_PATTERN.contains(&last)) {
            outside.push('/');
            rest = after;
            continue;
        }
        let (pattern, mut behind) = delimited(after);
        let mut replacement = "";
        if replaces {
            (replacement, behind) = delimited(behind);
        }
        let flags = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_lowercase()).len();
        let (flags, behind) = behind.split_at_checked(flags).unwrap_or(("", behind));
        if pattern.contains("(?{") || pattern.contains("(??{") {
            outside.push(' ');
            outside.push_str(pattern);
        }
        outside.push(' ');
        if flags.contains('e') {
            outside.push_str(replacement);
            outside.push(' ');
        }
        rest = behind;
    }
    outside.push_str(rest);
    outside
}

/// Words behind which a slash begins a pattern.
const BEFORE_PATTERN: &[&str] =
    &["m", "qr", "if", "unless", "and", "or", "not", "split", "grep", "map", "while", "until", "return", "when", "x"];

/// What stands before the next slash that is not escaped, and what stands behind it.
fn delimited(text: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '/' => return (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default()),
            _ => {}
        }
    }
    (text, "")
}

/// `system(…)`, and pipes to and from commands outside strings and patterns.
fn awk_starts(whole: &str) -> bool {
    let bare = without_awk_text(whole);
    let pipes = bare.replace("||", "  ");
    code::mentions(&bare, "system") || pipes.contains('|') || bare.contains("@load")
}

/// awk without its strings, and without patterns where they can be told from division.
fn without_awk_text(whole: &str) -> String {
    let mut bare = String::with_capacity(whole.len());
    let mut chars = whole.chars();
    let mut before = '{';
    while let Some(c) = chars.next() {
        let pattern = c == '/' && matches!(before, '{' | '(' | ',' | '~' | '!' | '&' | '|' | ';' | '\n' | '}');
        if c == '"' || pattern {
            let mut escaped = false;
            for inner in chars.by_ref() {
                match inner {
                    _ if escaped => escaped = false,
                    '\\' => escaped = true,
                    _ if inner == c => break,
                    _ => {}
                }
            }
            bare.push_str("\"\"");
            before = '"';
            continue;
        }
        bare.push(c);
        if !c.is_whitespace() || c == '\n' {
            before = c;
        }
    }
    bare
}

fn hides(text: &code::Text<'_>) -> bool {
    let bare = &text.bare;
    match text.language {
        Language::Python => {
            ["exec", "eval", "compile"].iter().any(|name| names(bare, name))
                || code::mentions_any(bare, PYTHON_HIDES)
                || (code::mentions_any(
                    bare,
                    &["getattr", "vars", "__dict__", "__getattribute__", "attrgetter", "methodcaller"],
                ) && code::mentions_any(bare, &["os", "sys"]))
                || bare.chars().any(reads_as_ascii)
        }
        Language::JavaScript => {
            code::mentions_any(
                bare,
                &[
                    "eval",
                    "Function",
                    "runInThisContext",
                    "runInNewContext",
                    "constructor",
                    "mainModule",
                    "createRequire",
                ],
            ) || loads_built_name(bare)
                || ["globalThis[", "global[", "process[", "window[", "Reflect."].iter().any(|way| bare.contains(way))
                || (code::mentions_any(bare, &["require", "import", "getBuiltinModule"])
                    && (text.whole.contains("\\x") || text.whole.contains("\\u")))
        }
        Language::Perl | Language::Ruby | Language::Php => {
            code::mentions_any(bare, RUN_TEXT) || text.language == Language::Php && calls_value(&text.whole)
        }
        Language::Lua => code::mentions_any(bare, &["load", "loadstring", "dofile"]),
        Language::PowerShell => code::mentions_any(
            &bare.to_ascii_lowercase(),
            &["iex", "invoke-expression", "frombase64string", "-encodedcommand"],
        ),
        _ => false,
    }
}

/// Python's ways to code or modules that are named by text, and to what the language hides.
const PYTHON_HIDES: &[&str] = &[
    "__import__",
    "importlib",
    "import_module",
    "__builtins__",
    "builtins",
    "marshal.loads",
    "globals",
    "runpy",
    "pickle.loads",
    "pickle.load",
    "sys.modules",
    "__loader__",
    "__spec__",
    "__subclasses__",
    "__globals__",
    "__code__",
    "f_globals",
    "timeit.timeit",
    "timeit.repeat",
    "FunctionType",
    "CodeType",
    "breakpoint",
];

/// Calls that run text, of Perl, Ruby and PHP together.
const RUN_TEXT: &[&str] = &[
    "eval",
    "instance_eval",
    "class_eval",
    "module_eval",
    "assert",
    "create_function",
    "send",
    "public_send",
    "__send__",
    "const_get",
    "ERB",
    "call_user_func",
    "call_user_func_array",
    "ReflectionFunction",
];

/// PHP: `$f(…)` and `('a'.'b')(…)` call what a value names.
fn calls_value(whole: &str) -> bool {
    let variable = whole.split('$').skip(1).any(|after| {
        let rest = after.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        rest.len() < after.len() && rest.starts_with('(')
    });
    variable || whole.contains(")(") || whole.contains("](")
}

/// Letters that Python takes for ASCII ones: it reads names in their compatible form.
fn reads_as_ascii(c: char) -> bool {
    matches!(c, '\u{aa}' | '\u{ba}' | '\u{2070}'..='\u{209c}' | '\u{2100}'..='\u{214f}' | '\u{24b6}'..='\u{24e9}'
        | '\u{ff21}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d7ff}')
}

/// `require("a" + b)`: the name of a module is one string, whose text is blanked here, or it is made of parts.
fn loads_built_name(bare: &str) -> bool {
    ["require(", "import(", "getBuiltinModule("].iter().any(|call| {
        bare.split(call).skip(1).any(|after| {
            let name = after.trim_start().trim_start_matches(['"', '\'']).trim_start();
            !(after.trim_start().starts_with(['"', '\'']) && name.starts_with(')'))
        })
    })
}

/// Whether a name stands in code by itself: no method, no part of a longer name, no keyword of a call.
fn names(bare: &str, name: &str) -> bool {
    bare.match_indices(name).any(|(at, _)| {
        let before = bare.get(..at).and_then(|before| before.chars().next_back());
        let after = bare.get(at + name.len()..).and_then(|after| after.trim_start().chars().next());
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
            && !after.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '='))
    })
}

fn writes_file(text: &code::Text<'_>) -> bool {
    text.language == Language::Awk
        && awk_redirects(&text.whole)
        && text.whole.split('>').skip(1).any(|target| !is_plain_file(target.trim_start_matches(['>', ' '])))
}

/// `"name.txt"`: a file of the folder, by its name.
fn is_plain_file(target: &str) -> bool {
    target
        .strip_prefix('"')
        .and_then(|rest| rest.split_once('"'))
        .is_some_and(|(name, _)| !name.starts_with(['/', '~', '.', '|']) && !name.contains(".."))
}

/// `print … > "file"`: a sign of more in a statement that prints, outside parentheses.
fn awk_redirects(whole: &str) -> bool {
    let bare = without_awk_text(whole);
    bare.split([';', '\n', '}', '{']).any(|statement| {
        let statement = statement.trim_start();
        let mut depth = 0_usize;
        statement.starts_with("print")
            && statement.chars().any(|c| {
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                c == '>' && depth == 0
            })
    })
}
