//! What is measured within this process.

use crate::bare::Bare;
use crate::{Row, at_least, at_most, median};
use caisson_tests::{Ship, component, resident};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const TOOL: &str = "unit_price";

/// Arguments that no call had before, so that no result comes out of a cache.
fn arguments() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{{\"price\":\"{}\",\"quantity\":\"7\",\"unit\":\"kg\"}}", NEXT.fetch_add(1, Ordering::Relaxed))
}

async fn ship() -> Arc<Ship> {
    let ship = Ship::new(|config| config.rate_per_hour = u32::MAX / 8).await;
    for tenant in 0..8 {
        ship.install(&format!("t{tenant}"), "examples/unit-price").await;
    }
    for tenant in 2..4 {
        ship.install(&format!("t{tenant}"), "tests/hostile").await;
    }
    Arc::new(ship)
}

async fn one(ship: &Ship, tenant: &str) -> f64 {
    let arguments = arguments();
    let began = Instant::now();
    let answer = ship.call(tenant, TOOL, &arguments).await;
    let took = began.elapsed().as_secs_f64() * 1e6;
    assert_eq!(answer.outcome.as_str(), "ok");
    took
}

pub async fn through_the_registry() -> Row {
    let ship = ship().await;
    let bare = Bare::new(&component("examples/unit-price"));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..6_000 {
        let arguments = arguments();
        let began = Instant::now();
        bare.call(TOOL, &arguments).await;
        let took = began.elapsed().as_secs_f64() * 1e6;
        let own = one(&ship, "t0").await;
        if round >= 1_000 {
            theirs.push(took);
            ours.push(own);
        }
    }
    at_most("one call through the registry, over bare wasmtime", "≤ 1.3 ×", 1.3, median(ours), median(theirs), "µs")
}

/// Calls a second by some callers, spread over tenants.
async fn rate(ship: &Arc<Ship>, callers: usize, tenants: usize) -> f64 {
    let stop = Arc::new(AtomicBool::new(false));
    let done = Arc::new(AtomicU64::new(0));
    let callers: Vec<_> = (0..callers)
        .map(|n| {
            let (ship, stop, done) = (Arc::clone(ship), Arc::clone(&stop), Arc::clone(&done));
            tokio::spawn(async move {
                let tenant = format!("t{}", n % tenants);
                while !stop.load(Ordering::Relaxed) {
                    one(&ship, &tenant).await;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let began = Instant::now();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let calls = done.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    calls
}

pub async fn many_callers() -> Row {
    let ship = ship().await;
    rate(&ship, 2, 2).await;
    let (mut many, mut few) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        few.push(rate(&ship, 2, 2).await);
        many.push(rate(&ship, 64, 8).await);
    }
    at_least(
        "calls per second with 64 callers of 8 tenants, over 2 callers",
        "≥ 0.95 ×",
        0.95,
        median(many),
        median(few),
        "per second",
    )
}

async fn neighbour(ship: &Ship) -> f64 {
    let mut times = Vec::new();
    for _ in 0..1_000 {
        times.push(one(ship, "t1").await);
    }
    median(times)
}

pub async fn beside_spinners() -> Row {
    let ship = ship().await;
    neighbour(&ship).await;
    let alone = neighbour(&ship).await;
    let stop = Arc::new(AtomicBool::new(false));
    // Sixteen spin at any time: 8 workers each of two tenants.
    let spinners: Vec<_> = (0..16)
        .map(|n| {
            let (ship, stop) = (Arc::clone(&ship), Arc::clone(&stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    ship.call(if n % 2 == 0 { "t2" } else { "t3" }, "h_spin", "{}").await;
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let beside = neighbour(&ship).await;
    stop.store(true, Ordering::Relaxed);
    for spinner in spinners {
        spinner.await.unwrap();
    }
    at_most("neighbours' median while 16 guests spin, over without", "≤ 3 ×", 3.0, beside, alone, "µs")
}

pub async fn memory_growth() -> Row {
    let ship = ship().await;
    for _ in 0..1_000 {
        one(&ship, "t0").await;
    }
    let (calls, every) = (100_000, 5_000);
    let mut points = Vec::new();
    for n in 0..=calls {
        if n % every == 0 {
            points.push((f64::from(n), resident() as f64));
        }
        one(&ship, "t0").await;
    }
    // Least squares: the slope over all points, times the calls.
    let count = points.len() as f64;
    let (mean_x, mean_y) =
        (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let slope = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - mean_x).powi(2)).sum::<f64>();
    let grown = slope * f64::from(calls) / f64::from(1 << 20);
    Row {
        what: "memory growth over 100,000 calls after the first 1,000, fitted",
        goal: "≤ 1 MiB",
        measured: format!("{grown:.2} MiB"),
        reached: grown <= 1.0,
    }
}

/// Not a goal: the plain times of some tools within this process, for whoever looks for what to make faster.
pub async fn probe() {
    let ship = ship().await;
    ship.install("t0", "guests/files").await;
    let folder = ship.workspaces.join("t0/agent-agent/self");
    std::fs::create_dir_all(&folder).unwrap();
    for n in 0..20 {
        std::fs::write(folder.join(format!("file-{n:02}.txt")), "x").unwrap();
    }
    for tool in ["list_files", "read_file", TOOL] {
        let (mut wall, mut cpu) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            let arguments = match tool {
                "list_files" => "{}".to_owned(),
                "read_file" => "{\"path\":\"file-01.txt\"}".to_owned(),
                _ => arguments(),
            };
            let began = Instant::now();
            let answer = ship.call("t0", tool, &arguments).await;
            wall.push(began.elapsed().as_secs_f64() * 1e6);
            cpu.push(answer.cpu.as_secs_f64() * 1e6);
            assert_eq!(answer.outcome.as_str(), "ok");
        }
        println!("{tool}: wall {:.1} cpu {:.1} µs", median(wall), median(cpu));
    }
}
