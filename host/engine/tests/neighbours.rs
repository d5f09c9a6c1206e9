//! What one guest does is not noticed by another, and an instance that nobody waits for is free at once.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use caisson_call::Refused;
use caisson_contract::Effect;
use caisson_engine::{Pool, Workspace};
use std::sync::Arc;
use std::time::Duration;
use support::{Bench, EVERYTHING, layers, refusal, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_spinners_do_not_keep_a_neighbour_from_its_answers() {
    let bench = Arc::new(Bench::new());
    let neighbour = bench.prepare("answers").await;
    let kinds =
        ["spins-arithmetic", "spins-filling", "spins-calling", "spins-in-realloc", "spins-in-start", "floods-random"];
    let mut spinners = Vec::new();
    for name in kinds.into_iter().cycle().take(16) {
        let prepared = bench.prepare(name).await;
        let bench = Arc::clone(&bench);
        spinners.push(tokio::spawn(async move { bench.engine.run(&prepared, bench.job(), "guest", "{}").await }));
    }
    for _ in 0..50 {
        assert_eq!(text(bench.engine.run(&neighbour, bench.job(), "guest", "{}").await), "here");
    }
    for spinner in spinners {
        let ended = refusal(spinner.await.unwrap());
        assert!(matches!(ended, Refused::OutOfCpu | Refused::OverBudget(_)), "{ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_nobody_waits_for_frees_its_slot_at_once() {
    let bench = Bench::with(|config| config.max_instances = 1);
    assert_eq!(*bench.engine.pool(), Pool::Pooled { instances: 1 });
    let neighbour = bench.prepare("answers").await;
    for name in ["sleeps", "spins-arithmetic"] {
        let prepared = bench.prepare(name).await;
        let long = |job: &mut caisson_engine::Job| job.limits.cpu = Duration::from_secs(60);
        let mut job = bench.job();
        long(&mut job);
        {
            let mut busy = Box::pin(bench.engine.run(&prepared, job, "guest", "{}"));
            // Polled until it is there: while it is, there is room for nobody else.
            let refused = loop {
                tokio::select! {
                    biased;
                    _ = &mut busy => unreachable_end(name),
                    ran = bench.engine.run(&neighbour, bench.job(), "guest", "{}") => if ran.result.is_err() { break refusal(ran) },
                }
            };
            assert!(matches!(refused, Refused::Overloaded { .. }), "{name}: {refused:?}");
        }
        assert_eq!(text(bench.engine.run(&neighbour, bench.job(), "guest", "{}").await), "here", "{name}");
    }
}

fn unreachable_end(name: &str) {
    assert_eq!(name, "", "it runs longer than this");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn six_hundred_openers_of_a_fifo_do_not_keep_a_reader_from_its_file() {
    let bench = Arc::new(Bench::with(|config| config.max_instances = 700));
    let prepared = bench.prepare("opens-a-file").await;
    for tenant in ["a", "b"] {
        std::fs::create_dir_all(bench.folder.path().join(tenant)).unwrap();
    }
    std::fs::write(bench.folder.path().join("b/file"), "content").unwrap();
    let fifo = bench.folder.path().join("a/fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)
        .unwrap();
    let run = |tenant: &'static str, path: &'static str| {
        let (bench, prepared) = (Arc::clone(&bench), prepared.clone());
        async move {
            let mut job = bench.job();
            job.layers = layers(EVERYTHING, Effect::ReadOnly);
            job.workspace = Workspace::at(&bench.folder.path().join(tenant));
            bench.engine.run(&prepared, job, "guest", path).await
        }
    };
    let openers: Vec<_> = (0..600).map(|_| tokio::spawn(run("a", "fifo"))).collect();
    for _ in 0..50 {
        assert_eq!(text(run("b", "file").await), "content");
    }
    for opener in openers {
        let ran = opener.await.unwrap();
        let rules: Vec<_> = ran.denials.iter().map(|denial| denial.rule.as_str()).collect();
        assert_eq!(rules, ["files.special-file"]);
    }
}
