//! What the store keeps: over a restart, a kill, a second program and a full disk.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use caisson_audit::{AuditSink, Head, Record};
use caisson_contract::{Effect, SecretBinding, ToolSpec};
use caisson_registry::{GrantRecord, PluginRecord, SecretRecord, Store};
use caisson_store::{SqliteStore, new_token};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use support::{NEVER, kept, open, principal, settings, tenant};

/// Names the folder to the child, which is this program again.
const FOLDER: &str = "CAISSON_TEST_FOLDER";

fn plugin(of: Option<&str>, name: &str, digest: &str) -> PluginRecord {
    PluginRecord {
        tenant: of.map(tenant),
        name: name.into(),
        digest: digest.into(),
        manifest: "[plugin]".into(),
        tools: vec![ToolSpec {
            name: "get_weather".into(),
            title: None,
            description: "ünïcode".into(),
            parameters: "{}".into(),
            returns: None,
            effect: Effect::ReadOnly,
            deferred: false,
            idempotent: true,
            cache_seconds: Some(60),
            groups: vec![],
            extra: None,
        }],
        pin: "pin".into(),
        imports: vec!["wasi:http/outgoing-handler@0.2.12".into()],
        size_bytes: 5,
        installed_ms: 1,
        installed_by: "gateway".into(),
    }
}

fn grant(of: &str, plugin: &str) -> GrantRecord {
    GrantRecord {
        tenant: tenant(of),
        plugin: plugin.into(),
        capabilities: serde_json::from_value(serde_json::json!({ "files": { "/workspace": { "access": "read" } } }))
            .unwrap(),
        pin: "pin".into(),
        granted_ms: 2,
        granted_by: "admin".into(),
    }
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let digest = blake3::hash(b"bytes").to_hex().to_string();
    let (token, id) = new_token();
    let binding = SecretBinding { host: "api.example.com".into(), scheme: "https".into(), port: 443 };
    let secret = SecretRecord { tenant: tenant("acme"), name: "weather".into(), bindings: vec![binding] };
    let store = open(dir.path()).await;
    store.put_artefact(&digest, b"bytes").await.unwrap();
    store.put_plugin(&plugin(Some("acme"), "weather", "old")).await.unwrap();
    store.put_plugin(&plugin(Some("acme"), "weather", &digest)).await.unwrap();
    store.put_plugin(&plugin(None, "files", &digest)).await.unwrap();
    store.put_grant(&grant("acme", "weather")).await.unwrap();
    store.put_settings(&settings("weather", 1)).await.unwrap();
    store.put_settings(&settings("weather", 2)).await.unwrap();
    store.put_secret(&secret, "first-value").await.unwrap();
    store.put_secret(&secret, "second-value").await.unwrap();
    store.put_token(&token, &principal(id.clone())).await.unwrap();
    store.put_kept(&kept("reference", 100_000, NEVER)).await.unwrap();
    store.close().await;
    assert!(store.ping().await.is_err());

    let store = open(dir.path()).await;
    store.ping().await.unwrap();
    assert_eq!(store.artefact(&digest).await.unwrap().unwrap(), b"bytes");
    assert_eq!(
        store.plugins().await.unwrap(),
        [plugin(None, "files", &digest), plugin(Some("acme"), "weather", &digest)]
    );
    assert_eq!(store.grants().await.unwrap(), [grant("acme", "weather")]);
    assert_eq!(store.settings().await.unwrap(), [settings("weather", 2)]);
    assert_eq!(store.secrets().await.unwrap(), [secret]);
    assert_eq!(**store.reveal_secret(&tenant("acme"), "weather").await.unwrap().unwrap(), *"second-value");
    assert_eq!(store.token(&token).await.unwrap(), Some(principal(id)));
    assert_eq!(store.kept("reference").await.unwrap(), Some(kept("reference", 100_000, NEVER)));
}

#[tokio::test]
async fn what_is_removed_is_gone_with_its_grants_and_nothing_else_is() {
    let store = SqliteStore::in_memory().await.unwrap();
    for name in ["weather", "mail"] {
        store.put_plugin(&plugin(Some("acme"), name, "d")).await.unwrap();
        store.put_grant(&grant("acme", name)).await.unwrap();
    }
    store.put_grant(&grant("other", "weather")).await.unwrap();
    assert!(store.remove_plugin(Some(&tenant("acme")), "weather").await.unwrap());
    assert!(!store.remove_plugin(Some(&tenant("acme")), "weather").await.unwrap());
    assert_eq!(store.plugins().await.unwrap(), [plugin(Some("acme"), "mail", "d")]);
    assert_eq!(store.grants().await.unwrap(), [grant("acme", "mail"), grant("other", "weather")]);
    assert!(store.remove_grant(&tenant("acme"), "mail").await.unwrap());
    assert!(!store.remove_grant(&tenant("acme"), "mail").await.unwrap());
    assert!(!store.remove_secret(&tenant("acme"), "weather").await.unwrap());
    // A built-in plugin takes the grants of every tenant with it.
    store.put_plugin(&plugin(None, "files", "d")).await.unwrap();
    store.put_grant(&grant("acme", "files")).await.unwrap();
    assert!(store.remove_plugin(None, "files").await.unwrap());
    assert_eq!(store.grants().await.unwrap(), [grant("other", "weather")]);
}

/// Starts this program again as the child below, which says each number that the store acknowledged.
fn child(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_writes", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[tokio::test]
#[ignore = "the child of the tests below, not a test"]
async fn child_that_writes() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = open(Path::new(&folder)).await;
    let id = std::process::id();
    for number in 1.. {
        store.put_settings(&settings(&format!("child-{id}"), number)).await.unwrap();
        store.put_kept(&kept(&format!("{id}-{number}"), 10_000, NEVER)).await.unwrap();
        let bytes = format!("{id}-{number}");
        store.put_artefact(blake3::hash(bytes.as_bytes()).to_hex().as_str(), bytes.as_bytes()).await.unwrap();
        println!("\nkept {number}");
    }
}

fn acknowledged(line: &str) -> Option<u64> {
    line.strip_prefix("kept ")?.parse().ok()
}

/// Kills the child once it said `after` or more; the last number that it said.
fn kill(mut child: Child, after: u64) -> u64 {
    let mut last = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let Some(number) = acknowledged(&line.unwrap()) else { continue };
        last = number;
        if last == after {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(last >= after, "the child ended by itself after {last}");
    last
}

async fn all_there(store: &SqliteStore, child: u32, last: u64) {
    let name = format!("child-{child}");
    let settings = store.settings().await.unwrap().into_iter().find(|s| s.name == name).unwrap();
    assert!(settings.value.get("number").unwrap().as_u64().unwrap() >= last);
    for number in 1..=last {
        assert!(store.kept(&format!("{child}-{number}")).await.unwrap().is_some(), "{number} of {last}");
        let bytes = format!("{child}-{number}");
        let digest = blake3::hash(bytes.as_bytes()).to_hex().to_string();
        assert_eq!(store.artefact(&digest).await.unwrap().unwrap(), bytes.as_bytes());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_program_loses_nothing_that_it_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    for after in [1, 7, 40] {
        let child = child(dir.path());
        let id = child.id();
        let last = kill(child, after);
        all_there(&open(dir.path()).await, id, last).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_that_make_and_write_one_database_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..3).map(|_| child(dir.path())).collect();
    let ends: Vec<(u32, u64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = children.into_iter().map(|child| (child.id(), scope.spawn(|| kill(child, 10)))).collect();
        threads.into_iter().map(|(id, thread)| (id, thread.join().unwrap())).collect()
    });
    let store = open(dir.path()).await;
    for (id, last) in ends {
        all_there(&store, id, last).await;
    }
}

/// A file system of 4 MiB in memory.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    fn mount(at: &'a Path) -> Option<Self> {
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(at).output();
        done.is_ok_and(|done| done.status.success()).then_some(Self(at))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        // Lazily, since the store's threads may not have closed their files yet.
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[tokio::test]
async fn a_full_disk_is_an_error_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_small) = Small::mount(dir.path()) else {
        println!("left out: a small file system can only be mounted by root");
        return;
    };
    let ballast = dir.path().join("ballast");
    std::fs::write(&ballast, vec![0; 2 << 20]).unwrap();
    let store = open(dir.path()).await;
    store.put_settings(&settings("weather", 1)).await.unwrap();
    let mut stored = 0;
    let error = loop {
        match store.put_kept(&kept(&format!("n{stored}"), 200_000, NEVER)).await {
            Ok(()) => stored += 1,
            Err(error) => break error.to_string(),
        }
    };
    assert!(stored > 0 && error.contains("full"), "{error}");
    let component = vec![1; 3 << 20];
    let digest = blake3::hash(&component).to_hex().to_string();
    let error = store.put_artefact(&digest, &component).await.unwrap_err().to_string();
    assert!(error.contains(&digest) && error.contains("space"), "{error}");
    assert_eq!(store.artefact(&digest).await.unwrap(), None);
    assert_eq!(store.settings().await.unwrap(), [settings("weather", 1)]);
    // The audit fails with it, and goes on once there is room.
    let audit = |number: u64, event: &str| {
        let record = Record { number, event: event.into(), digest: "d".into(), checkpoint: None };
        (vec![record], Head { number, seal: "s".into() })
    };
    let mut recorded = 0;
    let error = loop {
        let (records, head) = audit(recorded, &"x".repeat(100_000));
        match store.append(&records, &head).await {
            Ok(()) => recorded += 1,
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("full"), "{error}");
    // Room again: the same store goes on.
    std::fs::remove_file(ballast).unwrap();
    let (records, head) = audit(recorded, "y");
    store.append(&records, &head).await.unwrap();
    assert_eq!(store.newest().await.unwrap().map(|(number, _)| number), Some(recorded));
    store.put_settings(&settings("weather", 2)).await.unwrap();
    store.close().await;
    let store = open(dir.path()).await;
    assert_eq!(store.settings().await.unwrap(), [settings("weather", 2)]);
    for number in 0..stored {
        assert!(store.kept(&format!("n{number}")).await.unwrap().is_some());
    }
}
