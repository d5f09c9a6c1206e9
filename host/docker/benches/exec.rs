//! What a command in a kept container costs: through our process 1, over `docker exec` by the engine's own client.
//!
//! Both run `true` as the same user in the same container, in turns, so that whatever else the machine does falls on both.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may panic, and prints")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use caisson_confine::{Ending, Program};
use common::Bench;

const ROUNDS: usize = 30;
const WARM: usize = 3;

fn main() {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(compare());
}

async fn compare() {
    let Some(bench) = Bench::new() else { return };
    let start = Instant::now();
    bench.sh("true").await;
    let first = start.elapsed();
    let container = bench.container();
    let (mut client, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS + WARM {
        let start = Instant::now();
        bench.engine.client(&["exec", "--user=65534:65534", &container, "/bin/true"]).unwrap();
        client.push(start.elapsed());
        let start = Instant::now();
        let mut plan = bench.shell("");
        plan.program = Program::Command { program: "/bin/true".into(), arguments: vec![] };
        assert_eq!(bench.run(plan).await.ending, Ending::Exited(0));
        ours.push(start.elapsed());
    }
    let (client, ours) = (median(client), median(ours));
    println!("true in a new container:   {} us (once)", first.as_micros());
    println!("docker exec of true:       {} us (median of {ROUNDS})", client.as_micros());
    println!("true in a kept container:  {} us (median of {ROUNDS})", ours.as_micros());
    println!("ratio:                     {:.3} (goal: at most 0.9)", ours.as_secs_f64() / client.as_secs_f64());
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.drain(..WARM);
    times.sort_unstable();
    *times.get(times.len() / 2).unwrap()
}
