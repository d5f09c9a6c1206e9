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
             os.posix_spawn os.posix_spawnp os.fork os.forkpty os.startfile"
        }
        Language::Ruby => "system exec spawn popen IO.popen Open3 fork syscall Kernel",
        Language::JavaScript => {
            "execSync spawnSync execFile execFileSync Deno.Command Deno.run Bun.spawn Bun.spawnSync process.binding"
        }
        Language::Php => "system exec shell_exec passthru popen proc_open pcntl_exec",
        Language::Lua => "os.execute io.popen execute popen",
        Language::Editor => {
            "system shell sh term terminal python python3 py3 lua perl ruby call-process shell-command start-process job_start \
             libcall"
        }
        Language::Sql => "\\! .shell .system .load xp_cmdshell sys_exec pg_execute_server_program load_extension",
        Language::PowerShell => "start-process saps invoke-command icm cmd cmd.exe",
        Language::Other => "system exec shell spawn popen os:cmd System.cmd run esyscmd syscmd pipe",
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
];

fn starts_program(text: &code::Text<'_>) -> bool {
    let (whole, bare) = (text.whole.as_ref(), text.bare.as_str());
    // PowerShell does not care about case.
    let lower = if text.language == Language::PowerShell { bare.to_ascii_lowercase() } else { String::new() };
    let searched = if lower.is_empty() { bare } else { &lower };
    if calls_of(text.language).split_ascii_whitespace().any(|call| code::mentions(searched, call)) {
        return true;
    }
    match text.language {
        Language::Python => code::imports(bare, PYTHON_MODULES) || from_os(bare),
        Language::Perl => perl_starts(whole, bare),
        Language::Ruby => bare.contains('`') || bare.contains("%x"),
        Language::Php => bare.contains('`'),
        Language::JavaScript => whole.split(['\'', '"', '`']).any(|part| {
            matches!(part.strip_prefix("node:").unwrap_or(part), "child_process" | "worker_threads" | "vm" | "cluster")
        }),
        Language::Awk => awk_starts(whole),
        Language::Editor => filters(whole),
        Language::Sql => {
            let lower = whole.to_ascii_lowercase();
            code::mentions(&lower, "program") && code::mentions(&lower, "copy")
        }
        Language::Make => whole.contains("$(shell") || whole.contains("!="),
        _ => false,
    }
}

fn perl_starts(whole: &str, bare: &str) -> bool {
    code::mentions_any(bare, &["system", "exec", "qx", "fork", "syscall"]) && !only_in_pattern(bare)
        || code::mentions_any(bare, &["execvp", "execv", "execl", "execlp"])
        || bare.contains('`')
        || (code::mentions(bare, "open") && whole.contains('|'))
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

/// `/system/`: the name stands in a pattern only.
fn only_in_pattern(bare: &str) -> bool {
    let mut outside = String::new();
    for (at, part) in bare.split('/').enumerate() {
        if at % 2 == 0 {
            outside.push_str(part);
            outside.push(' ');
        }
    }
    bare.contains('/') && !code::mentions_any(&outside, &["system", "exec", "qx", "fork", "syscall"])
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
            ["exec(", "eval(", "compile(", "exec (", "eval ("].iter().any(|call| calls(bare, call))
                || code::mentions_any(
                    bare,
                    &[
                        "__import__",
                        "importlib",
                        "import_module",
                        "__builtins__",
                        "builtins",
                        "marshal.loads",
                        "globals",
                        "runpy",
                    ],
                )
                || (code::mentions_any(bare, &["getattr", "vars", "__dict__", "__getattribute__"])
                    && code::mentions_any(bare, &["os", "sys"]))
                || (code::mentions_any(bare, &["pickle.loads", "pickle.load"]))
        }
        Language::JavaScript => {
            code::mentions_any(
                bare,
                &["eval", "Function", "runInThisContext", "runInNewContext", "constructor", "mainModule"],
            ) || loads_built_name(bare)
        }
        Language::Perl | Language::Ruby | Language::Php => {
            code::mentions_any(bare, &["eval", "instance_eval", "class_eval", "assert", "create_function", "send"])
        }
        Language::Lua => code::mentions_any(bare, &["load", "loadstring", "dofile"]),
        Language::PowerShell => code::mentions_any(
            &bare.to_ascii_lowercase(),
            &["iex", "invoke-expression", "frombase64string", "-encodedcommand"],
        ),
        _ => false,
    }
}

/// `require("a" + b)`: the name of a module is one string, whose text is blanked here, or it is made of parts.
fn loads_built_name(bare: &str) -> bool {
    ["require(", "import("].iter().any(|call| {
        bare.split(call).skip(1).any(|after| {
            let name = after.trim_start().trim_start_matches(['"', '\'']).trim_start();
            !(after.trim_start().starts_with(['"', '\'']) && name.starts_with(')'))
        })
    })
}

/// Whether a call stands in code as a name of its own, not as a method.
fn calls(bare: &str, call: &str) -> bool {
    bare.match_indices(call).any(|(at, _)| {
        !bare
            .get(..at)
            .and_then(|before| before.chars().next_back())
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
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
