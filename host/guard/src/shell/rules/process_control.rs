//! `process_control`: ending or entering other processes.

use super::args::{Spec, only_help, option};
use super::{Look, Rule};
use crate::shell::{Group, Span};

const GROUP: Group = Group::ProcessControl;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "process_control.kill",
        group: GROUP,
        sentence: "a signal that cannot be caught, or one for everything or for whatever has a name, ends more than is yours; use plain `kill` with a number",
        programs: &["kill"],
        matches: kill,
        denies: &[
            "kill -9 1234",
            "kill -KILL 1",
            "kill -SIGKILL 5",
            "kill -s 9 5",
            "kill -s KILL 5",
            "kill --signal=KILL 5",
            "kill -n 9 5",
            "kill -1",
            "kill -- -1",
            "kill -TERM -1",
            "kill 1",
            "kill -9 $(pgrep x)",
            "kill -sKILL 5",
            "kill -STOP 5",
            "/bin/kill -9 5",
            "kill -kill 5",
            "kill -$s 5",
            "kill -0x9 5",
            "kill -009 5",
            "kill $(pgrep x)",
            "kill -TERM `pidof x`",
            "pgrep x | xargs kill",
            "p=$(pgrep x); kill $p",
            "for p in $(pgrep x); do kill $p; done",
            "kill \"$(pidof -s x)\"",
        ],
        allows: &[
            "kill 1234",
            "kill -TERM 5",
            "kill -l",
            "kill %1",
            "kill $!",
            "kill -0 5",
            "kill -15 5",
            "kill -s TERM 5",
            "echo kill -9 5",
            "kill -HUP 77",
            "kill \"$(cat a.pid)\"",
            "pgrep x; kill 1234",
            "kill $(lsof -t -i:3000)",
            "p=$!; kill $p",
        ],
    },
    Rule {
        id: "process_control.kill_by_name",
        group: GROUP,
        sentence: "ending processes by their names ends other people's too; use `kill` with a number",
        programs: &[
            "killall",
            "pkill",
            "killall5",
            "skill",
            "snice",
            "xkill",
            "taskkill",
            "stop-process",
            "fuser",
            "wkill",
            "slay",
        ],
        matches: |look| match look.name {
            "fuser" => option(look.args(), Spec { short: "nN", long: &[] }, "k", &["kill"]),
            _ => {
                if only_help(look.args())
                    || look.args().iter().any(|word| matches!(word.known(), Some("-l" | "--list")))
                {
                    None
                } else {
                    Some(look.program())
                }
            }
        },
        denies: &[
            "killall node",
            "pkill -f x",
            "pkill node",
            "fuser -k 80/tcp",
            "skill x",
            "taskkill /f /im x",
            "killall -9 x",
            "p\\kill x",
        ],
        allows: &["pgrep node", "killall -l", "fuser 80/tcp", "echo pkill x", "ps aux | grep node"],
    },
    Rule {
        id: "process_control.attach",
        group: GROUP,
        sentence: "looking into a running process shows all that it holds; start the program under the tool instead",
        programs: &[
            "gdb", "lldb", "strace", "ltrace", "gcore", "reptyr", "perf", "py-spy", "rbspy", "jmap", "jattach",
            "ptrace", "frida", "pyrasite", "dlv", "cdb", "procdump", "renice",
        ],
        matches: attach,
        denies: &[
            "gdb -p 1",
            "strace -p 1",
            "gcore 1",
            "strace -fp 1",
            "gdb --pid=1",
            "py-spy dump --pid 1",
            "reptyr 1",
            "dlv attach 1",
            "lldb -p 1",
        ],
        allows: &["gdb ./a", "strace ls", "strace -f ls", "perf stat ls", "dlv test", "ltrace ls"],
    },
];

fn is_hard(signal: &str) -> bool {
    let upper = signal.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    let number =
        name.strip_prefix("0X").map_or_else(|| name.parse::<u32>().ok(), |hex| u32::from_str_radix(hex, 16).ok());
    matches!(name, "KILL" | "STOP") || matches!(number, Some(9 | 19))
}

fn kill(look: &Look<'_>) -> Option<Span> {
    if let Some(word) = look.args().iter().find(|word| look.holds_found(word)) {
        return Some(word.span);
    }
    let mut words = look.args().iter();
    let mut signalled = false;
    while let Some(word) = words.next() {
        let text = word.prefix();
        let everything = |text: &str| matches!(text, "-1" | "1" | "0" | "-0");
        match text {
            "-l" | "-L" | "--list" | "--table" | "-V" | "--version" | "--help" => return None,
            "-s" | "-n" | "--signal" => {
                let signal = words.next()?;
                if signal.known().is_none_or(is_hard) {
                    return Some(signal.span);
                }
                signalled = true;
            }
            "--" => signalled = true,
            _ if text.starts_with("--signal=")
                || (text.starts_with("-s") && text.len() > 2)
                || (text.starts_with("-n") && text.len() > 2) =>
            {
                if is_hard(text.trim_start_matches("--signal=").trim_start_matches("-s").trim_start_matches("-n")) {
                    return Some(word.span);
                }
                signalled = true;
            }
            // The first word with a dash is a signal, a later one a group of processes.
            _ if text.starts_with('-') && !signalled => {
                if is_hard(text.get(1..).unwrap_or_default())
                    || word.known().is_none()
                    || (text == "-1" && words.len() == 0)
                {
                    return Some(word.span);
                }
                signalled = true;
            }
            _ if everything(text) && word.known().is_some() => return Some(word.span),
            _ => signalled = true,
        }
    }
    None
}

fn attach(look: &Look<'_>) -> Option<Span> {
    let spec = Spec { short: "eoOsSEPaIuxbc", long: &[] };
    match look.name {
        "gcore" | "reptyr" | "jmap" | "jattach" | "pyrasite" | "procdump" => {
            if only_help(look.args()) {
                None
            } else {
                Some(look.program())
            }
        }
        "gdb" | "lldb" => look
            .args()
            .iter()
            .find(|word| {
                word.prefix().starts_with("-p")
                    || word.prefix().starts_with("--p")
                    || matches!(word.known(), Some("attach"))
            })
            .map(|word| word.span),
        "dlv" => look.args().first().filter(|word| word.known() == Some("attach")).map(|word| word.span),
        "renice" => None,
        _ => super::args::written_option(look.args(), spec, "p", &["pid", "attach"]),
    }
}
