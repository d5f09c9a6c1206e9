//! What is no component, or one that asks too much, is refused before anything runs; machine code is mapped only behind its tag.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod support;

use caisson_call::{Budget, Refused};
use caisson_engine::{CacheKey, Engine, Pool, PrepareError, Step};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use support::{Bench, component, config, guest, refusal, text};

async fn refused(bench: &Bench, bytes: Vec<u8>) -> String {
    match bench.engine.prepare("00", bytes, &|_| {}).await {
        Err(PrepareError::Component(message)) => message,
        Err(PrepareError::Machine(message)) => panic!("blamed on the machine: {message}"),
        Ok(_) => panic!("prepared"),
    }
}

#[tokio::test]
async fn what_is_no_component_is_its_senders_fault() {
    let bench = Bench::new();
    let honest = component(&guest("answers"));
    for bytes in [
        Vec::new(),
        b"hello".to_vec(),
        b"\0asm\x0d\0\x01\0".to_vec(),
        wat::parse_str("(module (func (export \"call-tool\")))").unwrap(),
        honest.get(..honest.len() / 2).unwrap().to_vec(),
    ] {
        assert!(!refused(&bench, bytes).await.is_empty());
    }
}

#[tokio::test]
async fn a_flipped_bit_is_refused_or_harmless() {
    let bench = Bench::new();
    let honest = component(&guest("answers"));
    for at in (8..honest.len()).step_by(honest.len() / 40) {
        let mut bytes = honest.clone();
        *bytes.get_mut(at).unwrap() ^= 0x10;
        match bench.engine.prepare("00", bytes, &|_| {}).await {
            Err(PrepareError::Component(message)) => assert!(!message.is_empty()),
            Err(PrepareError::Machine(message)) => panic!("byte {at}: blamed on the machine: {message}"),
            // Another constant, say; whatever it does now, it does in its sandbox.
            Ok(prepared) => drop(bench.engine.run(&prepared, bench.job(), "guest", "{}").await),
        }
    }
}

/// A guest with this in its body, so many times.
fn many(one: &str, times: usize) -> Vec<u8> {
    component(&format!("{}\n{}", guest("answers"), one.repeat(times)))
}

/// A component with so many core instances beside those of the guest.
fn instances(count: usize) -> Vec<u8> {
    let one = "(core instance (instantiate $m))".repeat(count);
    wat::parse_str(format!("(component (core module $m) {one})")).unwrap()
}

#[tokio::test]
async fn a_thousand_memories_tables_or_instances_are_too_many() {
    let bench = Bench::new();
    for (what, bytes) in [
        ("memories", many("(memory 0)", 99)),
        ("tables", many("(table 0 funcref)", 99)),
        ("tables", many("(table 0 funcref)", 1000)),
        ("core module instances", instances(1000)),
    ] {
        let message = refused(&bench, bytes).await;
        assert!(message.contains(what) || message.contains("too many"), "{what}: {message}");
    }
}

#[tokio::test]
async fn where_nothing_can_be_pooled_the_same_limits_hold_when_it_runs() {
    let bench = Bench::with(|config| config.max_memory = usize::MAX >> 1);
    assert!(matches!(bench.engine.pool(), Pool::OnDemand { .. }), "{:?}", bench.engine.pool());
    for one in ["(memory 0)", "(table 0 funcref)"] {
        let prepared =
            bench.engine.prepare("00", many(one, 99), &|_| {}).await.unwrap_or_else(|error| panic!("{error}"));
        let ran = bench.engine.run(&prepared, bench.job(), "guest", "{}").await;
        assert_eq!(refusal(ran), Refused::OverBudget(Budget::HostMemory), "{one}");
    }
    assert_eq!(text(bench.run("answers", |_| {}).await), "here");
    assert_eq!(refusal(bench.run("grows-memory", |_| {}).await), Refused::OutOfMemory);
}

#[tokio::test]
async fn what_the_host_does_not_serve_is_named() {
    let bench = Bench::new();
    for import in ["wasi:keyvalue/store@0.2.0-draft", "caisson:host/teleport@0.1.0", "wasi:filesystem/types@0.3.0"] {
        let bytes =
            wat::parse_str(format!("(component (import \"{import}\" (instance (export \"x\" (func)))))")).unwrap();
        let message = refused(&bench, bytes).await;
        assert!(message.contains(import), "{message}");
    }
    let message = refused(&bench, wat::parse_str("(component)").unwrap()).await;
    assert!(message.contains("caisson:plugin/tools@0.1.0"), "{message}");
}

#[tokio::test]
async fn a_component_that_compiles_for_too_long_or_in_too_much_memory_is_ended() {
    // One function of straight-line code, which the compiler holds as a whole.
    let sum = "(local.set 4 (i32.add (local.get 4) (i32.load (local.get 4))))".repeat(400_000);
    let bomb = component(&format!(
        "(func (export \"call-tool\") (param i32 i32 i32 i32) (result i32) (local i32) {sum} unreachable)"
    ));
    let bench = Bench::with(|config| config.compile_seconds = 1);
    let message = refused(&bench, bomb.clone()).await;
    assert!(message.contains("make the component smaller"), "{message}");
    let bench = Bench::with(|config| config.compile_memory = 300 << 20);
    let message = refused(&bench, bomb).await;
    assert!(message.contains("make the component smaller"), "{message}");
    // The engine goes on.
    assert_eq!(text(bench.run("answers", |_| {}).await), "here");
}

#[tokio::test]
async fn a_preparation_says_how_far_it_is() {
    let bench = Bench::new();
    let told = Mutex::new(Vec::new());
    let tell = |step| told.lock().unwrap().push(step);
    bench.engine.prepare("00", component(&guest("answers")), &tell).await.unwrap();
    assert_eq!(*told.lock().unwrap(), [Step::Waiting, Step::Compiling, Step::Mapping]);
}

/// The child waits for its input under the filter; what a debugger would see of it is what the kernel says.
#[test]
fn the_compile_child_is_confined_before_it_reads() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_caisson-compile"))
        .args([(2_u64 << 30).to_string(), "60".into()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let proc = PathBuf::from(format!("/proc/{}", child.id()));
    let line = |name: &str| {
        let status = std::fs::read_to_string(proc.join("status")).unwrap();
        status.lines().find_map(|line| line.strip_prefix(name).map(|rest| rest.trim().to_owned())).unwrap()
    };
    // It is either on its way to its first read or there; it cannot go past it, for nothing was written.
    while line("Seccomp:") != "2" {
        std::thread::yield_now();
    }
    assert_eq!(line("NoNewPrivs:"), "1");
    let limits = std::fs::read_to_string(proc.join("limits")).unwrap();
    assert!(limits.lines().any(|l| l.starts_with("Max address space") && l.contains("2147483648")), "{limits}");
    assert!(
        limits.lines().any(|l| l.starts_with("Max file size") && l.split_whitespace().any(|word| word == "0")),
        "{limits}"
    );
    for task in std::fs::read_dir(proc.join("task")).unwrap() {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        assert!(status.contains("Seccomp:\t2"), "{status}");
    }
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

fn only_file(folder: &Path) -> PathBuf {
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.into_iter().next().unwrap()
}

#[tokio::test]
async fn machine_code_is_mapped_only_behind_its_tag() {
    let folder = tempfile::tempdir().unwrap();
    let engine = |change: fn(&mut caisson_engine::EngineConfig)| {
        let mut config = config(Some(folder.path().to_owned()));
        change(&mut config);
        Engine::new(config).unwrap()
    };
    let first = engine(|_| {});
    assert!(first.cached("ab12").unwrap().is_none());
    first.prepare("ab12", component(&guest("answers")), &|_| {}).await.unwrap();
    assert!(first.cached("ab12").unwrap().is_some());
    // Another component, or a name that is no digest.
    for digest in ["ab13", "", "../ab12", "ab12/"] {
        assert!(first.cached(digest).unwrap().is_none(), "{digest}");
    }
    assert!(engine(|_| {}).cached("ab12").unwrap().is_some(), "a later start finds it");

    let file = only_file(folder.path());
    let honest = std::fs::read(&file).unwrap();
    // The code of one component under another's name.
    first.prepare("cd34", component(&guest("traps")), &|_| {}).await.unwrap();
    let other =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).find(|path| *path != file).unwrap();
    std::fs::copy(&other, &file).unwrap();
    assert!(first.cached("ab12").unwrap().is_none(), "swapped");
    let cut = |at: usize| honest.get(..at).unwrap().to_vec();
    for tampered in [cut(0), cut(20), cut(honest.len() - 1), flipped(&honest, 3), flipped(&honest, 5000)] {
        std::fs::write(&file, &tampered).unwrap();
        assert!(first.cached("ab12").unwrap().is_none(), "{} bytes", tampered.len());
    }
    std::fs::write(&file, &honest).unwrap();
    assert!(first.cached("ab12").unwrap().is_some(), "the honest bytes are still good");
    assert!(
        engine(|config| config.cache_key = CacheKey::new([8; 32])).cached("ab12").unwrap().is_none(),
        "another key"
    );
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    *bytes.get_mut(at).unwrap() ^= 1;
    bytes
}
