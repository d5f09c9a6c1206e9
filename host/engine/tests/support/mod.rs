//! An engine with its real compile child, and jobs for it.
#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod assemble;
mod imports;

pub use assemble::component;

use caisson_call::{Content, Limits, RawOutput, Refused};
use caisson_contract::{Capabilities, Effect, Layer, LayerSource, Layers};
use caisson_engine::{
    CacheKey, Egress, EgressConfig, Engine, EngineConfig, ExecConfig, Executor, Facts, Job, Prepared, Ran, Workspace,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Capabilities that allow whatever there is to allow.
pub const EVERYTHING: &str = r#"
tools = ["*"]
runtime = ["*"]
schedule = true
pages = true
data = true
outputs = true
[files]
"/workspace" = "read-write"
[exec]
shell = true
[documents]
notes = "read-write"
"#;

/// An engine, and a folder for what it keeps.
pub struct Bench {
    pub engine: Engine,
    pub folder: tempfile::TempDir,
    egress: Arc<Egress>,
    executor: Arc<Executor>,
}

/// Settings of an engine for tests.
pub fn config(cache: Option<PathBuf>) -> EngineConfig {
    EngineConfig {
        cache_dir: cache,
        cache_key: CacheKey::new([7; 32]),
        compiler: (env!("CARGO_BIN_EXE_caisson-compile").into(), Vec::new()),
        compile_memory: 2 << 30,
        compile_seconds: 60,
        max_memory: 128 << 20,
        max_instances: 64,
    }
}

/// The text of `guests/NAME.wat`.
pub fn guest(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests").join(format!("{name}.wat"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Bench {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// An engine with other settings.
    pub fn with(change: impl FnOnce(&mut EngineConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(None);
        change(&mut config);
        let egress = Arc::new(Egress::new(EgressConfig::default()).unwrap());
        let executor = Arc::new(Executor::new(ExecConfig::new(folder.path().join("workspaces"))));
        Self { engine: Engine::new(config).unwrap(), folder, egress, executor }
    }

    /// The guest of that name, compiled.
    pub async fn prepare(&self, name: &str) -> Prepared {
        self.engine
            .prepare("00", component(&guest(name)), &|_| {})
            .await
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A job without capabilities and with room enough for what is honest.
    pub fn job(&self) -> Job {
        Job {
            layers: Layers::none(),
            limits: Limits { cpu: Duration::from_millis(200), wall: Duration::from_secs(60), ..Limits::default() },
            facts: Facts::default(),
            settings: "{}".into(),
            workspace: Workspace::at(&self.folder.path().join("workspace")),
            blocking: Arc::new(tokio::sync::Semaphore::new(2)),
            egress: Arc::clone(&self.egress),
            executor: Arc::clone(&self.executor),
            approvals: None,
            programs: None,
            secrets: Arc::new([]),
            secret_names: Arc::default(),
            inputs: Arc::new([]),
            outputs: None,
            progress: None,
            cancelled: Arc::default(),
        }
    }

    /// Runs a guest once.
    pub async fn run(&self, name: &str, change: impl FnOnce(&mut Job)) -> Ran {
        let prepared = self.prepare(name).await;
        let mut job = self.job();
        change(&mut job);
        self.engine.run(&prepared, job, "guest", "{}").await
    }
}

/// One layer with these capabilities.
pub fn layers(capabilities: &str, effect: Effect) -> Layers {
    let capabilities: Capabilities = toml::from_str(capabilities).unwrap();
    Layers::new(vec![Layer { source: LayerSource::Declared, capabilities: Arc::new(capabilities) }], effect)
}

/// What the guest answered.
#[allow(clippy::disallowed_methods, reason = "the guests of these tests have no secrets, and nothing here leaves")]
pub fn answer(ran: Ran) -> Result<RawOutput, Refused> {
    ran.result.map(caisson_call::RawResult::expose)
}

/// The one text that the guest answered.
pub fn text(ran: Ran) -> String {
    match answer(ran) {
        Ok(RawOutput::Output { for_model, .. }) => match for_model.as_slice() {
            [Content::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Why there is no answer.
pub fn refusal(ran: Ran) -> Refused {
    match answer(ran) {
        Err(refused) => refused,
        Ok(output) => panic!("{output:?}"),
    }
}

/// Resident memory of this process, bytes.
pub fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}
