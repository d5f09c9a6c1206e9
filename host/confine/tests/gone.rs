//! What becomes of programs when the gateway dies, and what is left behind. The test plays the gateway by starting itself
//! again.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use caisson_confine::{Confiner, Demand, Ending, HostId, open_workspace};
use common::{Bench, LONG, shell, stub};

const PLAY: &str = "CAISSON_CONFINE_TEST_WORKSPACE";

/// Not a test by itself: what runs in the second process.
#[tokio::test]
async fn plays_a_gateway() {
    let Some(workspace) = std::env::var_os(PLAY) else { return };
    let confiner = Confiner::open(stub(), Demand::default(), HostId::default(), Path::new(&workspace)).await.unwrap();
    let directory = open_workspace(Path::new(&workspace)).unwrap();
    let plan =
        shell("trap '' TERM HUP INT; exec 3> fifo; (setsid sleep 1000 &); echo up >&3; while :; do sleep 1000; done");
    confiner.spawn(plan, directory.as_fd()).await.unwrap().wait().await;
}

#[test]
fn a_gateway_that_is_killed_takes_everything_along() {
    let data = tempfile::tempdir().unwrap();
    let fifo = data.path().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)
        .unwrap();
    let mut gateway = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "plays_a_gateway"])
        .env(PLAY, data.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = BufReader::new(std::fs::File::open(&fifo).unwrap());
    let mut line = String::new();
    pipe.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    // The pipe ends when the last process that holds it is gone; until then this blocks.
    let mut rest = String::new();
    pipe.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[tokio::test]
async fn nothing_is_left_behind() {
    let bench = Bench::new().await;
    for round in 0..12 {
        let running = bench.spawn(shell("sleep 1000 & sleep 1000")).await.unwrap();
        match round % 3 {
            0 => drop(running),
            1 => drop(running.capture(Vec::new(), Duration::ZERO).await),
            _ => {
                assert_eq!(bench.sh("setsid sleep 1000 &").await.ending, Ending::Exited(0));
                running.kill();
                running.capture(Vec::new(), LONG).await;
            }
        }
    }
    // A future that is dropped half-way leaves nothing either.
    for micros in [0, 100, 1000, 3000] {
        let _late = tokio::time::timeout(Duration::from_micros(micros), bench.sh("sleep 1000")).await;
    }
    let keepers = || children().into_iter().filter(|(_, name)| name == "caisson-confine").count();
    // Whatever was cancelled returns its keeper before the next is asked for work.
    let before = keepers();
    for _ in 0..5 {
        bench.succeeds("true").await;
    }
    assert!(keepers() <= before, "{before}");
    let Bench { confiner, data: _data } = bench;
    confiner.close().await;
    // What was cancelled a moment ago clears up by itself.
    let cleared = async {
        while !own_groups().is_empty()
            || children().iter().any(|(path, name)| name == "caisson-confine" || is_zombie(path))
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, cleared).await.unwrap();
}

/// The children of this process, by their directory in /proc and their name.
fn children() -> Vec<(PathBuf, String)> {
    let own = std::process::id().to_string();
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let stat = std::fs::read_to_string(path.join("stat")).ok()?;
            let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
            (rest.split_whitespace().nth(1)? == own).then(|| (path, name.to_owned()))
        })
        .collect()
}

fn is_zombie(process: &Path) -> bool {
    std::fs::read_to_string(process.join("status")).is_ok_and(|status| status.contains("State:\tZ"))
}

/// The control groups that carry this process's name, wherever they are.
fn own_groups() -> Vec<PathBuf> {
    let prefix = format!("caisson-{}-", std::process::id());
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                found.push(entry.path());
            }
            folders.push(entry.path());
        }
    }
    found
}
