//! Programs that run with credentials: what is sealed opens in its own place only.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use caisson_registry::{ProgramCredentialRecord, ProgramGrantRecord, ProgramHolder, ProgramRecord, SealedOf, Store};
use caisson_store::SqliteStore;
use support::{open, tamper, tenant};

const SECRET: &str = "s3cret-value-of-gh";

async fn filled(dir: &std::path::Path) -> SqliteStore {
    let store = open(dir).await;
    for (of, id) in [("acme", "p1"), ("globex", "p2")] {
        let program =
            ProgramRecord { tenant: tenant(of), id: id.into(), name: "gh".into(), settings: "{\"a\":1}".into() };
        store.put_program(&program, &format!("{SECRET} {of}")).await.unwrap();
    }
    let grant = ProgramGrantRecord {
        tenant: tenant("acme"),
        program: "p1".into(),
        agent: "helper".into(),
        settings: "{}".into(),
    };
    store.put_program_grant(&grant, SECRET).await.unwrap();
    for holder in [ProgramHolder::Agent("helper".into()), ProgramHolder::User("helper".into())] {
        let credential =
            ProgramCredentialRecord { tenant: tenant("acme"), program: "p1".into(), holder, slot: "env:".into() };
        store.put_program_credential(&credential, SECRET).await.unwrap();
    }
    store
}

async fn unopened(store: &SqliteStore) -> Vec<SealedOf> {
    let all = store.reveal_programs(&tenant("acme")).await.unwrap();
    all.into_iter().filter(|(_, opened)| opened.is_none()).map(|(of, _)| of).collect()
}

#[tokio::test]
async fn a_row_that_was_moved_or_changed_does_not_open_and_is_still_known() {
    let grant = SealedOf::Grant("p1".into(), "other".into());
    let credential = SealedOf::Credential("p1".into(), ProgramHolder::Agent("other".into()), "env:".into());
    for (sql, shut) in [
        ("UPDATE programs SET settings = '{\"a\":2}' WHERE tenant = 'acme'", SealedOf::Program("p1".into())),
        (
            "UPDATE programs SET sealed = (SELECT sealed FROM programs WHERE tenant = 'globex')",
            SealedOf::Program("p1".into()),
        ),
        ("UPDATE program_grants SET agent = 'other'", grant),
        ("UPDATE program_grants SET settings = '{\"enabled\":true}'", SealedOf::Grant("p1".into(), "helper".into())),
        ("UPDATE program_credentials SET holder = 'other' WHERE holder_kind = 'agent'", credential),
    ] {
        let dir = tempfile::tempdir().unwrap();
        filled(dir.path()).await.close().await;
        tamper(dir.path(), sql).await;
        let store = open(dir.path()).await;
        assert_eq!(unopened(&store).await, [shut], "{sql}");
        assert_eq!(store.programs().await.unwrap().len(), 2, "{sql}");
    }
}

#[tokio::test]
async fn what_is_kept_is_sealed_belongs_to_its_tenant_and_goes_with_its_program() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path()).await;
    let of_acme = store.reveal_programs(&tenant("acme")).await.unwrap();
    assert_eq!(of_acme.len(), 4);
    assert_eq!(
        of_acme.get(&SealedOf::Program("p1".into())).unwrap().as_ref().unwrap().as_str(),
        format!("{SECRET} acme")
    );
    assert_eq!(store.reveal_programs(&tenant("globex")).await.unwrap().len(), 1);
    assert!(store.reveal_programs(&tenant("nobody")).await.unwrap().is_empty());
    store.close().await;
    for entry in std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        let bytes = std::fs::read(entry.path()).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()), "{}", entry.path().display());
    }
    let store = open(dir.path()).await;
    assert_eq!(store.reveal_programs(&tenant("acme")).await.unwrap(), of_acme);
    assert!(!store.remove_program(&tenant("globex"), "p1").await.unwrap());
    assert!(store.remove_program(&tenant("acme"), "p1").await.unwrap());
    assert!(store.program_grants().await.unwrap().is_empty() && store.program_credentials().await.unwrap().is_empty());
    assert_eq!(store.programs().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_name_is_registered_once_in_a_tenant() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path()).await;
    let again = ProgramRecord { tenant: tenant("acme"), id: "p9".into(), name: "gh".into(), settings: "{}".into() };
    assert!(store.put_program(&again, "{}").await.is_err());
    let user = ProgramHolder::User("helper".into());
    assert!(store.remove_program_credentials(&tenant("acme"), "p1", &user).await.unwrap());
    assert!(!store.remove_program_credentials(&tenant("acme"), "p1", &user).await.unwrap());
    assert!(store.remove_program_grant(&tenant("acme"), "p1", "helper").await.unwrap());
    assert_eq!(store.program_credentials().await.unwrap().len(), 1);
}
