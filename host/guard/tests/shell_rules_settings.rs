//! Settings: switches, modes, approvals, exemptions; and what no text may do to the scanner.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_guard::shell::{
    Allowlist, Ask, Decision, Group, Mode, PathDeny, Setting, Switches, Verdict, judge, scan, see,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn allowlist(entries: &[&str]) -> Setting {
    Setting { mode: Mode::Allowlist(Allowlist::new(entries).unwrap()), ..Setting::default() }
}

fn rule(text: &str, setting: &Setting) -> &'static str {
    scan(text, setting).rule
}

#[test]
fn a_group_that_is_off_denies_nothing_and_leaves_the_others_on() {
    let agent = BTreeMap::from([("env_dump".to_owned(), false)]);
    let setting = Setting { switches: Switches::from_maps(&BTreeMap::new(), &agent).unwrap(), ..Setting::default() };
    assert_eq!(rule("env; sudo ls", &setting), "privilege_escalation.other_user");
    assert_eq!(rule("env", &Setting::default()), "env_dump.env");
    assert!(scan("env", &setting).allows());
}

#[test]
fn no_switch_turns_off_what_is_always_on() {
    let mut setting = Setting {
        registered: BTreeSet::from(["gh".to_owned()]),
        paths: PathDeny::new("/workspace", &["/app/data"], &[]),
        ..Setting::default()
    };
    for group in Group::ALL {
        setting.switches.set(group, false);
    }
    assert!(scan("rm -rf a", &setting).allows());
    assert_eq!(rule("rm -rf /", &setting), "shell.path-denied");
    assert_eq!(rule("$x", &setting), "shell.unknown-program");
    assert_eq!(rule("cat /app/data/x", &setting), "shell.path-denied");
    assert_eq!(rule("gh x", &setting), "shell.not-granted");
    assert_eq!(rule("ls \0", &setting), "shell.nul");
    assert_eq!(rule("ls '", &setting), "shell.unclosed");
    assert_eq!(rule(&"(".repeat(1 << 20), &setting), "shell.too-long");
    setting.granted.insert("gh".to_owned());
    assert!(scan("gh x", &setting).allows());
}

#[test]
fn a_refusal_says_where_why_and_what_would_allow_it() {
    let verdict = scan("ls && sudo -n id", &Setting::default());
    assert_eq!((verdict.decision, verdict.group), (Decision::Deny, Some(Group::PrivilegeEscalation)));
    assert_eq!(verdict.excerpt, "sudo");
    assert!(verdict.grant.contains("`privilege_escalation`"));
    assert!(!verdict.sentence.is_empty());
    let cut = scan(&format!("rm -r{} x", "é".repeat(400)), &Setting::default());
    assert!(cut.excerpt.len() <= 200);
    assert_eq!(scan("ls", &Setting::default()).to_string(), "allow");
}

#[test]
fn an_allowlist_is_of_named_programs() {
    for entry in ["", "*", "l?", "$x", "'ls'"] {
        assert!(Allowlist::new(&[entry]).is_err(), "{entry}");
    }
    assert_eq!(rule("ls", &allowlist(&[])), "allowlist.empty");
    assert_eq!(rule("cat a", &allowlist(&["ls"])), "allowlist.program");
    assert_eq!(rule("git push", &allowlist(&["git status *"])), "allowlist.arguments");
    assert_eq!(rule("ls; ls", &allowlist(&["ls"])), "allowlist.not-plain");
    assert_eq!(rule("sort -o b a", &allowlist(&["sort"])), "allowlist.beyond");
    assert!(scan("sort -o b a", &allowlist(&["sort -o b *"])).allows());
    assert!(scan("/usr/bin/ls", &allowlist(&["/usr/bin/ls"])).allows());
    assert_eq!(rule("/usr/bin/ls", &allowlist(&["ls"])), "allowlist.program");
}

#[test]
fn every_verdict_that_is_not_an_approval_names_a_change_that_would_allow_it() {
    let mut always = Setting {
        registered: BTreeSet::from(["gh".to_owned()]),
        paths: PathDeny::new("/workspace", &["/app/data"], &[]),
        ..Setting::default()
    };
    let listed = allowlist(&["ls -l", "cat", "sort"]);
    let long = "a ".repeat(1 << 15);
    let words = "a ".repeat(5000);
    let deep = format!("{} ls", "env ".repeat(9));
    let readable = [
        ("cat /app/data/x", "shell.path-denied"),
        ("gh x", "shell.not-granted"),
        ("$x", "shell.unknown-program"),
        ("sudo ls", "privilege_escalation.other_user"),
        (&long, "shell.too-long"),
        (&words, "shell.too-many-words"),
        (&deep, "shell.too-deep"),
        ("ls \0", "shell.nul"),
        ("ls \u{7}", "shell.control-character"),
        ("ls\u{200b}", "shell.invisible-character"),
        ("lѕ", "shell.program-not-ascii"),
        ("ls )", "shell.syntax"),
        ("ls '", "shell.unclosed"),
        ("cat <<$x\n$x\n", "shell.here-document"),
        ("x='$(ls)'; ((x))", "shell.expansion"),
        ("alias x=ls", "shell.alias"),
        ("pwsh -enc x", "shell.encoding"),
    ];
    for (text, expected) in readable {
        let verdict = scan(text, &always);
        assert_eq!((verdict.rule, verdict.grant.is_empty()), (expected, false), "{text:.40}: {}", verdict.rule);
    }
    for (text, expected) in [
        ("ls; ls", "allowlist.not-plain"),
        ("rg x", "allowlist.program"),
        ("ls -a", "allowlist.arguments"),
        ("sort -o b a", "allowlist.beyond"),
    ] {
        let verdict = scan(text, &listed);
        assert_eq!((verdict.rule, verdict.grant.is_empty()), (expected, false), "{text}");
    }
    assert!(!scan("ls", &allowlist(&[])).grant.is_empty());
    always.ask = Ask::Always;
    let asked = scan("ls", &always);
    assert_eq!((asked.rule, asked.grant.is_empty()), ("ask.always", false));
    assert!(scan("ls -l", &listed).grant.is_empty());
}

/// Asks, says yes for good, and asks again.
fn remembered(first: &str, again: &str) -> Decision {
    let mut setting = Setting { approver: true, ask: Ask::Always, ..Setting::default() };
    let asked = scan(first, &setting);
    assert_eq!(asked.decision, Decision::Ask, "{first}");
    setting.remembered.extend(asked.remember);
    scan(again, &setting).decision
}

#[test]
fn an_approval_for_good_is_for_the_program_its_wrappers_and_the_shape_of_its_arguments() {
    for (first, again) in [
        ("git status", "git push"),
        ("ls", "./ls"),
        ("env ls", "env cat"),
        ("ls", "env ls"),
        ("sh -c 'ls'", "sh -c 'cat a'"),
        ("python3 -c 'print(1)'", "python3 -c 'print(2)'"),
        ("python3 a.py", "python3 b.py"),
        ("curl https://example.com/a", "curl https://example.org/a"),
        ("tar -tf a", "tar -xf a"),
        ("ls", "ls; cat a"),
    ] {
        assert_eq!(remembered(first, again), Decision::Ask, "{first} -> {again}");
    }
    for (first, again) in [
        ("git status", "git status"),
        ("wc -l a", "wc -l b c"),
        ("env ls", "env ls"),
        ("sh -c 'ls'", "sh -c 'ls'"),
        ("curl https://example.com/a", "curl https://example.com/b"),
        ("ls | wc", "wc"),
    ] {
        assert_eq!(remembered(first, again), Decision::Allow, "{first} -> {again}");
    }
}

#[test]
fn what_is_not_known_before_or_writes_files_is_asked_for_every_time() {
    for text in ["ls $x", "ls > a", "A=1 ls", "cat \"$(ls)\""] {
        assert_eq!(remembered(text, text), Decision::Ask, "{text}");
    }
    assert_eq!(remembered("ls x", "ls x"), Decision::Allow);
}

#[test]
fn nobody_is_asked_where_nobody_is() {
    let setting = Setting { ask: Ask::Always, ..Setting::default() };
    assert_eq!(scan("ls", &setting).decision, Decision::Deny);
    assert_eq!(scan("npm install", &Setting::default()).decision, Decision::Deny);
    assert_eq!(scan("npm install", &Setting { approver: true, ..Setting::default() }).decision, Decision::Ask);
    assert!(scan("npm test", &Setting::default()).allows());
}

#[test]
fn an_exemption_holds_only_where_every_word_is_exempt() {
    let paths = PathDeny::new("/workspace", &["/app/data", ".store/"], &["skills/", ".store/skills/"]);
    let setting = Setting { paths, ..Setting::default() };
    for text in [
        "cat /app/data/skills/a /app/data/b",
        "cat /app/data/skills/../b",
        "cat /app/data/skills/$x/../../b",
        "cat .store/a",
        "cat x/.store/a",
        "cat .store/skills/../a",
        "cat .store/skillset",
        "cat /app/data/s*/a",
        "cd /app/data/skills && cat ../b",
    ] {
        assert_eq!(rule(text, &setting), "shell.path-denied", "{text}");
    }
    for text in ["cat /app/data/skills/a", "cat .store/skills/a", "cat x.store/a", "cat /app/data2", "ls /app/x"] {
        assert!(scan(text, &setting).allows(), "{text}");
    }
}

/// Pieces that rules look at, to be thrown together.
const PIECES: &[&str] = &[
    "rm",
    "-rf",
    "sed",
    "s/a/b/e",
    "awk",
    "{print|\"x\"}",
    "python3",
    "-c",
    "'",
    "\"",
    "$(",
    ")",
    "`",
    ";",
    "|",
    "&&",
    ">",
    "<<EOF",
    "\n",
    "EOF",
    "/proc/",
    "../",
    "~",
    "*",
    "[a",
    "{a,b}",
    "$x",
    "${x:-",
    "}",
    "curl",
    "http://",
    "[::1]",
    "-d",
    "@",
    "=",
    ":",
    "env",
    "jq",
    "\\(",
    "git",
    "-c",
    "alias.x=!",
    "find",
    "-exec",
    "{}",
    "\\;",
    "xargs",
    "tar",
    "--",
    "é",
    "\u{f8f0}",
    " ",
    " ",
    " ",
    "\\",
    "kill",
    "-9",
    "echo",
    "a.sh",
    "sh",
    "%",
    "#",
    "cd",
    "/app/data",
    "gh",
    "chmod",
    "u+s",
    "printf",
    "-v",
    "base64",
];

fn settings() -> Vec<Setting> {
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
    vec![Setting::default(), off, allowlist(&["ls", "git status *", "sed", "echo a*b *"])]
}

fn is_whole(verdict: &Verdict, text: &str) -> bool {
    let part = verdict.span.of(text);
    let allows = verdict.decision == Decision::Allow;
    allows == verdict.rule.is_empty()
        && allows == verdict.grant.is_empty()
        && part.starts_with(verdict.excerpt.as_str())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics_and_every_verdict_is_whole(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24),
        noise in "\\PC{0,12}",
    ) {
        let text = format!("{}{noise}", pieces.concat());
        for setting in settings() {
            let verdict = scan(&text, &setting);
            prop_assert!(is_whole(&verdict, &text), "{verdict:?}");
            if let Ok(seen) = see(&text, setting.dialect) {
                prop_assert_eq!(&judge(&text, &seen, &setting), &verdict);
            }
        }
    }
}

/// A script that is written once and run again and again is not judged as often: the work stays bounded.
#[test]
fn a_script_run_a_thousand_times_is_not_read_a_thousand_times() {
    let body = "echo a\n".repeat(1000);
    let once = format!("cat > a.sh <<'EOF'\n{body}EOF\n");
    assert!(scan(&format!("{once}sh a.sh; sh a.sh"), &Setting::default()).allows());
    let often = format!("{once}{}", "sh a.sh;".repeat(800));
    assert_eq!(rule(&often, &Setting::default()), "code_injection.decoded_and_run");
}
