//! `caisson explain`, as a person and a program use it.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn caisson() -> Command {
    let test = std::env::current_exe().unwrap();
    Command::new(test.parent().unwrap().parent().unwrap().join("caisson"))
}

/// Answers to lines of questions, one for each.
fn answers(arguments: &[&str], questions: &[Value]) -> Vec<Value> {
    let mut child = caisson()
        .arg("explain")
        .args(arguments)
        .arg("--jsonl")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = questions.iter().map(|question| format!("{question}\n")).collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), questions.len());
    answers
}

fn decisions(arguments: &[&str], questions: &[Value]) -> Vec<String> {
    answers(arguments, questions).iter().map(|answer| answer["decision"].as_str().unwrap().to_owned()).collect()
}

/// A workspace with a link, a dangling link and a hard link that lead out of it.
fn workspace() -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let (inside, outside) = (scratch.path().join("abc"), scratch.path().join("abcdef"));
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret"), "x").unwrap();
    std::fs::write(inside.join("own.txt"), "x").unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("leak")).unwrap();
    std::os::unix::fs::symlink(outside.join("new"), inside.join("dangling-link.txt")).unwrap();
    std::fs::hard_link(outside.join("secret"), inside.join("hardlink-alias.txt")).unwrap();
    (scratch, inside)
}

#[test]
fn paths_are_opened_so_links_count() {
    let (_scratch, inside) = workspace();
    let place = inside.to_str().unwrap();
    let ask = |paths: &[&str]| paths.iter().map(|path| json!({ "input": path })).collect::<Vec<_>>();
    let denied = ["../abcdef/secret", "leak/secret", "hardlink-alias.txt", "/etc/passwd", "missing.txt"];
    assert!(decisions(&["path", "--workspace", place], &ask(&denied)).iter().all(|decision| decision == "deny"));
    assert_eq!(
        decisions(&["path", "--workspace", place], &ask(&["own.txt", "./own.txt", "/workspace/own.txt"])),
        ["allow"; 3]
    );
    assert_eq!(decisions(&["path", "--write", "--workspace", place], &ask(&["dangling-link.txt"])), ["deny"]);
    assert_eq!(decisions(&["path", "--write", "--workspace", place], &ask(&["new.txt", "$(x).txt"])), ["allow"; 2]);
}

#[test]
fn urls_are_judged_by_what_they_lead_to() {
    let ask = |urls: &[&str]| urls.iter().map(|url| json!({ "input": url })).collect::<Vec<_>>();
    let denied = ["http://169.254.169.254/", "http://2130706433/", "http://[::ffff:127.0.0.1]/", "http://a@b.example/"];
    assert_eq!(decisions(&["url"], &ask(&denied)), ["deny"; 4]);
    assert_eq!(decisions(&["url"], &ask(&["https://example.com/", "http://93.184.216.34/"])), ["allow"; 2]);
}

#[test]
fn commands_are_judged_in_the_mode_of_their_line() {
    let (_scratch, inside) = workspace();
    let questions = [
        (json!({ "input": "r''m -rf /", "mode": "deny-groups" }), "deny"),
        (json!({ "input": "rm old.txt", "mode": "deny-groups" }), "allow"),
        (json!({ "input": "env sh -c id", "mode": "allowlist" }), "deny"),
        (json!({ "input": "ls -a", "mode": "allowlist" }), "allow"),
        (json!({ "input": "ls -a", "mode": "allowlist", "allow": [] }), "deny"),
        (json!({ "input": "cat /app/data/config.json", "mode": "path-deny" }), "deny"),
        (json!({ "input": "cat /app/data/skills-store/../config.json", "mode": "path-deny" }), "deny"),
        (json!({ "input": "cat /app/data/skills-store/x.md", "mode": "path-deny" }), "allow"),
        (json!({ "input": "cat leak/secret", "mode": "workspace" }), "deny"),
        (json!({ "input": "cat own.txt", "mode": "workspace" }), "allow"),
        (json!({ "input": "nohup gh repo list", "mode": "credentialed" }), "deny"),
        (json!({ "input": "git status", "mode": "credentialed" }), "allow"),
    ];
    let flags = [
        "shell",
        "--workspace",
        inside.to_str().unwrap(),
        "--deny-path",
        "/app/data",
        "--exempt",
        "/app/data/skills-store/",
        "--exempt",
        ".goclaw/skills-store/",
    ];
    let said = decisions(&flags, &questions.iter().map(|(question, _)| question.clone()).collect::<Vec<_>>());
    for ((question, expected), said) in questions.iter().zip(said) {
        assert_eq!(said, *expected, "{question}");
    }
    let answer = &answers(&["shell"], &[json!({ "input": "echo a; pip install x" })])[0];
    assert_eq!((answer["group"].as_str(), answer["excerpt"].as_str()), (Some("package_install"), Some("install")));
}

#[test]
fn texts_are_scrubbed_and_say_what_was_found() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let hash = "9fceb02d0ae598e95dc970b74767f19372d61af8";
    let said = answers(
        &["scrub"],
        &[json!({ "input": format!("push with {token}") }), json!({ "input": format!("commit {hash}") })],
    );
    assert_eq!(said[0]["text"], "push with [REDACTED]");
    assert_eq!(said[0]["classes"].as_array().unwrap().len(), 1);
    assert_eq!((said[1]["text"].clone(), said[1]["classes"].clone()), (json!(format!("commit {hash}")), json!([])));
}

#[test]
fn a_person_reads_the_tree_and_the_rule_and_the_exit_status_says_it_too() {
    let denied = caisson().args(["explain", "shell", "cat a | sh"]).output().unwrap();
    assert_eq!(denied.status.code(), Some(3));
    let text = String::from_utf8(denied.stdout).unwrap();
    assert!(text.contains("pipeline") && text.contains("code_injection.piped_code"), "{text}");
    let allowed = caisson().args(["explain", "shell", "cat a | sort"]).output().unwrap();
    assert_eq!(allowed.status.code(), Some(0));
    let nothing = caisson().args(["explain", "shell"]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(2));
    assert!(String::from_utf8(nothing.stderr).unwrap().contains("--jsonl"));
}
