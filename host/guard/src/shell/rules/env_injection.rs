//! `env_injection`: variables that make programs run other code.

use super::args::{PLAIN, Spec, operands};
use super::{Look, Rule, steps};
use crate::shell::variables::{self, Effect};
use crate::shell::{Group, Span, Word};

const GROUP: Group = Group::EnvInjection;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "env_injection.assignment",
        group: GROUP,
        sentence: "the variable makes other programs load or run code; leave it unset",
        programs: &[],
        matches: assigned,
        denies: &[
            "LD_PRELOAD=/tmp/x.so ls",
            "LD_LIBRARY_PATH=. ls",
            "env LD_PRELOAD=x ls",
            "LD_AUDIT=x ls",
            "DYLD_INSERT_LIBRARIES=x ls",
            "BASH_ENV=x bash a",
            "ENV=/tmp/x.sh sh a",
            "PROMPT_COMMAND=ls",
            "GIT_EXTERNAL_DIFF=x git diff",
            "GIT_SSH_COMMAND='sh -c ls' git fetch",
            "PYTHONSTARTUP=x python3",
            "NODE_OPTIONS='--require ./x' node a",
            "PERL5OPT=-Mx perl a",
            "RUBYOPT=-rx ruby a",
            "PATH=/tmp:$PATH ls",
            "PAGER='sh -c ls' git log",
            "LESSOPEN='|ls' less a",
            "PS4='$(ls)' bash -x a",
            "JAVA_TOOL_OPTIONS=-javaagent:x java a",
            "GIT_CONFIG_COUNT=1 git log",
            "PATH=.:$PATH ls",
            "'LD_PRELOAD'=x ls; LD_PRELOAD=x ls",
            "BASH_FUNC_ls%%='() { id; }' ls; BASH_ENV=a ls",
        ],
        allows: &[
            "FOO=bar ls",
            "NODE_ENV=production npm test",
            "ENV=production make",
            "PYTHONPATH=src pytest",
            "GIT_PAGER=cat git log",
            "PAGER= git log",
            "NODE_OPTIONS=--max-old-space-size=4096 node a",
            "PATH=$PATH:$PWD/bin ls",
            "IFS=, read a b",
            "EDITOR=true git commit",
            "echo LD_PRELOAD=x",
            "RUST_LOG=debug cargo test",
            "CC=clang make",
            "grep LD_PRELOAD= f",
        ],
    },
    Rule {
        id: "env_injection.export",
        group: GROUP,
        sentence: "the variable makes other programs load or run code; leave it unset",
        programs: &[
            "export",
            "declare",
            "typeset",
            "local",
            "readonly",
            "env",
            "setenv",
            "set",
            "putenv",
            "launchctl",
            "setx",
        ],
        matches: export,
        denies: &[
            "export LD_PRELOAD=/tmp/x.so",
            "export BASH_ENV=/tmp/x.sh",
            "export \"LD_PRELOAD=x\"",
            "declare -x LD_PRELOAD=x",
            "typeset -x DYLD_LIBRARY_PATH=x",
            "readonly BASH_ENV=x",
            "export LD_PRELOAD",
            "export PROMPT_COMMAND=ls",
            "export A=1 LD_AUDIT=x",
            "export ENV=/tmp/x",
            "declare -gx BASH_ENV=x",
            "export $(cat .env)",
            "export \"$x=1\"",
        ],
        allows: &[
            "export FOO=bar",
            "declare -x FOO=1",
            "export PATH=\"$HOME/.local/bin:$PATH\"",
            "export ENV=production",
            "local x=1",
            "export FOO=\"$(date)\"",
            "readonly A=1",
        ],
    },
    Rule {
        id: "env_injection.read_into",
        group: GROUP,
        sentence: "the variable makes other programs load or run code; use another name",
        programs: &["read", "printf", "mapfile", "readarray", "getopts", "unset", "let", "wait"],
        matches: read_into,
        denies: &[
            "read LD_PRELOAD < f",
            "printf -v BASH_ENV %s x",
            "mapfile PROMPT_COMMAND < f",
            "read -r a LD_PRELOAD",
            "read -rp x BASH_ENV",
            "printf -vLD_PRELOAD x",
        ],
        allows: &[
            "read line",
            "printf '%s' LD_PRELOAD",
            "printf -v x %s LD_PRELOAD",
            "mapfile lines < f",
            "unset LD_PRELOAD",
        ],
    },
    Rule {
        id: "env_injection.loader",
        group: GROUP,
        sentence: "the loader itself runs any file with any library; run the program by its name",
        programs: &["ld.so", "ldd"],
        matches: |look| match look.name {
            "ldd" => None,
            _ => Some(look.program()),
        },
        denies: &["ld.so --preload x ls"],
        allows: &["ldd a", "ld -o a b.o"],
    },
    Rule {
        id: "env_injection.loader_by_path",
        group: GROUP,
        sentence: "the loader itself runs any file with any library; run the program by its name",
        programs: &[],
        matches: |look| {
            (look.name.starts_with("ld-linux") || look.name.starts_with("ld-musl") || look.name.starts_with("ld-2."))
                .then(|| look.program())
        },
        denies: &["/lib64/ld-linux-x86-64.so.2 --preload x /bin/ls", "/lib/ld-musl-x86_64.so.1 ls"],
        allows: &["ls /lib64/ld-linux-x86-64.so.2"],
    },
];

/// Whether setting a variable makes other programs run other code. A value that is not known is the worst one; none is that
/// which the variable has already.
fn is_dangerous(name: &str, value: Option<&Word>, workspace: &str) -> bool {
    let Some(effect) = variables::effect(name) else { return false };
    let known = value.and_then(Word::known);
    match effect {
        Effect::Always => true,
        Effect::Shows => !known.is_some_and(|text| PLAIN_SHOWS.contains(&text)),
        Effect::Tool => value.is_some_and(|value| !variables::is_plain_tool(name, value)),
        Effect::Options => sets_dangerous_option(name, value),
        // Programs read their settings from wherever that is.
        Effect::Home => value.is_some_and(|value| steps::text_of(value, workspace).trim_end_matches('/') != "~"),
        Effect::Path => value.is_some_and(|value| has_open_folder(value) || shadows(value, workspace)),
    }
}

/// What shows, edits or opens text and nothing else.
const PLAIN_SHOWS: &[&str] = &[
    "",
    "cat",
    "less",
    "more",
    "true",
    ":",
    "false",
    "vi",
    "vim",
    "nvim",
    "nano",
    "emacs",
    "echo",
    "less -R",
    "less -FRX",
    "code --wait",
    "bat",
    "delta",
    "most",
];

/// Options of the Node runtime that load nothing.
const PLAIN_NODE: &[&str] = &[
    "--max-",
    "--stack-size",
    "--trace-",
    "--no-",
    "--openssl-legacy-provider",
    "--experimental-vm-modules",
    "--enable-source-maps",
    "--unhandled-rejections",
];

/// Whether options in a variable load or run code.
fn sets_dangerous_option(name: &str, value: Option<&Word>) -> bool {
    let known = value.and_then(Word::known);
    let known_without = |bad: &[&str]| known.is_some_and(|text| !bad.iter().any(|bad| text.contains(bad)));
    let written =
        |bad: &[&str]| value.is_some_and(|word| word.literals().any(|text| bad.iter().any(|bad| text.contains(bad))));
    match name {
        // The name of a stage is everybody's; a path is what `sh` reads first.
        "ENV" => !known.is_some_and(|text| !text.contains(['/', '~', '$', '`']) && !text.ends_with("sh")),
        "NODE_OPTIONS" | "BUN_OPTIONS" => !known.is_some_and(|text| {
            text.split_whitespace().all(|part| PLAIN_NODE.iter().any(|plain| part.starts_with(plain)))
        }),
        "MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS" => !known_without(&["eval", "SHELL"]),
        // `-k file` reads keys that run commands, `+!cmd` runs one.
        "LESS" => written(&["+!", "+|", "-k", "lesskey", "+&"]),
        // A category with a dot is a module that is loaded.
        "PYTHONWARNINGS" => written(&["."]),
        "DBUS_SESSION_BUS_ADDRESS" | "DBUS_SYSTEM_BUS_ADDRESS" => written(&["unixexec"]),
        "GOFLAGS" => written(&["-exec", "-toolexec", "-vettool", "-overlay", "-modfile"]),
        "CFLAGS" | "CXXFLAGS" | "CPPFLAGS" | "LDFLAGS" | "CGO_CFLAGS" | "CGO_CXXFLAGS" | "CGO_LDFLAGS" => {
            written(&["-wrapper", "-fplugin", "-specs", "-fuse-ld=/", "-fuse-ld=.", "-B"])
        }
        _ if name.ends_with("FLAGS") => written(&["linker=", "codegen-backend", "-wrapper", "-fplugin", "runtool"]),
        _ => !known_without(&["-javaagent", "-agent", "-XX:On", "-Xbootclasspath", "-cp", "-processorpath", "@"]),
    }
}

/// Whether a folder of the workspace stands in a search path before the system's, so that what is there is run in place of
/// what was meant. The folders that installers of the languages fill are everybody's.
fn shadows(word: &Word, workspace: &str) -> bool {
    let text = steps::text_of(word, workspace);
    let inherited =
        |part: &str| part.starts_with(steps::ANY) || ["/usr/", "/bin", "/sbin"].iter().any(|own| part.starts_with(own));
    let filled = |part: &str| TOOL_FOLDERS.iter().any(|folder| part.ends_with(folder));
    let own = |part: &str| workspace != "/" && steps::within(part, workspace) && !filled(part);
    let mut before = text.split(':').take_while(|part| !inherited(part));
    before.any(own)
}

/// Where the tools of a project are put by what installs them.
const TOOL_FOLDERS: &[&str] =
    &["node_modules/.bin", "venv/bin", ".venv/bin", "env/bin", ".local/bin", ".cargo/bin", "vendor/bin", "go/bin"];

/// Whether a search path holds a folder that anybody may write to, or wherever one happens to be.
fn has_open_folder(word: &Word) -> bool {
    if let Some(text) = word.known() {
        return text.split(':').any(is_open_folder);
    }
    let open = word.literals().flat_map(|text| text.split(':')).any(|part| !part.is_empty() && is_open_folder(part));
    let doubled = word.literals().any(|text| text.contains("::"));
    open || doubled || word.prefix().starts_with(':')
}

fn is_open_folder(part: &str) -> bool {
    part.is_empty()
        || part == "."
        || part.starts_with("./")
        || part.starts_with("..")
        || ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|open| part.starts_with(open))
}

/// Assignments, and `${NAME:=value}`, which is told by the first invocation since expansions are not tied to one.
fn assigned(look: &Look<'_>) -> Option<Span> {
    let first = look.seen.invocations.first().is_some_and(|one| std::ptr::eq(one, look.one));
    let own = look
        .one
        .assignments
        .iter()
        .find(|one| is_dangerous(&one.name, Some(&one.value), &look.folders.workspace))
        .map(|one| one.span);
    own.or_else(|| {
        let sets = |one: &&crate::shell::Parameter| {
            let workspace = &look.folders.workspace;
            matches!(one.operator.as_str(), "=" | ":=") && is_dangerous(&one.name, None, workspace)
                || one.operator == "in" && variables::effect(&one.name).is_some()
        };
        look.seen.parameters.iter().find(|one| first && sets(one)).map(|one| one.span)
    })
}

fn export(look: &Look<'_>) -> Option<Span> {
    let workspace = look.folders.workspace.as_str();
    let spec = if look.name == "env" { Spec { short: "uCS", long: &["unset", "chdir"] } } else { PLAIN };
    let names = look.name != "env" && super::args::written_option(look.args(), PLAIN, "n", &[]).is_some();
    for word in operands(look.args(), spec) {
        let text = word.prefix();
        if look.name == "env" && text == "-" {
            continue;
        }
        if look.name == "env" && !text.contains('=') {
            return None;
        }
        let name = text.split(['=', '+', '[']).next().unwrap_or_default();
        if name.is_empty() {
            // A name that is not known may be any; `declare "$x"` too.
            if word.known().is_none() && matches!(look.name, "export" | "declare" | "typeset" | "readonly") {
                return Some(word.span);
            }
            continue;
        }
        let value = text.split_once('=').map(|(_, value)| value);
        // Another name for it: `declare -n r=PATH`.
        if names && value.is_some_and(|value| variables::effect(value).is_some()) {
            return Some(word.span);
        }
        let judged = match (value, word.known()) {
            // Judged by the value where all of it is known.
            (Some(value), Some(_)) => is_dangerous(name, Some(&Word::known_text(value, word.span)), workspace),
            (Some(_), None) => is_dangerous(name, Some(&after_equals(word)), workspace),
            (None, _) => is_dangerous(name, None, workspace),
        };
        if judged {
            return Some(word.span);
        }
    }
    None
}

/// The value of `NAME=value` as a word.
fn after_equals(word: &Word) -> Word {
    let mut value = word.clone();
    if let crate::shell::Value::Partial(pieces) = &mut value.value
        && let Some(crate::shell::Piece::Text(text)) = pieces.first_mut()
        && let Some((_, rest)) = text.split_once('=')
    {
        *text = rest.to_owned();
    }
    value
}

fn read_into(look: &Look<'_>) -> Option<Span> {
    let dangerous = |text: &str| {
        let name = text.split('[').next().unwrap_or_default();
        variables::effect(name).is_some()
    };
    match look.name {
        "printf" => look.args().first().and_then(|first| match first.known() {
            Some("-v") => look.args().get(1).filter(|word| dangerous(word.prefix()) || word.known().is_none()),
            Some(text) => text.strip_prefix("-v").filter(|name| dangerous(name)).map(|_| first),
            None => None,
        }),
        "read" | "mapfile" | "readarray" => {
            operands(look.args(), Spec { short: "adinNptuOsCc", long: &[] }).find(|word| dangerous(word.prefix()))
        }
        "getopts" => look.args().get(1).filter(|word| dangerous(word.prefix())),
        _ => None,
    }
    .map(|word| word.span)
}
