//! A workspace, a confiner, and short ways to run something in them.
#![allow(dead_code, reason = "each test file uses some of it")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use caisson_confine::{
    Access, Captured, Confiner, Demand, Ending, HostId, Plan, Program, Running, SpawnError, Stub, open_workspace,
};
use tempfile::TempDir;

/// What no test waits for: only a hang gets there.
pub const LONG: Duration = Duration::from_secs(60);

pub struct Bench {
    pub confiner: Confiner,
    /// Holds the workspace and whatever a test puts beside it.
    pub data: TempDir,
}

impl Bench {
    pub async fn new() -> Self {
        Self::demanding(Demand::default()).await
    }

    pub async fn demanding(demand: Demand) -> Self {
        let data = TempDir::new().unwrap();
        std::fs::create_dir(data.path().join("workspace")).unwrap();
        let confiner = Confiner::open(stub(), demand, HostId::default(), &data.path().join("workspace")).await.unwrap();
        Self { confiner, data }
    }

    pub fn workspace(&self) -> std::path::PathBuf {
        self.data.path().join("workspace")
    }

    pub async fn spawn(&self, plan: Plan) -> Result<Running, SpawnError> {
        let workspace = open_workspace(&self.workspace()).unwrap();
        self.confiner.spawn(plan, workspace.as_fd()).await
    }

    pub async fn run(&self, plan: Plan) -> Captured {
        self.spawn(plan).await.unwrap().capture(Vec::new(), LONG).await
    }

    /// Runs a shell text with a workspace that may be changed.
    pub async fn sh(&self, text: &str) -> Captured {
        self.run(shell(text)).await
    }

    /// Whether a shell text succeeds.
    pub async fn succeeds(&self, text: &str) -> bool {
        let captured = self.sh(text).await;
        assert!(matches!(captured.ending, Ending::Exited(_)), "{text}: {captured:?}");
        captured.ending == Ending::Exited(0)
    }
}

pub fn stub() -> Stub {
    Stub::open(Path::new(env!("CARGO_BIN_EXE_caisson-confine"))).unwrap()
}

pub fn shell(text: &str) -> Plan {
    let mut plan = Plan::new(Program::Shell(text.into()));
    plan.workspace = Access::ReadWrite;
    plan.environment.insert("PATH".into(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into());
    plan.environment.insert("HOME".into(), "/tmp".into());
    plan
}

pub fn out(captured: &Captured) -> String {
    String::from_utf8_lossy(&captured.stdout.clone().joined()).into_owned()
}

pub fn err(captured: &Captured) -> String {
    String::from_utf8_lossy(&captured.stderr.clone().joined()).into_owned()
}
