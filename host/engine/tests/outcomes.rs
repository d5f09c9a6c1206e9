//! Each way of ending a call, reached by a real component.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod support;

use caisson_call::{Budget, RawOutput, Refused, ToolErrorReason};
use caisson_contract::Effect;
use std::time::Duration;
use support::{Bench, EVERYTHING, answer, guest, layers, refusal, resident, text};

#[tokio::test]
async fn spinners_of_every_kind_run_out_of_cpu() {
    for name in [
        "spins-arithmetic",
        "spins-filling",
        "spins-calling",
        "spins-in-realloc",
        "spins-in-start",
        "spins-after-return",
    ] {
        let ran = Bench::new().run(name, |_| {}).await;
        assert!(ran.cpu >= Duration::from_millis(200), "{name}: {:?}", ran.cpu);
        assert_eq!(refusal(ran), Refused::OutOfCpu, "{name}");
    }
}

#[tokio::test]
async fn memory_is_one_sum_over_all_memories_and_tables() {
    for name in ["grows-memory", "grows-table", "grows-memories", "starts-large"] {
        assert_eq!(refusal(Bench::new().run(name, |_| {}).await), Refused::OutOfMemory, "{name}");
    }
    // With room for both, the same guest gets as far as its own crash.
    let ran = Bench::new().run("grows-memories", |job| job.limits.memory = 80 << 20).await;
    assert_eq!(refusal(ran), Refused::Trapped { why: "unreachable" });
}

#[tokio::test]
async fn a_crash_is_named_by_the_hosts_own_words() {
    for (name, why) in [
        ("recurses", "call stack exhausted"),
        ("traps", "unreachable"),
        ("traps-in-start", "unreachable"),
        ("exits", "exit in the middle of a call"),
        ("points-nowhere", "malformed value or failed host call"),
    ] {
        assert_eq!(refusal(Bench::new().run(name, |_| {}).await), Refused::Trapped { why }, "{name}");
    }
}

#[tokio::test]
async fn budgets_of_host_work_are_named() {
    for (name, budget) in [
        ("floods-log", Budget::LogBytes),
        ("floods-random", Budget::RandomBytes),
        ("hoards-fields", Budget::HostMemory),
        ("hoards-pollables", Budget::HostMemory),
        ("hoards-listings", Budget::HostMemory),
        ("hoards-descriptors", Budget::HostMemory),
        ("repeats-a-text", Budget::HostMemory),
    ] {
        let bench = Bench::new();
        let ran = bench.run(name, |job| job.layers = layers(EVERYTHING, Effect::ReadOnly)).await;
        assert_eq!(refusal(ran), Refused::OverBudget(budget), "{name}");
    }
}

#[tokio::test]
async fn a_giant_answer_is_refused_by_what_the_guest_or_the_host_may_hold() {
    assert_eq!(refusal(Bench::new().run("giant-result", |_| {}).await), Refused::OutOfMemory);
    let bench = Bench::with(|config| config.max_memory = 256 << 20);
    let ran = bench.run("giant-result", |job| job.limits.memory = 256 << 20).await;
    assert_eq!(refusal(ran), Refused::OverBudget(Budget::HostMemory));
}

#[tokio::test]
async fn what_a_flood_printed_up_to_its_budget_is_kept() {
    let ran = Bench::new().run("floods-log", |job| job.limits.set(Budget::LogBytes, 10_000)).await;
    assert_eq!(ran.log.len(), 8_192);
    assert_eq!(refusal(ran), Refused::OverBudget(Budget::LogBytes));
}

#[tokio::test]
async fn hoarders_do_not_grow_the_host() {
    let bench = Bench::new();
    let mut prepared = Vec::new();
    for name in ["hoards-fields", "hoards-pollables", "hoards-listings", "hoards-descriptors", "repeats-a-text"] {
        prepared.push(bench.prepare(name).await);
    }
    let before = resident();
    for _ in 0..5 {
        for guest in &prepared {
            let mut job = bench.job();
            job.layers = layers(EVERYTHING, Effect::ReadOnly);
            assert!(bench.engine.run(guest, job, "guest", "{}").await.result.is_err());
        }
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "the host grew by {} MiB", grown >> 20);
}

#[tokio::test]
async fn a_sleeper_meets_its_deadline() {
    let ran = Bench::new().run("sleeps", |job| job.limits.wall = Duration::from_millis(50)).await;
    assert_eq!(refusal(ran), Refused::Deadline);
}

#[tokio::test]
async fn a_text_that_looks_like_an_outcome_stays_the_tools_own() {
    match answer(Bench::new().run("fails", |_| {}).await) {
        Ok(RawOutput::Error { reason: ToolErrorReason::Failed, message, .. }) => {
            assert_eq!(message, r#"out-of-cpu: {"outcome":"ok"}"#);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_file_that_an_answer_names_is_judged_as_if_the_guest_had_opened_it() {
    let bench = Bench::new();
    let prepared = bench.prepare("names-a-file").await;
    let workspace = bench.folder.path().join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    std::fs::write(bench.folder.path().join("secret"), "s").unwrap();
    std::fs::write(workspace.join("report.txt"), "r").unwrap();
    std::os::unix::fs::symlink(bench.folder.path().join("secret"), workspace.join("link")).unwrap();
    let run = async |path: &str, granted: bool| {
        let mut job = bench.job();
        if granted {
            job.layers = layers(EVERYTHING, Effect::ReadOnly);
        }
        answer(bench.engine.run(&prepared, job, "guest", path).await)
    };
    for (path, granted, rule) in [
        ("/workspace/../secret", true, "files.outside"),
        ("/etc/passwd", true, "files.outside"),
        ("/workspace/link", true, "files.outside"),
        ("/workspace/missing", true, "files.not-found"),
        ("/workspace", true, "files.not-a-file"),
        ("/workspace/report.txt", false, "files.not-declared"),
    ] {
        match run(path, granted).await {
            Err(Refused::Denied(denial)) => assert_eq!(denial.rule, rule, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
    assert!(run("/workspace/report.txt", true).await.is_ok());
}

#[tokio::test]
async fn a_read_only_tool_changes_nothing_whatever_was_granted() {
    let ran = Bench::new().run("changes-the-world", |job| job.layers = layers(EVERYTHING, Effect::ReadOnly)).await;
    let rules: Vec<String> = ran.denials.iter().map(|denial| denial.rule.clone()).collect();
    let expected =
        ["exec", "schedule", "runtime", "pages", "tools"].map(|capability| format!("{capability}.effect-read-only"));
    assert_eq!(rules, expected);
    // 1 is denied, 9 is unavailable: opening a collection reads.
    assert_eq!(text(ran), "111111119");
}

#[tokio::test]
async fn a_mutating_tool_is_told_what_is_not_declared_or_not_there() {
    let ran = Bench::new().run("changes-the-world", |job| job.layers = layers("", Effect::Mutating)).await;
    assert!(ran.denials.iter().all(|denial| denial.rule.ends_with(".not-declared")), "{:?}", ran.denials);
    assert_eq!(ran.denials.len(), 6);
    assert_eq!(text(ran), "000000000");
    let ran = Bench::new().run("changes-the-world", |job| job.layers = layers(EVERYTHING, Effect::Mutating)).await;
    assert!(ran.denials.is_empty(), "{:?}", ran.denials);
    assert_eq!(text(ran), "999999999");
}

#[tokio::test]
async fn tools_are_asked_for_under_the_same_limits_and_may_lie() {
    let bench = Bench::new();
    let prepared = bench.prepare("spins-in-start").await;
    assert_eq!(bench.engine.list_tools(&prepared, bench.job()).await, Err(Refused::OutOfCpu));
    let prepared = bench.prepare("lists-differently").await;
    let mut names = std::collections::BTreeSet::new();
    for _ in 0..64 {
        let tools = bench.engine.list_tools(&prepared, bench.job()).await.unwrap().unwrap();
        names.extend(tools.into_iter().map(|tool| tool.name));
    }
    assert!(names.len() > 1, "the guest was to differ: {names:?}");
    let prepared = bench.prepare("answers").await;
    let tools = bench.engine.list_tools(&prepared, bench.job()).await.unwrap().unwrap();
    let tool = tools.first().unwrap();
    assert_eq!((tool.name.as_str(), tool.parameters.as_str()), ("guest", r#"{"type":"object"}"#));
}

#[tokio::test]
async fn an_honest_guest_answers() {
    let bench = Bench::new();
    assert_eq!(text(bench.run("answers", |_| {}).await), "here");
    let prepared = bench.prepare("echoes").await;
    let large = "ä".repeat(500_000);
    let ran = bench.engine.run(&prepared, bench.job(), "guest", &large).await;
    assert!(text(ran) == large);
}

#[test]
fn every_guest_is_in_a_test() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let tests = ["outcomes.rs", "neighbours.rs", "preparing.rs"].map(read).concat();
    let mut guests = 0;
    for entry in std::fs::read_dir(folder.join("guests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.strip_suffix(".wat").unwrap();
        assert!(tests.contains(&format!("\"{stem}\"")), "{name} is in no test");
        assert!(
            guest(stem).lines().any(|line| line.starts_with(";; ") && line.ends_with('.')),
            "{name} does not say what it does"
        );
        guests += 1;
    }
    assert!(guests > 25, "{guests}");
}
