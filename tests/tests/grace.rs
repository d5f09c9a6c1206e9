//! A tool that asks for a grace is told when its caller has gone, and is ended when the grace is over.

use caisson_call::Outcome;
use caisson_tests::{Ship, text};
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

/// Asks again until the answer is yes; a minute is far past what any machine needs.
async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let asked = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(60), asked).await.is_ok(), "never: {what}");
}

/// A gateway with one worker and no queue, so that a call which still runs makes the next one `overloaded`.
async fn ship() -> (Ship, PathBuf) {
    let ship = Ship::new(|config| {
        config.workers = 1;
        config.queue = 0;
    })
    .await;
    ship.install("acme", "tests/patient").await;
    ship.install("acme", "examples/unit-price").await;
    let folder = ship.workspaces.join("acme/agent-agent/self");
    (ship, folder)
}

/// Calls a tool and goes away once it runs.
async fn call_and_leave(ship: &Ship, folder: &std::path::Path, tool: &str) {
    let mut call = pin!(ship.call("acme", tool, "{}"));
    let waiting = folder.join("waiting");
    tokio::select! {
        answer = &mut call => panic!("it ended by itself: {}", text(&answer)),
        () = until("it waits", || std::future::ready(waiting.exists())) => {}
    }
}

async fn busy(ship: &Ship) -> bool {
    let answer = ship.call("acme", "unit_price", r#"{"price":"3","quantity":"2","unit":"kg"}"#).await;
    answer.outcome == Outcome::Overloaded
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_ignores_it_is_ended_when_the_grace_is_over_and_keeps_its_worker_until_then() {
    let (ship, folder) = ship().await;
    call_and_leave(&ship, &folder, "p_ignore").await;
    until("it was told", || std::future::ready(folder.join("told").exists())).await;
    assert!(busy(&ship).await, "its worker was given away while it still ran");
    until("its worker is free", async || !busy(&ship).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_with_a_grace_is_told_that_its_caller_has_gone() {
    let (ship, folder) = ship().await;
    assert!(!folder.join("told").exists());
    call_and_leave(&ship, &folder, "p_wait").await;
    until("it was told", || std::future::ready(folder.join("told").exists())).await;
    until("its worker is free", async || !busy(&ship).await).await;
}
