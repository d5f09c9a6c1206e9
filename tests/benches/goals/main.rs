//! The goals of speed and size, each measured as a ratio within this one run, printed beside what must be reached. Both sides of a ratio take turns, so that
//! whatever else the machine does falls on both.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark may panic")]

mod bare;
mod calls;
mod programs;
mod wire;

use tokio::runtime::Runtime;

/// As the gateway has it; it serves both sides of a ratio.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// One row of the table.
pub struct Row {
    what: &'static str,
    goal: &'static str,
    measured: String,
    reached: bool,
}

/// The median of some numbers.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// A row about a ratio that must not be larger.
pub fn at_most(what: &'static str, goal: &'static str, limit: f64, one: f64, other: f64, unit: &str) -> Row {
    let ratio = one / other;
    Row { what, goal, measured: format!("{ratio:.2} × ({one:.1} against {other:.1} {unit})"), reached: ratio <= limit }
}

/// A row about a ratio that must not be smaller.
pub fn at_least(what: &'static str, goal: &'static str, limit: f64, one: f64, other: f64, unit: &str) -> Row {
    let ratio = one / other;
    Row { what, goal, measured: format!("{ratio:.2} × ({one:.0} against {other:.0} {unit})"), reached: ratio >= limit }
}

type Measure = fn(&Runtime) -> Row;

/// Names that can be given to measure only some.
const GOALS: [(&str, Measure); 8] = [
    ("registry", |runtime| runtime.block_on(calls::through_the_registry())),
    ("callers", |runtime| runtime.block_on(calls::many_callers())),
    ("spinners", |runtime| runtime.block_on(calls::beside_spinners())),
    ("growth", |runtime| runtime.block_on(calls::memory_growth())),
    ("stdio", |_| programs::stdio()),
    ("http", |runtime| runtime.block_on(programs::over_http())),
    ("start", |_| programs::start()),
    ("idle", |_| programs::idle_memory()),
];

fn main() {
    // `cargo test` builds and runs bench targets too; there is nothing to test here.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if std::env::args().any(|argument| argument == "probe") {
        runtime.block_on(calls::probe());
        return;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut rows = Vec::new();
    for (name, measure) in GOALS {
        if wanted.is_empty() || wanted.iter().any(|one| one == name) {
            let row = measure(&runtime);
            println!(
                "{:4} {}: {} (goal {})",
                if row.reached { "ok" } else { "MISS" },
                row.what,
                row.measured,
                row.goal
            );
            rows.push(row);
        }
    }
    println!("\n| what | goal | measured | reached |\n| --- | --- | --- | --- |");
    for row in &rows {
        println!("| {} | {} | {} | {} |", row.what, row.goal, row.measured, if row.reached { "yes" } else { "no" });
    }
}
