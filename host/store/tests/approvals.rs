//! Questions to a person: when they end, and that an approval is used up once.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use caisson_registry::{
    ApprovalDecision, ApprovalRecord, ApprovalState, AskTerms, Asked, Asker, Remembered, RememberedRecord, Store,
};
use caisson_store::SqliteStore;
use support::{open, tenant};

fn question(id: &str, of: &str, fingerprint: &str) -> ApprovalRecord {
    ApprovalRecord {
        id: id.into(),
        asker: Asker {
            tenant: tenant(of),
            token_id: "token".into(),
            agent: Some("agent".into()),
            user: None,
            plugin: "exec".into(),
            tool: "exec".into(),
        },
        fingerprint: fingerprint.into(),
        command: "ls".into(),
        directory: "/workspace".into(),
        rule: "exec.ask.always".into(),
        why: "why".into(),
        programs: vec!["/usr/bin/ls".into()],
        remember: vec![],
        asked_ms: 1,
    }
}

fn terms(now_ms: i64) -> AskTerms {
    AskTerms {
        now_ms,
        expires_ms: now_ms + 100,
        denied_since_ms: now_ms - 50,
        forget_before_ms: now_ms - 10_000,
        most_of_token: 2,
        most_of_tenant: 3,
    }
}

fn decision(id: &str, approved: bool, now_ms: i64) -> ApprovalDecision {
    ApprovalDecision {
        id: id.into(),
        approved,
        remembered: vec![],
        by: "boss".into(),
        now_ms,
        expires_ms: now_ms + 100,
    }
}

async fn state(store: &SqliteStore, id: &str, now_ms: i64) -> ApprovalState {
    store.approval(&tenant("acme"), id, now_ms).await.unwrap().unwrap().state
}

#[tokio::test]
async fn a_question_that_nobody_answered_in_time_cannot_be_answered() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    store.ask_approval(&question("1", "acme", "f"), &terms(0)).await.unwrap();
    assert_eq!(state(&store, "1", 99).await, ApprovalState::Pending);
    assert_eq!(state(&store, "1", 100).await, ApprovalState::Expired);
    assert!(!store.decide_approval(&decision("1", true, 100)).await.unwrap());
    assert_eq!(store.take_approval("1", 100).await.unwrap(), ApprovalState::Expired);
    let anew = store.ask_approval(&question("2", "acme", "f"), &terms(100)).await.unwrap();
    assert_eq!(anew, Asked::Pending { id: "2".into(), expires_ms: 200 });
    assert!(store.decide_approval(&decision("2", true, 199)).await.unwrap());
    assert!(!store.decide_approval(&decision("2", false, 199)).await.unwrap(), "it was answered");
    assert_eq!(state(&store, "2", 299).await, ApprovalState::Expired, "what is not called in time is not kept open");
    assert_eq!(store.take_approval("2", 299).await.unwrap(), ApprovalState::Expired);
}

#[tokio::test]
async fn an_approval_is_used_up_once_and_survives_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    store.ask_approval(&question("1", "acme", "f"), &terms(0)).await.unwrap();
    assert!(store.decide_approval(&decision("1", true, 10)).await.unwrap());
    store.close().await;
    let store = open(dir.path()).await;
    assert_eq!(state(&store, "1", 20).await, ApprovalState::Approved);
    let takes = (0..8).map(|_| store.take_approval("1", 20));
    let taken = futures::future::try_join_all(takes).await.unwrap();
    assert_eq!(taken.iter().filter(|state| **state == ApprovalState::Approved).count(), 1, "{taken:?}");
    assert!(taken.iter().all(|state| matches!(state, ApprovalState::Approved | ApprovalState::Used)));
    assert!(matches!(
        store.ask_approval(&question("2", "acme", "f"), &terms(20)).await.unwrap(),
        Asked::Pending { id, .. } if id == "2"
    ));
    store.decide_approval(&decision("2", true, 20)).await.unwrap();
    let (third, fourth) = (question("3", "acme", "f"), question("4", "acme", "f"));
    let (terms, asked) = (terms(30), Asked::Taken { id: "2".into() });
    let (one, other) = tokio::join!(store.ask_approval(&third, &terms), store.ask_approval(&fourth, &terms));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!((one == asked) != (other == asked), "{one:?} {other:?}");
}

#[tokio::test]
async fn a_denial_holds_for_a_while_and_questions_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    store.ask_approval(&question("1", "acme", "f"), &terms(0)).await.unwrap();
    store.decide_approval(&decision("1", false, 0)).await.unwrap();
    let again = store.ask_approval(&question("2", "acme", "f"), &terms(49)).await.unwrap();
    assert_eq!(again, Asked::Denied { id: "1".into() });
    assert!(matches!(
        store.ask_approval(&question("2", "acme", "f"), &terms(50)).await.unwrap(),
        Asked::Pending { .. }
    ));
    assert!(matches!(
        store.ask_approval(&question("3", "acme", "g"), &terms(50)).await.unwrap(),
        Asked::Pending { .. }
    ));
    assert_eq!(store.ask_approval(&question("4", "acme", "h"), &terms(50)).await.unwrap(), Asked::Full);
    let mut other = question("5", "acme", "h");
    other.asker.token_id = "other".into();
    assert!(matches!(store.ask_approval(&other, &terms(50)).await.unwrap(), Asked::Pending { .. }));
    (other.id, other.fingerprint, other.asker.token_id) = ("6".into(), "i".into(), "third".into());
    assert_eq!(store.ask_approval(&other, &terms(50)).await.unwrap(), Asked::Full);
    assert!(matches!(
        store.ask_approval(&question("7", "globex", "i"), &terms(50)).await.unwrap(),
        Asked::Pending { .. }
    ));
    assert!(store.approval(&tenant("globex"), "1", 0).await.unwrap().is_none());
    // Long after, all of it is forgotten.
    store.ask_approval(&question("8", "acme", "j"), &terms(20_000)).await.unwrap();
    let left = store.approvals(&tenant("acme"), 20_000).await.unwrap();
    assert_eq!(left.iter().map(|one| one.record.id.as_str()).collect::<Vec<_>>(), ["8"]);
}

#[tokio::test]
async fn what_is_approved_for_good_is_kept_with_the_answer_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    store.ask_approval(&question("1", "acme", "f"), &terms(0)).await.unwrap();
    let kept = RememberedRecord {
        id: "r".into(),
        tenant: tenant("acme"),
        agent: Some("agent".into()),
        user: None,
        plugin: "exec".into(),
        what: Remembered { program: "ls".into(), shape: "-a *".into(), path: "/usr/bin/ls".into() },
        approval: "1".into(),
        approved_ms: 1,
        approved_by: "boss".into(),
    };
    let always = |now_ms| ApprovalDecision { remembered: vec![kept.clone()], ..decision("1", true, now_ms) };
    assert!(!store.decide_approval(&always(100)).await.unwrap());
    assert_eq!(store.remembered(&tenant("acme")).await.unwrap(), []);
    assert!(store.decide_approval(&always(10)).await.unwrap());
    assert_eq!(store.remembered(&tenant("acme")).await.unwrap(), [kept]);
    assert_eq!(store.remembered(&tenant("globex")).await.unwrap(), []);
    assert!(!store.forget(&tenant("globex"), "r").await.unwrap());
    assert_eq!(state(&store, "1", 20).await, ApprovalState::Approved);
    assert!(store.forget(&tenant("acme"), "r").await.unwrap());
    assert_eq!(state(&store, "1", 20).await, ApprovalState::Used, "nothing of it is left");
    assert!(!store.forget(&tenant("acme"), "r").await.unwrap());
}
