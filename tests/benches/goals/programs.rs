//! What is measured on whole programs.

use crate::wire::{Connection, Lines};
use crate::{Row, at_least, at_most, median};
use caisson_tests::build_folder;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Entries of the folder that is listed.
const ENTRIES: usize = 20;

fn program(name: &str) -> PathBuf {
    let bench = std::env::current_exe().unwrap();
    bench.parent().unwrap().parent().unwrap().join(name)
}

fn filled(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for n in 0..ENTRIES {
        std::fs::write(folder.join(format!("file-{n:02}.txt")), "x").unwrap();
    }
}

/// A server and what it said of itself; ended with this value.
struct Server {
    child: Child,
    url: String,
    token: String,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).expect("it says where it listens");
        let text = |key: &str| said.get(key).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
        Self { child, url: text("url"), token: text("token") }
    }

    fn gateway(data: &Path) -> Self {
        Self::start(
            Command::new(program("caisson"))
                .args(["serve", "--json", "--listen", "127.0.0.1:0", "--rate-per-hour", "400000000", "--data"])
                .arg(data)
                .arg("--built-in")
                .arg(build_folder().join("guests")),
        )
    }

    fn bare(data: &Path) -> Self {
        Self::start(Command::new(program("bare")).arg(data.join("caisson.db")))
    }

    fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn stdio() -> Row {
    let (what, goal) = ("one directory listing over MCP stdio, over npm server-filesystem", "≤ 0.3 ×");
    let script = build_folder().join("bench/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    if !script.exists() {
        return Row {
            what,
            goal,
            measured: "not measured: npm server-filesystem is not installed".into(),
            reached: false,
        };
    }
    let scratch = tempfile::tempdir().unwrap();
    let folder = std::fs::canonicalize(scratch.path()).unwrap().join("listed");
    filled(&folder);
    let data = scratch.path().join("data");
    filled(&data.join("workspaces/default/agent-default/self"));
    let mut ours = Lines::start(
        Command::new(program("caisson"))
            .args(["mcp", "--rate-per-hour", "400000000", "--data"])
            .arg(&data)
            .arg("--built-in")
            .arg(build_folder().join("guests")),
    );
    let mut theirs = Lines::start(Command::new("node").arg(&script).arg(&folder));
    let time = |lines: &mut Lines, tool: &str, arguments: String, id: u64| {
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}"
        );
        let began = Instant::now();
        let answer = lines.ask(&request, id);
        let took = began.elapsed().as_secs_f64() * 1e6;
        assert!(answer.contains("file-19.txt"), "{answer}");
        took
    };
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for id in 1..3_000 {
        let one = time(&mut ours, "list_files", "{}".into(), id);
        let two = time(&mut theirs, "list_directory", serde_json::json!({ "path": folder }).to_string(), id);
        if id > 500 {
            own.push(one);
            other.push(two);
        }
    }
    at_most(what, goal, 0.3, median(own), median(other), "µs")
}

async fn requests_per_second(address: &str, request: &str) -> f64 {
    let stop = Arc::new(AtomicBool::new(false));
    let done = Arc::new(AtomicU64::new(0));
    let mut clients = Vec::new();
    for _ in 0..8 {
        let mut connection = Connection::open(address).await;
        let (stop, done, request) = (Arc::clone(&stop), Arc::clone(&done), request.to_owned());
        clients.push(tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                connection.ask(request.as_bytes()).await;
                done.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    let began = Instant::now();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let rate = done.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    rate
}

pub async fn over_http() -> Row {
    let scratch = tempfile::tempdir().unwrap();
    filled(&scratch.path().join("workspaces/default/agent-default/self"));
    let gateway = Server::gateway(scratch.path());
    let bare = Server::bare(scratch.path());
    let body = r#"{"tool":"list_files","arguments":{}}"#;
    let request = |server: &Server| {
        format!(
            "POST /v1/tools/invoke HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            server.address(),
            server.token,
            body.len()
        )
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..4 {
        let other = requests_per_second(bare.address(), &request(&bare)).await;
        let own = requests_per_second(gateway.address(), &request(&gateway)).await;
        if round > 0 {
            ours.push(own);
            theirs.push(other);
        }
    }
    at_least(
        "the same over HTTP, over a bare hyper server with a constant",
        "≥ 0.25 ×",
        0.25,
        median(ours),
        median(theirs),
        "per second",
    )
}

pub fn start() -> Row {
    let scratch = tempfile::tempdir().unwrap();
    drop(Server::gateway(scratch.path()));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        for (times, server) in [(&mut theirs, Server::bare as fn(&Path) -> Server), (&mut ours, Server::gateway)] {
            let began = Instant::now();
            let server = server(scratch.path());
            times.push(began.elapsed().as_secs_f64() * 1e3);
            drop(server);
        }
    }
    at_most("start of the gateway to ready, over a bare program", "≤ 6 ×", 6.0, median(ours), median(theirs), "ms")
}

pub fn idle_memory() -> Row {
    let scratch = tempfile::tempdir().unwrap();
    drop(Server::gateway(scratch.path()));
    let server = Server::gateway(scratch.path());
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let kib: f64 = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .trim()
        .parse()
        .unwrap();
    let mib = kib / 1024.0;
    Row {
        what: "memory of the idle gateway with all built-in tools",
        goal: "≤ 80 MiB",
        measured: format!("{mib:.1} MiB RSS"),
        reached: mib <= 80.0,
    }
}
