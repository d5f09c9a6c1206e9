//! What the tests of the store share.
#![allow(dead_code, reason = "each test program uses a part")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_call::{Principal, Role, TenantId};
use caisson_registry::{KeptRecord, SettingsRecord};
use caisson_store::{MasterKey, SqliteStore};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};
use std::path::Path;

/// The time at which outputs of these tests expire: not in anybody's life.
pub const NEVER: i64 = i64::MAX;

pub async fn open(dir: &Path) -> SqliteStore {
    SqliteStore::open(dir, MasterKey::from_file_or_create(&dir.join("master.key")).unwrap()).await.unwrap()
}

pub fn tenant(name: &str) -> TenantId {
    TenantId::new(name).unwrap()
}

pub fn settings(name: &str, number: u64) -> SettingsRecord {
    SettingsRecord { tenant: tenant("acme"), name: name.into(), value: serde_json::json!({ "number": number }) }
}

pub fn principal(token_id: String) -> Principal {
    Principal { tenant: tenant("acme"), role: Role::Agent, token_id, agent: Some("helper".into()), user: None }
}

pub fn kept(reference: &str, bytes: usize, expires_ms: i64) -> KeptRecord {
    KeptRecord {
        reference: reference.into(),
        tenant: tenant("acme"),
        agent: Some("helper".into()),
        user: None,
        tool: "web_fetch".into(),
        content_type: "text/plain".into(),
        lines: 1,
        bytes: vec![b'x'; bytes],
        expires_ms,
    }
}

/// Writes past the store, as somebody would who has only the database.
pub async fn tamper(dir: &Path, sql: &'static str) {
    let mut connection = raw(dir).await;
    connection.execute(sqlx::raw_sql(sql)).await.unwrap();
    connection.close().await.unwrap();
}

pub async fn raw(dir: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(dir.join("caisson.db")).connect().await.unwrap()
}
