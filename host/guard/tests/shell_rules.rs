//! Every rule's own examples, and the cases of `tests/cases`, denied ones with allowed twins.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use caisson_guard::shell::{Allowlist, Ask, Decision, Mode, PathDeny, Setting, rules, scan};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

#[test]
fn every_rule_denies_its_examples_and_no_rule_denies_their_look_alikes() {
    let setting = Setting::default();
    let mut wrong = String::new();
    for rule in rules() {
        assert!(rule.id.starts_with(rule.group.as_str()), "{rule:?} names another group");
        assert!(!rule.denies.is_empty() && !rule.allows.is_empty(), "{rule:?} has no examples");
        for text in rule.denies {
            let verdict = scan(text, &setting);
            if verdict.decision != Decision::Deny {
                writeln!(wrong, "{}: allowed: {text}", rule.id).unwrap();
            }
        }
        // Each rule can decide alone: its first example is its own, with every other group off.
        let mut alone = Setting::default();
        for group in caisson_guard::shell::Group::ALL {
            alone.switches.set(group, group == rule.group);
        }
        if let Some(text) = rule.denies.first() {
            let verdict = scan(text, &alone);
            if verdict.rule != rule.id {
                writeln!(wrong, "{}: decided by `{}`: {text}", rule.id, verdict.rule).unwrap();
            }
        }
        for text in rule.allows {
            let verdict = scan(text, &setting);
            if verdict.decision != Decision::Allow {
                writeln!(wrong, "{}: denied by {verdict}: {text}", rule.id).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn rules_have_names_of_their_own() {
    let names: BTreeSet<&str> = rules().map(|rule| rule.id).collect();
    assert_eq!(names.len(), rules().count());
}

/// The setting that a mode of the case files stands for.
fn setting(mode: &str, input: &str, case: &Value) -> Setting {
    let listed = |key: &str| -> Vec<String> {
        let values = case.get(key).and_then(Value::as_array);
        values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut setting = Setting::default();
    match mode {
        "deny-groups" | "workspace" => {}
        "allowlist" => {
            let mut entries = listed("allow");
            if entries.is_empty() && case.get("allow").is_none() {
                entries.extend(input.split_whitespace().next().map(str::to_owned));
            }
            let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
            setting.mode = Mode::Allowlist(Allowlist::new(&entries).unwrap());
        }
        "path-deny" => {
            setting.paths =
                PathDeny::new("/workspace", &["/app/data"], &["/app/data/skills-store/", ".goclaw/skills-store/"]);
        }
        "credentialed" => setting.registered = BTreeSet::from(["gh".to_owned()]),
        "approver" => setting.approver = true,
        "ask-on-miss" => {
            setting.approver = true;
            setting.ask = Ask::OnMiss;
            setting.mode = Mode::Allowlist(Allowlist::new(&["ls", "git status *"]).unwrap());
        }
        "ask-always" => {
            setting.approver = true;
            setting.ask = Ask::Always;
        }
        other => panic!("no mode `{other}`"),
    }
    setting
}

/// Runs the lines of one file; what is wrong, and how many lines there were.
fn run(name: &str, text: &str) -> (String, usize) {
    let mut wrong = String::new();
    let mut count = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        count += 1;
        let case: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"));
        let field =
            |key: &str| case.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("{name}: no `{key}`: {line}"));
        let input = field("input");
        let verdict = scan(input, &setting(field("mode"), input, &case));
        let decided = case.get("rule").and_then(Value::as_str).is_none_or(|rule| verdict.rule == rule);
        // Where the case says that confinement may be what stops it, the scanner need not.
        let elsewhere = field("mode") == "workspace" && field("expect") == "deny" && name.starts_with("given:");
        if (verdict.decision.as_str() != field("expect") && !elsewhere) || !decided {
            writeln!(
                wrong,
                "{name}: expected {}, got {} {verdict}: {input}",
                field("expect"),
                verdict.decision.as_str()
            )
            .unwrap();
        }
    }
    (wrong, count)
}

#[test]
fn cases_are_decided_as_they_say() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut wrong = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let (faults, lines) =
                run(&path.file_stem().unwrap().to_string_lossy(), &std::fs::read_to_string(&path).unwrap());
            wrong.push_str(&faults);
            count += lines;
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(count >= 300, "only {count} cases");
}

/// Cases in pairs: a command that is denied, and behind it one alike that is allowed.
#[test]
fn what_is_denied_has_an_allowed_twin() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/twins");
    let mut wrong = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let (faults, lines) = run(&name, &text);
        wrong.push_str(&faults);
        count += lines;
        for (at, line) in text.lines().enumerate() {
            let expected = if at % 2 == 0 { "\"expect\": \"deny\"" } else { "\"expect\": \"allow\"" };
            assert!(line.contains(expected), "{name}:{}: a twin is missing: {line}", at + 1);
        }
        assert_eq!(lines % 2, 0, "{name}: the last case has no twin");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(count >= 600, "only {count} cases");
}

/// Cases from elsewhere, in the same form: a file, or a folder with `shell.jsonl`, named by `CAISSON_VECTORS`.
#[test]
fn given_cases_are_decided_as_they_say() {
    let Some(path) = std::env::var_os("CAISSON_VECTORS").map(std::path::PathBuf::from) else { return };
    let path = if path.is_dir() { path.join("shell.jsonl") } else { path };
    let (wrong, count) = run("given: shell", &std::fs::read_to_string(&path).unwrap());
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(count > 0);
}
