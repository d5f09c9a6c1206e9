//! Every way in which the hostile guest misbehaves gets its own outcome, and its neighbours do not notice.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_call::{Budget, Outcome, Refused, Role};
use caisson_tests::{Ship, call, outcome, principal, resident, rule, text};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_misdeed_has_its_own_outcome() {
    let ship = Ship::hostile().await;
    for (tool, expected) in [
        ("h_spin", Outcome::OutOfCpu),
        ("h_fill", Outcome::OutOfCpu),
        ("h_random", Outcome::OverBudget),
        ("h_grow", Outcome::OutOfMemory),
        ("h_recurse", Outcome::Trapped),
        ("h_log", Outcome::OverBudget),
        ("h_sleep", Outcome::Deadline),
        ("h_panic", Outcome::Trapped),
        ("h_exit", Outcome::Trapped),
        ("h_fields", Outcome::OverBudget),
        ("h_pollables", Outcome::OverBudget),
        ("h_descriptors", Outcome::OverBudget),
        ("h_file_outside", Outcome::Denied),
        ("h_lie", Outcome::Trapped),
        ("h_forge", Outcome::ToolError),
    ] {
        let answer = ship.call("acme", tool, "{}").await;
        assert_eq!(outcome(&answer, expected), expected.as_str(), "{tool}");
    }
    assert_eq!(text(&ship.say("h_echo", "still here").await), "still here");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn budgets_are_named() {
    let ship = Ship::hostile().await;
    for (tool, budget) in [("h_log", Budget::LogBytes), ("h_random", Budget::RandomBytes)] {
        let answer = ship.call("acme", tool, "{}").await;
        assert_eq!(answer.body.as_ref().unwrap_err(), &Refused::OverBudget(budget), "{tool}");
    }
    // 20 MB pass the budget of the output, or before that the cap on what one crossing may copy.
    let answer = ship.call("acme", "h_giant", "{}").await;
    assert!(
        matches!(
            answer.body,
            Err(Refused::OverBudget(Budget::OutputBytes | Budget::HostMemory) | Refused::OutOfMemory)
        ),
        "{}",
        text(&answer)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_handles_do_not_cost_the_host_its_memory() {
    let ship = Ship::hostile().await;
    let before = resident();
    for tool in ["h_fields", "h_pollables", "h_descriptors", "h_random", "h_log"] {
        for _ in 0..3 {
            ship.call("acme", tool, "{}").await;
        }
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "the host grew by {} MiB", grown >> 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_spinners_do_not_keep_a_neighbour_from_its_answers() {
    let ship = Arc::new(Ship::hostile().await);
    ship.install("other", "tests/hostile").await;
    let spinners: Vec<_> = (0..16)
        .map(|n| {
            let ship = Arc::clone(&ship);
            let tool = if n % 2 == 0 { "h_spin" } else { "h_fill" };
            tokio::spawn(async move { ship.call("acme", tool, "{}").await.outcome })
        })
        .collect();
    for n in 0..50 {
        let answer = ship.call("other", "h_echo", &format!("{{\"text\":\"{n}\"}}")).await;
        assert_eq!(text(&answer), n.to_string());
    }
    for spinner in spinners {
        // Some wait for a worker and then for their share of the slow lane until their wall time is spent.
        let ended = spinner.await.unwrap();
        assert!(matches!(ended, Outcome::OutOfCpu | Outcome::Deadline), "{}", ended.as_str());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_frees_its_instance_and_its_worker_at_once() {
    let ship = Ship::new(|config| {
        config.workers = 1;
        config.queue = 0;
    })
    .await;
    ship.install("acme", "tests/hostile").await;
    for tool in ["h_sleep", "h_spin"] {
        for _ in 0..3 {
            let running =
                tokio::time::timeout(std::time::Duration::from_millis(20), ship.call("acme", tool, "{}")).await;
            assert!(running.is_err(), "it was still running");
            // With one worker and no queue this is `overloaded` unless the worker is free again.
            assert_eq!(text(&ship.say("h_echo", "free").await), "free");
        }
    }
    ship.gateway.flush().await;
    let cancelled = ship.store.verify_audit().await.unwrap();
    assert!(cancelled.unwrap() >= 12, "cancelled calls are in the audit too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_workers_and_queue_a_call_is_told_when_to_come_back() {
    let ship = Arc::new(
        Ship::new(|config| {
            config.workers = 1;
            config.queue = 0;
        })
        .await,
    );
    ship.install("acme", "tests/hostile").await;
    let mut busy = Box::pin(ship.call("acme", "h_sleep", "{}"));
    // Polled until the sleeper holds the worker.
    let answer = loop {
        tokio::select! {
            biased;
            _ = &mut busy => panic!("it sleeps longer than this"),
            answer = ship.say("h_echo", "x") => if answer.outcome == Outcome::Overloaded { break answer },
        }
    };
    assert!(text(&answer).contains("try again in 1 s"), "{}", text(&answer));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_tool_changes_nothing_whatever_was_granted() {
    let ship = Ship::hostile().await;
    assert_eq!(rule(&ship.call("acme", "h_write", "{}").await), "files.effect-read-only");
    let answer = ship.say("h_write_to", "mine/x.txt").await;
    assert_eq!(text(&answer), "written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_outside_the_grant_or_the_workspace_are_denied_and_a_missing_one_is_not() {
    let ship = Ship::hostile().await;
    let own = ship.workspaces.join("acme/agent-agent/self");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("secret.txt"), "not granted").unwrap();
    for (path, expected) in [
        ("../../../../etc/passwd", "files.outside"),
        ("/etc/passwd", "files.outside"),
        ("secret.txt", "files.path-not-declared"),
    ] {
        assert_eq!(rule(&ship.say("h_open", path).await), expected, "{path}");
    }
    let answer = ship.say("h_open", "mine/missing.txt").await;
    assert_eq!(outcome(&answer, Outcome::ToolError), "tool-error");
    // Now that `mine` is there, the way up from it is judged as well.
    ship.say("h_write_to", "mine/a.txt").await;
    assert_eq!(rule(&ship.say("h_open", "mine/../../x").await), "files.outside");
    for name in ["mine/$(x).txt", "mine/%2e%2e", "mine/..."] {
        assert_eq!(text(&ship.say("h_write_to", name).await), "written", "{name}");
        assert_eq!(text(&ship.say("h_open", name).await), "x", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_network_is_what_was_granted_and_nothing_special() {
    let ship = Ship::hostile().await;
    for (url, expected) in [
        ("https://elsewhere.test/", "http.host-not-declared"),
        ("http://169.254.169.254/latest/meta-data/", "http.address-metadata"),
        ("https://user:pass@allowed.test/", "http.userinfo"),
        ("http://allowed.test/", "http.scheme-not-declared"),
    ] {
        assert_eq!(rule(&ship.say("h_get", url).await), expected, "{url}");
    }
    assert_eq!(rule(&ship.call("acme", "h_connect", "{}").await), "sockets.not-served");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hosts_environment_and_arguments_are_not_the_guests() {
    let ship = Ship::hostile().await;
    assert_eq!(text(&ship.call("acme", "h_environment", "{}").await), "0 0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_taken_out_of_results() {
    let ship = Ship::hostile().await;
    let answer = ship.say("h_echo", "the key is ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij, keep it").await;
    assert!(!text(&answer).contains("ghp_"), "{}", text(&answer));
    assert_eq!(text(&ship.say("h_echo", "sk-short").await), "sk-short");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_taken_out_of_what_is_kept_also_where_it_is_no_text() {
    let ship = Ship::hostile().await;
    let own = principal("acme", "agent", Role::Agent);
    let reference = text(&ship.say("h_keep", "key ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij, end").await);
    let (bytes, ..) = ship.gateway.kept(&own, &reference, 0, 1_000).await.unwrap();
    assert_eq!(bytes, b"key [REDACTED], end\xff");
    let reference = text(&ship.say("h_keep", "nothing here").await);
    let (bytes, ..) = ship.gateway.kept(&own, &reference, 0, 1_000).await.unwrap();
    assert_eq!(bytes, b"nothing here\xff");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_calls_nothing() {
    let ship = Ship::hostile().await;
    let answer = ship.gateway.call(call(principal("acme", "v", Role::Viewer), "h_echo", "{\"text\":\"x\"}")).await;
    assert_eq!(answer.outcome, Outcome::NotOffered);
}

#[test]
fn every_hostile_tool_is_in_a_test() {
    let guest = include_str!("../guests/hostile/src/lib.rs");
    let tests = include_str!("hostile.rs");
    let tools: Vec<&str> = guest.lines().filter_map(|line| line.strip_prefix("fn h_")?.split('(').next()).collect();
    assert!(tools.len() > 20, "{}", tools.len());
    for tool in tools {
        assert!(tests.contains(&format!("\"h_{tool}\"")), "h_{tool} is in no test");
    }
}
