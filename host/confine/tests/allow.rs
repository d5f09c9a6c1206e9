//! What a confined program can do.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use caisson_confine::Ending;
use common::{Bench, err, out};

#[tokio::test]
async fn a_program_runs_in_its_workspace() {
    let bench = Bench::new().await;
    let ran = bench.sh("pwd; id; echo hello > made; cat made; ls -la / /dev /etc; cat /proc/mounts; ls /proc").await;
    println!("{}\n{}", out(&ran), err(&ran));
    assert_eq!(ran.ending, Ending::Exited(0));
    assert_eq!(std::fs::read_to_string(bench.workspace().join("made")).unwrap(), "hello\n");
}
