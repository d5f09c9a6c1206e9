//! What the store refuses.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use caisson_audit::{Audit, AuditEvent, AuditSink};
use caisson_contract::SecretBinding;
use caisson_registry::{SecretRecord, Store};
use caisson_store::{MasterKey, OpenError, SqliteStore, new_token};
use sqlx::Executor;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use support::{NEVER, kept, open, principal, raw, settings, tamper, tenant};

const VALUE: &str = "correct-horse-battery";

fn secret(of: &str) -> SecretRecord {
    let binding = SecretBinding { host: "api.example.com".into(), scheme: "https".into(), port: 443 };
    SecretRecord { tenant: tenant(of), name: "weather".into(), bindings: vec![binding] }
}

async fn refused(store: &SqliteStore, of: &str) -> String {
    let error = store.reveal_secret(&tenant(of), "weather").await.unwrap_err().to_string();
    assert!(error.contains("`weather`") && !error.contains(VALUE), "{error}");
    error
}

async fn try_open(dir: &Path) -> Result<SqliteStore, OpenError> {
    SqliteStore::open(dir, MasterKey::random().unwrap()).await
}

#[tokio::test]
async fn a_secret_does_not_open_with_another_key() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).await.put_secret(&secret("acme"), VALUE).await.unwrap();
    // Whoever takes the key's mark away gets the database open and still reads nothing.
    tamper(dir.path(), "DELETE FROM audit_head").await;
    let error = refused(&try_open(dir.path()).await.unwrap(), "acme").await;
    assert!(error.contains("start with the right key"), "{error}");
    tamper(dir.path(), "DELETE FROM audit_head").await;
    assert_eq!(**open(dir.path()).await.reveal_secret(&tenant("acme"), "weather").await.unwrap().unwrap(), *VALUE);
}

#[tokio::test]
async fn a_secret_that_was_moved_changed_or_bound_elsewhere_does_not_open() {
    for change in [
        "UPDATE secrets SET tenant = 'other'",
        "UPDATE secrets SET sealed = '00' || substr(sealed, 3)",
        "UPDATE secrets SET sealed = substr(sealed, 1, 40)",
        "UPDATE secrets SET sealed = 'ü'",
        "UPDATE secrets SET bindings = replace(bindings, 'api.example.com', 'evil.example')",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path()).await;
        store.put_secret(&secret("acme"), VALUE).await.unwrap();
        tamper(dir.path(), change).await;
        refused(&store, if change.contains("tenant") { "other" } else { "acme" }).await;
    }
}

#[tokio::test]
async fn no_file_of_the_folder_holds_a_secret_or_a_token() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    store.put_secret(&secret("acme"), VALUE).await.unwrap();
    let (token, id) = new_token();
    store.put_token(&token, &principal(id)).await.unwrap();
    let hidden = token.rsplit('_').next().unwrap().to_owned();
    for file in std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
    {
        let bytes = std::fs::read(&file).unwrap();
        for needle in [VALUE, &hidden] {
            assert!(!bytes.windows(needle.len()).any(|window| window == needle.as_bytes()), "{}", file.display());
        }
    }
}

#[tokio::test]
async fn a_wrong_revoked_promoted_or_mislabelled_token_stands_for_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let (token, id) = new_token();
    assert!(store.put_token(&token, &principal("another".into())).await.is_err());
    store.put_token(&token, &principal(id.clone())).await.unwrap();
    let other = new_token().0;
    let forged = format!("csn_{id}_{}", other.rsplit('_').next().unwrap());
    for wrong in ["", "csn_", "csn__", &id, &other, &forged, &token[..token.len() - 1], &format!("{token}0")] {
        assert_eq!(store.token(wrong).await.unwrap(), None, "{wrong}");
    }
    assert_eq!(store.token(&token).await.unwrap(), Some(principal(id.clone())));
    assert!(matches!(try_open(dir.path()).await, Err(OpenError::OtherKey(_))));
    tamper(dir.path(), "UPDATE tokens SET principal = replace(principal, '\"agent\",\"token', '\"owner\",\"token')")
        .await;
    assert_eq!(store.token(&token).await.unwrap(), None);
    assert!(store.remove_token(&id).await.unwrap());
    assert!(!store.remove_token(&id).await.unwrap());
    assert_eq!(store.token(&token).await.unwrap(), None);
}

#[tokio::test]
async fn a_newer_database_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    store.put_settings(&settings("weather", 1)).await.unwrap();
    store.close().await;
    tamper(dir.path(), "PRAGMA user_version = 4711").await;
    let path = dir.path().join("caisson.db");
    let before = std::fs::read(&path).unwrap();
    let error = try_open(dir.path()).await.unwrap_err();
    assert!(matches!(error, OpenError::Newer { has: 4711, .. }), "{error}");
    assert!(error.to_string().contains("caisson.db") && error.to_string().contains("newer program"), "{error}");
    assert!(std::fs::read(&path).unwrap() == before);
    assert!(!dir.path().join("caisson.db-wal").exists());
}

#[tokio::test]
async fn a_newer_version_that_only_the_log_tells_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    // The open store keeps the log from being written back.
    tamper(dir.path(), "PRAGMA user_version = 4711").await;
    assert!(matches!(try_open(dir.path()).await, Err(OpenError::Newer { has: 4711, .. })));
    drop(store);
}

#[tokio::test]
async fn what_is_not_a_database_is_left_as_it_is() {
    for content in [&b"x"[..], b"SQLite format 3\0", &[b'x'; 5000]] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("caisson.db");
        std::fs::write(&path, content).unwrap();
        let error = try_open(dir.path()).await.unwrap_err();
        assert!(matches!(error, OpenError::NotADatabase(_)), "{error}");
        assert!(error.to_string().contains("caisson.db"), "{error}");
        assert!(std::fs::read(&path).unwrap() == content);
    }
}

#[tokio::test]
async fn a_damaged_database_is_named() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).await.close().await;
    let path = dir.path().join("caisson.db");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.iter_mut().skip(100).for_each(|byte| *byte = 0xff);
    std::fs::write(&path, bytes).unwrap();
    let error = match try_open(dir.path()).await {
        Err(error) => error.to_string(),
        Ok(store) => store.plugins().await.unwrap_err().to_string(),
    };
    assert!(error.contains("damaged") || error.contains("malformed"), "{error}");
}

#[tokio::test]
async fn a_path_that_cannot_be_a_database_is_named() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("caisson.db")).unwrap();
    assert!(try_open(dir.path()).await.unwrap_err().to_string().contains("caisson.db"));
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(try_open(&file).await.unwrap_err().to_string().contains("file/artefacts"));
}

#[tokio::test]
async fn a_database_that_another_program_locks_is_named() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).await.close().await;
    let mut other = raw(dir.path()).await;
    other.execute("PRAGMA locking_mode = EXCLUSIVE").await.unwrap();
    other.execute("UPDATE settings SET value = ''").await.unwrap();
    let error = try_open(dir.path()).await.unwrap_err();
    assert!(matches!(error, OpenError::Locked(_)), "{error}");
}

#[tokio::test]
async fn nobody_else_may_read_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let store = SqliteStore::open(&data, MasterKey::random().unwrap()).await.unwrap();
    store.put_settings(&settings("weather", 1)).await.unwrap();
    let digest = blake3::hash(b"bytes").to_hex().to_string();
    store.put_artefact(&digest, b"bytes").await.unwrap();
    for path in ["", "caisson.db", "caisson.db-wal", "caisson.db-shm", "artefacts", &format!("artefacts/{digest}.wasm")]
    {
        let mode = std::fs::metadata(data.join(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{path}");
    }
}

#[tokio::test]
async fn a_component_is_what_its_digest_says_or_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let digest = blake3::hash(b"bytes").to_hex().to_string();
    for wrong in ["", "..", "../../../etc/passwd", &digest.to_uppercase(), &"0".repeat(64)] {
        assert!(store.put_artefact(wrong, b"bytes").await.is_err(), "{wrong}");
    }
    assert!(store.artefact("../master.key").await.is_err());
    assert_eq!(store.artefact(&digest).await.unwrap(), None);
    store.put_artefact(&digest, b"bytes").await.unwrap();
    let path = dir.path().join(format!("artefacts/{digest}.wasm"));
    std::fs::write(&path, b"other").unwrap();
    assert!(store.artefact(&digest).await.unwrap_err().to_string().contains("is not what it was"));
    // Installing it again mends it.
    store.put_artefact(&digest, b"bytes").await.unwrap();
    assert_eq!(store.artefact(&digest).await.unwrap().unwrap(), b"bytes");
}

#[tokio::test]
async fn an_expired_output_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    store.put_kept(&kept("stays", 10, NEVER)).await.unwrap();
    store.put_kept(&kept("goes", 10, 1_000)).await.unwrap();
    assert_eq!(store.kept("goes").await.unwrap(), None);
    assert_eq!(store.kept("stays").await.unwrap(), Some(kept("stays", 10, NEVER)));
    assert_eq!(store.kept("never was").await.unwrap(), None);
}

#[tokio::test]
async fn a_tenant_that_keeps_too_much_loses_its_own_oldest() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let mut others = kept("others", 10, NEVER - 1_000);
    others.tenant = tenant("other");
    store.put_kept(&others).await.unwrap();
    for number in 0..9 {
        store.put_kept(&kept(&format!("n{number}"), 16 << 20, NEVER - 100 + number)).await.unwrap();
    }
    assert_eq!(store.kept("n0").await.unwrap(), None);
    assert_eq!(store.kept("n2").await.unwrap(), None);
    assert!(store.kept("n3").await.unwrap().is_some());
    assert!(store.kept("n8").await.unwrap().is_some());
    assert!(store.kept("others").await.unwrap().is_some());
}

#[tokio::test]
async fn a_change_of_the_audit_in_the_database_is_found() {
    for (change, number) in [
        ("UPDATE audit SET event = replace(event, '150', '151') WHERE number = 150", 150),
        ("DELETE FROM audit WHERE number = 7", 7),
        ("DELETE FROM audit WHERE number > 190", 191),
        ("DELETE FROM audit WHERE number > 128; UPDATE audit_head SET number = 128", 128),
        (
            "UPDATE audit SET number = -number WHERE number IN (20, 21); UPDATE audit SET number = 41 + number WHERE number < 0",
            20,
        ),
        ("UPDATE audit SET checkpoint = NULL WHERE number = 64", 64),
        ("DELETE FROM audit_head", 200),
        ("DELETE FROM audit", 1),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(open(dir.path()).await);
        assert_eq!(store.newest().await.unwrap(), None);
        assert_eq!(store.verify_audit().await.unwrap(), Ok(0));
        // Two runs of the gateway: the second goes on where the first ended.
        for count in [1..=100, 101..=200] {
            let audit = Audit::start(Arc::clone(&store) as _, store.audit_key());
            count.for_each(|count| audit.record(AuditEvent::Lost { count }));
            audit.flush().await;
        }
        assert_eq!(store.verify_audit().await.unwrap(), Ok(200));
        tamper(dir.path(), change).await;
        assert_eq!(store.verify_audit().await.unwrap().map_err(|broken| broken.number), Err(number), "{change}");
    }
}

#[tokio::test]
async fn another_master_key_is_refused_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let of = |byte: u8| {
        let path = dir.path().join(format!("{byte}.key"));
        std::fs::write(&path, format!("{byte:02x}").repeat(32)).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        MasterKey::from_file_or_create(&path).unwrap()
    };
    SqliteStore::open(dir.path(), of(1)).await.unwrap().close().await;
    let error = SqliteStore::open(dir.path(), of(2)).await.err().unwrap().to_string();
    assert!(error.contains("bring back the key"), "{error}");
    SqliteStore::open(dir.path(), of(1)).await.unwrap();
}
