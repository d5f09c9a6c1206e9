//! What a whole scan costs (reading, resolving, every rule) over `rable` only parsing the same commands. Both take turns, so that whatever else
//! the machine does falls on both.
#![expect(clippy::unwrap_used, reason = "a bench may panic")]

use caisson_guard::shell::{Setting, scan};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Commands of an agent's day.
const COMMANDS: [&str; 13] = [
    "ls -la",
    "git status",
    "git commit -m 'fix: count the last line too'",
    "cargo test --workspace 2>&1 | tail -40",
    "rg -n 'fn main' src | head -20",
    "python3 scripts/report.py --out build/report.md",
    "find . -name '*.rs' -newer Cargo.toml",
    "mkdir -p build && cp -r assets build/",
    "for f in *.txt; do wc -l \"$f\"; done",
    "if [ -f .env.example ]; then cat .env.example; fi",
    "NODE_ENV=test npm run build",
    "cat <<EOF > notes.md\n# Notes\n- one\nEOF",
    "sed -n '1,20p' README.md | sort -u > top.txt",
];

const ROUNDS: usize = 2_000;

fn main() {
    let setting = Setting::default();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for command in COMMANDS {
            assert!(black_box(scan(black_box(command), &setting)).allows(), "{command}");
        }
        ours.push(began.elapsed());
        let began = Instant::now();
        for command in COMMANDS {
            black_box(rable::parse(black_box(command), false).unwrap());
        }
        theirs.push(began.elapsed());
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours / theirs;
    println!("whole scan of a command: {ours:.2} µs, rable only parsing it: {theirs:.2} µs");
    println!("ratio:                   {ratio:.2} (goal: at most 5)");
}

/// Microseconds a command.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).unwrap().as_secs_f64() * 1e6 / COMMANDS.len() as f64
}
