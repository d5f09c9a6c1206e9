//! A whole gateway in one process, for tests that cross stations: the real engine with its real compile child, the real store, the
//! built-in tools and the hostile guest as components.
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

use caisson_audit::Audit;
use caisson_call::{Call, CallContext, CallId, Outcome, Principal, Refused, Role, TenantId};
use caisson_engine::{Egress, EgressConfig, Engine, EngineConfig, ExecConfig, Executor};
use caisson_policy::Policy;
use caisson_registry::{Answer, Gateway, GatewayConfig, GrantRequest, Parts, Store};
use caisson_scrub::Scrubber;
use caisson_store::{MasterKey, SqliteStore};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A gateway that is gone with this value.
pub struct Ship {
    /// The gateway.
    pub gateway: Gateway,
    /// Its state.
    pub store: Arc<SqliteStore>,
    /// Workspaces lie here.
    pub workspaces: PathBuf,
    scratch: tempfile::TempDir,
}

/// The folder that builds go to.
#[must_use]
pub fn build_folder() -> PathBuf {
    std::env::var_os("CAISSON_BUILD_DIR")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../build")), PathBuf::from)
}

/// A component that `scripts/build-guests.sh` made, such as `guests/files` or `tests/hostile`.
#[must_use]
pub fn component(name: &str) -> Vec<u8> {
    let path = build_folder().join(format!("{name}.wasm"));
    std::fs::read(&path).unwrap_or_else(|error| panic_missing(&path.display().to_string(), &error))
}

#[expect(clippy::panic, reason = "a test without its guest must fail and say what to do")]
fn panic_missing(path: &str, error: &std::io::Error) -> ! {
    panic!("`{path}`: {error}; run `make guests` first")
}

/// A program that was built with the running test.
fn beside(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join(name)
}

impl Ship {
    /// A gateway with the operator's settings changed by `change`, and no plugin.
    pub async fn new(change: impl FnOnce(&mut GatewayConfig)) -> Self {
        Self::with(EgressConfig::default(), |_| (), change).await
    }

    /// A gateway whose requests leave as these settings say.
    pub async fn reaching(egress: EgressConfig) -> Self {
        Self::with(egress, |_| (), |_| ()).await
    }

    /// A gateway whose commands run as these settings say.
    pub async fn running(exec: impl FnOnce(&mut ExecConfig)) -> Self {
        Self::with(EgressConfig::default(), exec, |_| ()).await
    }

    /// The gateway stopped and started again.
    pub async fn restarted(self) -> Self {
        self.gateway.flush().await;
        self.store.close().await;
        let Self { gateway, scratch, .. } = self;
        drop(gateway);
        Self::at(scratch, EgressConfig::default(), |_| (), |_| ()).await
    }

    async fn with(
        egress: EgressConfig,
        change_exec: impl FnOnce(&mut ExecConfig),
        change: impl FnOnce(&mut GatewayConfig),
    ) -> Self {
        Self::at(tempfile::tempdir().unwrap(), egress, change_exec, change).await
    }

    async fn at(
        scratch: tempfile::TempDir,
        egress: EgressConfig,
        change_exec: impl FnOnce(&mut ExecConfig),
        change: impl FnOnce(&mut GatewayConfig),
    ) -> Self {
        let workspaces = scratch.path().join("workspaces");
        let mut exec = ExecConfig { stub: Some(beside("caisson-confine")), ..ExecConfig::new(workspaces.clone()) };
        change_exec(&mut exec);
        let mut config = GatewayConfig::new(workspaces.clone());
        config.rate_per_hour = 1_000_000;
        change(&mut config);
        let engine = Engine::new(EngineConfig {
            // Shared by all tests of one build, so that each guest is compiled once.
            cache_dir: Some(build_folder().join("test-code")),
            cache_key: [42; 32].into(),
            compiler: (beside("caisson-compile"), vec![]),
            compile_memory: 4 << 30,
            compile_seconds: 180,
            max_memory: 512 << 20,
            max_instances: 64,
        });
        // On disk, as in a gateway: a database in memory would grow with the audit.
        let key = MasterKey::from_file_or_create(&scratch.path().join("master.key")).unwrap();
        let store = Arc::new(SqliteStore::open(scratch.path(), key).await.unwrap());
        let parts = Parts {
            config,
            engine: engine.unwrap(),
            audit: Audit::start(Arc::clone(&store) as _, store.audit_key()),
            store: Arc::clone(&store) as Arc<dyn Store>,
            scrubber: Scrubber::new(),
            egress: Arc::new(Egress::new(egress).unwrap()),
            executor: Arc::new(Executor::new(exec)),
            policy: Policy::default(),
        };
        Self { gateway: Gateway::new(parts).await.unwrap(), store, workspaces, scratch }
    }

    /// A gateway with the hostile guest installed and granted for the tenant `acme`.
    pub async fn hostile() -> Self {
        let ship = Self::new(|_| ()).await;
        ship.install("acme", "tests/hostile").await;
        ship
    }

    /// Installs a component for a tenant and grants all that it declares.
    pub async fn install(&self, tenant: &str, name: &str) {
        let who = principal(tenant, "admin", Role::TenantAdmin);
        let plugin = self.gateway.install(&who, component(name)).await.expect("it installs");
        self.gateway.grant(&who, &plugin.name, GrantRequest::All { all: true }).await.expect("it is granted");
    }

    /// The gateway's folder.
    #[must_use]
    pub fn data(&self) -> &std::path::Path {
        self.scratch.path()
    }

    /// Everything in the audit, one event a line.
    pub async fn audit(&self) -> String {
        self.gateway.flush().await;
        let path = self.data().join("caisson.db");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).read_only(true);
        let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
        let events: Vec<(String,)> =
            sqlx::query_as("SELECT event FROM audit ORDER BY number").fetch_all(&pool).await.unwrap();
        events.into_iter().map(|(event,)| event + "\n").collect()
    }

    /// Calls a tool as an agent of a tenant.
    pub async fn call(&self, tenant: &str, tool: &str, arguments: &str) -> Answer {
        self.gateway.call(call(principal(tenant, "agent", Role::Agent), tool, arguments)).await
    }

    /// Calls a tool with one argument `text`.
    pub async fn say(&self, tool: &str, text: &str) -> Answer {
        self.call("acme", tool, &serde_json::json!({ "text": text }).to_string()).await
    }
}

/// A principal.
#[must_use]
pub fn principal(tenant: &str, name: &str, role: Role) -> Principal {
    Principal {
        tenant: TenantId::new(tenant).unwrap(),
        role,
        token_id: name.into(),
        agent: Some(name.into()),
        user: None,
    }
}

/// A call.
#[must_use]
pub fn call(who: Principal, tool: &str, arguments: &str) -> Call {
    Call {
        id: CallId(uuid::Uuid::now_v7().to_string().into()),
        principal: who,
        context: CallContext::default(),
        tool: tool.into(),
        arguments: arguments.into(),
        inputs: Arc::new([]),
        progress: None,
        patience: Some(Duration::from_secs(60)),
    }
}

/// The text of an answer, or the message of its refusal.
#[must_use]
pub fn text(answer: &Answer) -> String {
    match &answer.body {
        Ok(result) => result.text(),
        Err(refused) => refused.message(),
    }
}

/// The rule of a denial.
#[must_use]
pub fn rule(answer: &Answer) -> String {
    match &answer.body {
        Err(Refused::Denied(denial)) => denial.rule.clone(),
        _ => format!("not denied but {}: {}", answer.outcome.as_str(), text(answer)),
    }
}

/// The outcome as a word, with the text where it is not the expected one.
#[must_use]
pub fn outcome(answer: &Answer, expected: Outcome) -> String {
    if answer.outcome == expected {
        expected.as_str().into()
    } else {
        format!("{}: {}", answer.outcome.as_str(), text(answer))
    }
}

/// Resident memory of this process, bytes.
#[must_use]
pub fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}
