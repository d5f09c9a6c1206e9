//! Commands in containers: there or not at all, whole way through the built-in tool.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../host/docker/tests/common/mod.rs"]
mod common;

use caisson_call::{Outcome, Role};
use caisson_engine::ContainersConfig;
use caisson_registry::Answer;
use caisson_tests::{Ship, call, principal, text};
use common::{Engine, IMAGE};
use serde_json::{Value, json};

async fn settings(ship: &Ship, exec: Value) {
    ship.install("acme", "guests/exec").await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    ship.gateway.put_settings(&admin, "exec", json!({ "exec": exec })).await.unwrap();
}

async fn sh(ship: &Ship, agent: &str, command: &str) -> Answer {
    let arguments = json!({ "command": command }).to_string();
    ship.gateway.call(call(principal("acme", agent, Role::Agent), "exec", &arguments)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_engine_nothing_runs_on_the_host_instead() {
    let missing = tempfile::tempdir().unwrap();
    let absent = ContainersConfig {
        socket: missing.path().join("none"),
        ..ContainersConfig::new("test", missing.path().join("containers"))
    };
    for containers in [None, Some(absent)] {
        let ship = Ship::running(|exec| exec.containers = containers).await;
        settings(&ship, json!({ "agents": { "boxed": { "sandbox_config": { "image": IMAGE } } } })).await;
        let answer = sh(&ship, "boxed", "touch made").await;
        assert_eq!(answer.outcome, Outcome::ToolError, "{}", text(&answer));
        assert!(text(&answer).contains("container"), "{}", text(&answer));
        assert!(!ship.workspaces.join("acme/agent-boxed/self/made").exists());
        assert_eq!(sh(&ship, "free", "touch made").await.outcome, Outcome::Ok);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_runs_in_the_image_and_shares_only_its_workspace() {
    let Some(engine) = Engine::start() else { return };
    let data = tempfile::tempdir().unwrap();
    let config = common::config(&engine, &data);
    let ship = Ship::running(|exec| exec.containers = Some(config)).await;
    let boxed = json!({ "sandbox_config": { "image": IMAGE, "memory_mb": 64 } });
    let absent = json!({ "sandbox_config": { "image": "absent:1" } });
    settings(&ship, json!({ "agents": { "boxed": boxed, "wrong": absent } })).await;
    let wrong = text(&sh(&ship, "wrong", "true").await);
    assert!(wrong.contains("`absent:1`"), "{wrong}");
    // What the scanner denies is denied here as well.
    assert_eq!(sh(&ship, "boxed", "rm -rf /workspace").await.outcome, Outcome::Denied);
    let said = text(&sh(&ship, "boxed", "echo theirs > made; cat made /etc/passwd; ls /sys/class/net; id -u").await);
    assert_eq!(said, "theirs\nroot:x:0:0::/:/bin/sh\nlo\n65534");
    let made = ship.workspaces.join("acme/agent-boxed/self/made");
    assert_eq!(std::fs::read_to_string(made).unwrap(), "theirs\n");
    assert_eq!(engine.containers().len(), 1, "the container is kept");
    assert_eq!(text(&sh(&ship, "boxed", "cat made").await), "theirs");
    assert_eq!(engine.containers().len(), 1);
    let limit = json!({ "command": "echo early; sleep 600", "timeout_seconds": 1 }).to_string();
    let ended = ship.gateway.call(call(principal("acme", "boxed", Role::Agent), "exec", &limit)).await;
    assert!(text(&ended).contains("early") && text(&ended).contains("stopped after 1 s"), "{}", text(&ended));
}
