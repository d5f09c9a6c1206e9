//! An empty gateway with three tokens, and a client for its doors.
#![allow(dead_code, unused_imports, reason = "each test file uses its own part of this")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may panic"
)]

mod client;

use caisson_audit::Audit;
use caisson_call::{Principal, Role, TenantId};
use caisson_engine::{Egress, EgressConfig, Engine, EngineConfig, ExecConfig, Executor};
use caisson_policy::Policy;
use caisson_registry::{Gateway, GatewayConfig, Parts, Store};
use caisson_scrub::Scrubber;
use caisson_store::SqliteStore;
pub use client::{Answer, Door};
use std::sync::Arc;

/// Token of the tenant `acme`'s administrator.
pub const ADMIN: &str = "csn_admin_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
/// Token of the agent `anna` of the tenant `acme`.
pub const AGENT: &str = "csn_agent_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
/// Token of an operator of another tenant.
pub const OTHER: &str = "csn_other_cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";

/// A gateway in memory. It has no tools, so nothing is ever compiled or run; its compiler is a program that fails.
pub async fn gateway() -> Gateway {
    let store = Arc::new(SqliteStore::in_memory().await.unwrap());
    for (token, tenant, role, agent) in [
        (ADMIN, "acme", Role::TenantAdmin, None),
        (AGENT, "acme", Role::Agent, Some("anna")),
        (OTHER, "other", Role::Operator, None),
    ] {
        let tenant = TenantId::new(tenant).unwrap();
        let id = token.split('_').nth(1).unwrap();
        let agent = agent.map(str::to_owned);
        store.put_token(token, &Principal { tenant, role, token_id: id.to_owned(), agent, user: None }).await.unwrap();
    }
    let engine = Engine::new(EngineConfig {
        cache_dir: None,
        cache_key: [7; 32].into(),
        compiler: ("false".into(), vec![]),
        compile_memory: 1 << 30,
        compile_seconds: 1,
        max_memory: 16 << 20,
        max_instances: 16,
    });
    let parts = Parts {
        config: GatewayConfig::new(std::env::temp_dir()),
        engine: engine.unwrap(),
        audit: Audit::start(Arc::clone(&store) as _, [9; 32]),
        store: store as Arc<dyn Store>,
        scrubber: Scrubber::new(),
        egress: Arc::new(Egress::new(EgressConfig::default()).unwrap()),
        executor: Arc::new(Executor::new(ExecConfig::new(std::env::temp_dir()))),
        policy: Policy::default(),
    };
    Gateway::new(parts).await.unwrap()
}
