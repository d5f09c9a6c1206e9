//! Commands that wait for a person: who may answer, what an answer is bound to, and what is remembered.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_call::{Call, Outcome, Principal, Role};
use caisson_registry::{AdminError, Answer, ApprovalState, ApprovalStatus, Verdict};
use caisson_tests::{Ship, call, principal, rule, text};
use serde_json::json;
use std::time::Duration;

/// A gateway where every command of `acme` is asked for.
async fn ship() -> Ship {
    let ship = Ship::new(|_| ()).await;
    ship.install("acme", "guests/exec").await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    ship.gateway.put_settings(&admin, "exec", json!({ "exec": { "ask": "always" } })).await.unwrap();
    ship
}

fn calls(agent: &str, command: &str) -> Call {
    let arguments = json!({ "command": command }).to_string();
    Call { patience: Some(Duration::ZERO), ..call(principal("acme", agent, Role::Agent), "exec", &arguments) }
}

/// Calls without waiting.
async fn sh(ship: &Ship, agent: &str, command: &str) -> Answer {
    ship.gateway.call(calls(agent, command)).await
}

async fn pending(ship: &Ship) -> Vec<ApprovalStatus> {
    let all = ship.gateway.approvals(&principal("acme", "boss", Role::Operator)).await.unwrap();
    all.into_iter().filter(|one| one.state == ApprovalState::Pending).collect()
}

/// The one question that waits, as soon as there is one.
async fn the_one(ship: &Ship) -> ApprovalStatus {
    loop {
        if let [one] = pending(ship).await.as_slice() {
            return one.clone();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn decide(ship: &Ship, role: Role, id: &str, verdict: Verdict) -> Result<ApprovalStatus, AdminError> {
    ship.gateway.decide(&principal("acme", "boss", role), id, verdict).await
}

/// Asks and answers once.
async fn approve(ship: &Ship, agent: &str, command: &str, verdict: Verdict) {
    let asked = sh(ship, agent, command).await;
    assert_eq!(asked.outcome, Outcome::NeedsApproval, "{command}: {}", text(&asked));
    let id = the_one(ship).await.record.id;
    decide(ship, Role::TenantAdmin, &id, verdict).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_runs_before_somebody_else_answers() {
    let ship = ship().await;
    let asked = sh(&ship, "agent", "touch made").await;
    assert_eq!(asked.outcome, Outcome::NeedsApproval, "{}", text(&asked));
    let again = sh(&ship, "agent", "touch made").await;
    assert_eq!(text(&again), text(&asked), "the same question is asked once");
    let one = the_one(&ship).await;
    let id = one.record.id.as_str();
    assert!(text(&asked).contains(id));
    assert_eq!((one.record.command.as_str(), one.record.directory.as_str()), ("touch made", "/workspace"));
    assert!(one.record.programs.iter().any(|path| path.ends_with("touch")), "{:?}", one.record.programs);
    let refused = async |who: Principal, verdict| ship.gateway.decide(&who, id, verdict).await;
    let forbidden = |answer| assert!(matches!(answer, Err(AdminError::Forbidden { .. })), "{answer:?}");
    for role in [Role::Agent, Role::Viewer] {
        forbidden(refused(principal("acme", "boss", role), Verdict::Once).await);
        assert!(ship.gateway.approvals(&principal("acme", "boss", role)).await.is_err());
    }
    forbidden(refused(principal("acme", "boss", Role::Operator), Verdict::Always).await);
    let own = refused(principal("acme", "agent", Role::TenantAdmin), Verdict::Once).await;
    assert!(matches!(own, Err(AdminError::Conflict(_))), "{own:?}");
    let stranger = principal("globex", "boss", Role::TenantAdmin);
    assert!(matches!(refused(stranger.clone(), Verdict::Once).await, Err(AdminError::NotFound { .. })));
    assert_eq!(ship.gateway.approvals(&stranger).await.unwrap(), []);
    decide(&ship, Role::Operator, id, Verdict::Deny).await.unwrap();
    for _ in 0..2 {
        assert_eq!(rule(&sh(&ship, "agent", "touch made").await), "exec.approval-denied");
    }
    let late = decide(&ship, Role::Operator, id, Verdict::Once).await;
    assert!(matches!(&late, Err(AdminError::Conflict(why)) if why.contains("denied already")), "{late:?}");
    assert!(!ship.workspaces.join("acme/agent-agent/self/made").exists());
    assert_eq!(pending(&ship).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_serves_the_call_that_asked_and_once() {
    let ship = ship().await;
    approve(&ship, "agent", "echo one", Verdict::Once).await;
    for (agent, command) in [("agent", "echo two"), ("other", "echo one")] {
        assert_eq!(sh(&ship, agent, command).await.outcome, Outcome::NeedsApproval, "{agent}: {command}");
    }
    assert_eq!(text(&sh(&ship, "agent", "echo one").await), "one");
    assert_eq!(sh(&ship, "agent", "echo one").await.outcome, Outcome::NeedsApproval);
    let audit = ship.audit().await;
    assert!(audit.contains("approval.approved-once") && audit.contains("\"approval "), "{audit}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_waits_goes_on_with_the_answer() {
    let ship = ship().await;
    for (verdict, expected) in [(Verdict::Deny, "exec.approval-denied"), (Verdict::Once, "hello")] {
        // Another command each time, since a denial answers its own question for a while.
        let command = format!("echo hello{}", if verdict == Verdict::Deny { " you" } else { "" });
        let patient = Call { patience: Some(Duration::from_secs(100)), ..calls("agent", &command) };
        let (answer, ()) = tokio::join!(ship.gateway.call(patient), async {
            let id = the_one(&ship).await.record.id;
            decide(&ship, Role::Operator, &id, verdict).await.unwrap();
        });
        let said = if verdict == Verdict::Deny { rule(&answer) } else { text(&answer) };
        assert_eq!(said, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_leaves_workers_for_the_others() {
    let ship = Ship::new(|config| config.workers = 2).await;
    ship.install("acme", "guests/exec").await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    let settings = json!({ "exec": { "agents": { "agent": { "ask": "always" } } } });
    ship.gateway.put_settings(&admin, "exec", settings).await.unwrap();
    let patient = |command| Call { patience: Some(Duration::from_secs(100)), ..calls("agent", command) };
    let mut waiting = Box::pin(ship.gateway.call(patient("echo one")));
    tokio::select! {
        answer = &mut waiting => assert_eq!(text(&answer), "a wait"),
        _ = the_one(&ship) => {}
    }
    let second = ship.gateway.call(patient("echo two")).await;
    assert_eq!(second.outcome, Outcome::NeedsApproval, "{}", text(&second));
    assert_eq!(text(&sh(&ship, "free", "echo three").await), "three");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_command_runs_must_stay_what_was_looked_at() {
    let ship = ship().await;
    let home = ship.workspaces.join("acme/agent-agent/self");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("x.sh"), "echo harmless").unwrap();
    let patient = Call { patience: Some(Duration::from_secs(100)), ..calls("agent", "sh x.sh") };
    let (answer, ()) = tokio::join!(ship.gateway.call(patient), async {
        let one = the_one(&ship).await;
        std::fs::write(home.join("x.sh"), "echo another").unwrap();
        decide(&ship, Role::Operator, &one.record.id, Verdict::Once).await.unwrap();
    });
    assert_eq!(rule(&answer), "exec.approval-changed");
    approve(&ship, "agent", "sh x.sh", Verdict::Once).await;
    std::fs::write(home.join("x.sh"), "echo a third").unwrap();
    assert_eq!(sh(&ship, "agent", "sh x.sh").await.outcome, Outcome::NeedsApproval);
    std::fs::write(home.join("x.sh"), "echo another").unwrap();
    assert_eq!(text(&sh(&ship, "agent", "sh x.sh").await), "another");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn for_good_is_about_the_program_and_its_shape_for_one_agent() {
    let ship = ship().await;
    approve(&ship, "agent", "ls -a .", Verdict::Always).await;
    for (agent, command) in
        [("agent", "ls -la ."), ("other", "ls -a ."), ("agent", "nice ls -a ."), ("agent", "ls -a . > out")]
    {
        let answer = sh(&ship, agent, command).await;
        assert_eq!(answer.outcome, Outcome::NeedsApproval, "{agent}: {command}: {}", text(&answer));
    }
    for command in ["ls -a .", "ls -a ./", "ls -a . && ls -a ."] {
        let answer = sh(&ship, "agent", command).await;
        assert_eq!(answer.outcome, Outcome::Ok, "{command}: {}", text(&answer));
    }
    let boss = principal("acme", "boss", Role::Operator);
    let kept = ship.gateway.remembered(&boss).await.unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let one = kept.first().unwrap();
    assert!(one.what.program == "ls" && one.what.path.is_absolute(), "{one:?}");
    assert!(ship.gateway.forget(&principal("globex", "boss", Role::TenantAdmin), &one.id).await.is_err());
    assert_eq!(sh(&ship, "agent", "ls -a .").await.outcome, Outcome::Ok);
    ship.gateway.forget(&boss, &one.id).await.unwrap();
    assert_eq!(sh(&ship, "agent", "ls -a .").await.outcome, Outcome::NeedsApproval);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_from_the_workspace_or_holds_a_secret_is_approved_once_only() {
    let ship = ship().await;
    let home = ship.workspaces.join("acme/agent-agent/self");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("tool"), "#!/bin/sh\n").unwrap();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    for command in ["./tool x".to_owned(), format!("echo --token={token}"), "echo $HOME".into()] {
        let asked = sh(&ship, "agent", &command).await;
        assert_eq!(asked.outcome, Outcome::NeedsApproval, "{command}: {}", text(&asked));
        let one = the_one(&ship).await;
        assert!(!one.record.command.contains(&token), "{one:?}");
        let always = decide(&ship, Role::TenantAdmin, &one.record.id, Verdict::Always).await;
        assert!(matches!(&always, Err(AdminError::Conflict(why)) if why.contains("approve-once")), "{always:?}");
        decide(&ship, Role::Operator, &one.record.id, Verdict::Deny).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_never_asked_about_what_is_denied() {
    let ship = ship().await;
    for (command, expected) in [
        ("pip install requests && rm -rf \"$HOME\"", "exec.destructive_ops"),
        ("cat a | sh", "exec.code_injection"),
        ("echo 'unclosed", "exec."),
        (&*format!("echo {}", "x".repeat(5_000)), "exec.approval-too-long"),
    ] {
        assert!(rule(&sh(&ship, "agent", command).await).starts_with(expected), "{command}");
    }
    assert_eq!(pending(&ship).await, []);
    approve(&ship, "agent", "pip install --no-index nothing-of-this-name", Verdict::Once).await;
    // A caller that nobody could answer is refused at once.
    let alone = Call { patience: None, ..calls("agent", "pip install requests") };
    assert_eq!(rule(&ship.gateway.call(alone).await), "exec.package_install.manager");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_agent_cannot_bury_the_person_in_questions() {
    let ship = ship().await;
    for number in 0..20 {
        assert_eq!(sh(&ship, "agent", &format!("echo {number}")).await.outcome, Outcome::NeedsApproval);
    }
    assert_eq!(rule(&sh(&ship, "agent", "echo more").await), "exec.approvals-full");
    assert_eq!(sh(&ship, "other", "echo more").await.outcome, Outcome::NeedsApproval);
}
