//! What confinement costs: `true`, confined, over plain fork and exec of `true`.
//!
//! Both are started from the same runtime and waited for, in turns, so that whatever else the machine does falls on both.
#![expect(clippy::unwrap_used, reason = "a bench may panic")]

use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use caisson_confine::{Confiner, Demand, Ending, HostId, Plan, Program, Stub, open_workspace};

const ROUNDS: usize = 300;
const WARM: usize = 20;

fn main() {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(compare());
}

async fn compare() {
    let workspace = tempfile::tempdir().unwrap();
    let stub = Stub::open(Path::new(env!("CARGO_BIN_EXE_caisson-confine"))).unwrap();
    let confiner = Confiner::open(stub, Demand::default(), HostId::default(), workspace.path()).await.unwrap();
    let (mut plain, mut confined) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS + WARM {
        let start = Instant::now();
        assert!(tokio::process::Command::new("/usr/bin/true").status().await.unwrap().success());
        plain.push(start.elapsed());
        let start = Instant::now();
        let directory = open_workspace(workspace.path()).unwrap();
        let program = Program::Command { program: "/usr/bin/true".into(), arguments: Vec::new() };
        let mut running = confiner.spawn(Plan::new(program), directory.as_fd()).await.unwrap();
        assert_eq!(running.wait().await, Ending::Exited(0));
        confined.push(start.elapsed());
    }
    let (plain, confined) = (median(plain), median(confined));
    println!("plain fork+exec of true: {} us (median of {ROUNDS})", plain.as_micros());
    println!("confined true:           {} us (median of {ROUNDS})", confined.as_micros());
    println!("ratio:                   {:.2} (goal: at most 4)", confined.as_secs_f64() / plain.as_secs_f64());
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.drain(..WARM);
    times.sort_unstable();
    *times.get(times.len() / 2).unwrap()
}
