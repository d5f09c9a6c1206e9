//! Programs that run with credentials: who may run them and how, what they are given, and where their secrets never are. Everything through the
//! built-in tool `exec` and the real confinement, with `printenv` and `cat` of the system as the programs.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_call::{Call, CallContext, Outcome, Principal, ProgressSink, Role};
use caisson_registry::{AdminError, Answer, ApprovalState, ProgramHolder, Store, Verdict};
use caisson_tests::{Ship, call, principal, rule, text};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What must be nowhere.
const SECRET: &str = "zq7-Wm2-Kp9-Vx4-quite-secret";

fn admin(tenant: &str) -> Principal {
    principal(tenant, "admin", Role::TenantAdmin)
}

/// A gateway whose tenant `acme` may look at variables; the groups of the scanner that deny it are off.
async fn ship() -> Ship {
    let ship = Ship::new(|_| ()).await;
    ship.install("acme", "guests/exec").await;
    let off = json!({ "exec": { "deny_groups": { "env_dump": false } } });
    ship.gateway.put_settings(&admin("acme"), "exec", off).await.unwrap();
    ship
}

/// Registers a program with a secret and a variable that is none.
async fn register(ship: &Ship, name: &str, more: Value) -> String {
    let mut body = json!({
        "binary_name": name,
        "env": { "TEST_TOKEN": SECRET, "TEST_REGION": { "kind": "value", "value": "north" } },
        "accepted_exposure": "the tests read it back",
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ship.gateway.register_program(&admin("acme"), &body).await.unwrap().id
}

async fn grant(ship: &Ship, id: &str, agent: &str, body: Value) {
    ship.gateway.grant_program(&admin("acme"), id, agent, &body).await.unwrap();
}

async fn sh(ship: &Ship, command: &str) -> Answer {
    ship.call("acme", "exec", &json!({ "command": command }).to_string()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_registered_runs_only_where_it_is_granted_and_on() {
    let ship = ship().await;
    assert_eq!(sh(&ship, "printenv HOME").await.outcome, Outcome::Ok, "not registered yet");
    let id = register(&ship, "printenv", json!({})).await;
    for command in ["printenv TEST_REGION", "/usr/bin/printenv HOME", "echo a; printenv", "sh -c 'printenv'"] {
        let refused = sh(&ship, command).await;
        assert_eq!(rule(&refused), "programs.not-granted", "{command}");
        assert!(text(&refused).contains("`printenv`"), "{}", text(&refused));
    }
    grant(&ship, &id, "other", json!({})).await;
    assert_eq!(rule(&sh(&ship, "printenv TEST_REGION").await), "programs.not-granted");
    grant(&ship, &id, "agent", json!({ "enabled": false })).await;
    assert_eq!(rule(&sh(&ship, "printenv TEST_REGION").await), "programs.not-granted");
    grant(&ship, &id, "agent", json!({})).await;
    assert_eq!(text(&sh(&ship, "printenv TEST_REGION").await), "north");
    ship.gateway.change_program(&admin("acme"), &id, &json!({ "enabled": false })).await.unwrap();
    assert_eq!(rule(&sh(&ship, "printenv TEST_REGION").await), "programs.disabled");
    ship.gateway.change_program(&admin("acme"), &id, &json!({ "enabled": true })).await.unwrap();
    assert_eq!(text(&sh(&ship, "printenv TEST_REGION").await), "north");
    ship.gateway.revoke_program(&admin("acme"), &id, "agent").await.unwrap();
    assert_eq!(rule(&sh(&ship, "printenv TEST_REGION").await), "programs.not-granted");
    ship.gateway.unregister_program(&admin("acme"), &id).await.unwrap();
    assert_eq!(text(&sh(&ship, "printenv HOME").await), "/tmp");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_runs_alone_as_it_is_written_and_never_by_another() {
    let ship = ship().await;
    let id = register(&ship, "printenv", json!({ "deny_args": [{ "words": "TEST_REGION" }] })).await;
    grant(&ship, &id, "agent", json!({})).await;
    let home = ship.workspaces.join("acme/agent-agent/self");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("printenv"), "#!/bin/sh\necho mine\n").unwrap();
    std::fs::set_permissions(home.join("printenv"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for (command, expected) in [
        ("printenv A; printenv B", "programs.chain"),
        ("printenv A && true", "programs.chain"),
        ("printenv A | cat", "programs.pipe"),
        ("printenv A > out", "programs.redirect"),
        ("printenv A &", "programs.background"),
        ("echo $(printenv A)", "programs.substitution"),
        ("printenv $HOME", "programs.expansion"),
        ("A=b printenv A", "programs.assignment"),
        ("env printenv A", "programs.wrapped"),
        ("sh -c 'printenv A'", "programs.wrapped"),
        ("./printenv", "programs.path"),
        ("/workspace/printenv", "programs.path"),
        ("PRINTENV A", "programs.spelling"),
        ("printenv TEST_REGION", "programs.denied-arguments"),
    ] {
        let refused = sh(&ship, command).await;
        assert_eq!(rule(&refused), expected, "{command}: {}", text(&refused));
    }
    grant(&ship, &id, "agent", json!({ "deny_args": [] })).await;
    assert_eq!(text(&sh(&ship, "printenv TEST_REGION").await), "north");
    assert_eq!(text(&sh(&ship, "/usr/bin/printenv TEST_REGION").await), "north");
    // The scanner judges it all the same.
    ship.gateway.put_settings(&admin("acme"), "exec", json!({})).await.unwrap();
    assert!(rule(&sh(&ship, "printenv TEST_REGION").await).starts_with("exec.env_dump"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_variables_and_files_reach_it_and_no_other_command() {
    let ship = ship().await;
    let id = register(&ship, "printenv", json!({})).await;
    grant(&ship, &id, "agent", json!({})).await;
    let all = text(&sh(&ship, "printenv").await);
    let mut names: Vec<&str> = all.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "PATH", "TEST_REGION", "TEST_TOKEN", "USER"], "{all}");
    assert!(!text(&sh(&ship, "env").await).contains("TEST_"));
    let file = json!({ "file_env": ["TEST_FILE"], "env": { "TEST_FILE": format!("[key]\n{SECRET}\n") } });
    let id = register(&ship, "cat", file).await;
    grant(&ship, &id, "agent", json!({})).await;
    // All of it is a secret, and there.
    assert_eq!(text(&sh(&ship, "cat /run/files/TEST_FILE").await), "[REDACTED]");
    for command in ["ls /run/files", "head /run/files/TEST_FILE"] {
        let answer = text(&sh(&ship, command).await);
        assert!(answer.contains("No such file") && !answer.contains("REDACTED"), "{answer}");
    }
    let own = json!({ "credential_type": "env", "env": { "TEST_REGION": { "kind": "value", "value": "south" } } });
    let other = ProgramHolder::Agent("other".into());
    let printenv = id_of(&ship, "printenv").await;
    ship.gateway.put_credential(&admin("acme"), &printenv, other, &own).await.unwrap();
    assert_eq!(text(&sh(&ship, "printenv TEST_REGION").await), "north");
    let agent = ProgramHolder::Agent("agent".into());
    ship.gateway.put_credential(&admin("acme"), &printenv, agent.clone(), &own).await.unwrap();
    assert_eq!(text(&sh(&ship, "printenv TEST_REGION").await), "south");
    ship.gateway.remove_credentials(&admin("acme"), &printenv, &agent).await.unwrap();
    assert_eq!(text(&sh(&ship, "printenv TEST_REGION").await), "north");
}

async fn id_of(ship: &Ship, name: &str) -> String {
    let all = ship.gateway.programs(&admin("acme")).await.unwrap();
    all.into_iter().find(|one| one.name == name).unwrap().id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_secrets_are_in_nothing_that_leaves_or_is_kept() {
    let ship = ship().await;
    let id = register(&ship, "printenv", json!({})).await;
    grant(&ship, &id, "agent", json!({})).await;
    let progress = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&progress);
    let sink: ProgressSink = Arc::new(move |one| heard.lock().unwrap().push_str(&format!("{one:?}")));
    let who = principal("acme", "agent", Role::Agent);
    let with_progress = Call { progress: Some(sink), ..call(who, "exec", r#"{"command":"printenv TEST_TOKEN"}"#) };
    let answer = ship.gateway.call(with_progress).await;
    assert_eq!((answer.outcome, text(&answer)), (Outcome::Ok, "[REDACTED]".into()));
    let shown = ship.gateway.programs(&admin("acme")).await.unwrap();
    let shown = serde_json::to_string(&shown).unwrap();
    assert!(shown.contains("\"***\"") && shown.contains("north"), "{shown}");
    let audit = ship.audit().await;
    assert!(audit.contains("program.registered") && audit.contains("program.granted"), "{audit}");
    assert!(audit.contains("TEST_TOKEN") && audit.contains("\\\"exposed\\\":true"), "{audit}");
    let told = [format!("{answer:?}"), progress.lock().unwrap().clone(), shown, audit];
    assert!(told.iter().all(|text| !text.contains(SECRET)), "{told:?}");
    let kept = std::fs::read_dir(ship.data()).unwrap().map(|entry| entry.unwrap().path());
    let mut files = 0;
    for path in kept.filter(|path| path.is_file()) {
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()), "{}", path.display());
        files += 1;
    }
    assert!(files > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_tenant_has_none_of_it_and_only_its_administrator_sets_it_up() {
    let ship = ship().await;
    ship.install("globex", "guests/exec").await;
    let off = json!({ "exec": { "deny_groups": { "env_dump": false } } });
    ship.gateway.put_settings(&admin("globex"), "exec", off).await.unwrap();
    let id = register(&ship, "printenv", json!({ "is_global": true })).await;
    assert_eq!(text(&sh(&ship, "printenv TEST_REGION").await), "north");
    let theirs = ship.call("globex", "exec", r#"{"command":"printenv"}"#).await;
    assert!(theirs.outcome == Outcome::Ok && !text(&theirs).contains("TEST_"), "{}", text(&theirs));
    let gateway = &ship.gateway;
    assert_eq!(gateway.programs(&admin("globex")).await.unwrap(), []);
    let none = gateway.program(&admin("globex"), &id).await;
    assert!(matches!(none, Err(AdminError::NotFound { .. })), "{none:?}");
    assert!(gateway.grant_program(&admin("globex"), &id, "agent", &json!({})).await.is_err());
    assert!(gateway.unregister_program(&admin("globex"), &id).await.is_err());
    for role in [Role::Viewer, Role::Agent, Role::Operator] {
        let who = principal("acme", "boss", role);
        let body = json!({ "binary_name": "cat" });
        let forbidden = |answer: Result<(), AdminError>| assert!(matches!(answer, Err(AdminError::Forbidden { .. })));
        forbidden(gateway.programs(&who).await.map(drop));
        forbidden(gateway.register_program(&who, &body).await.map(drop));
        forbidden(gateway.change_program(&who, &id, &json!({})).await.map(drop));
        forbidden(gateway.grant_program(&who, &id, "agent", &json!({})).await.map(drop));
        forbidden(gateway.unregister_program(&who, &id).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_keeps_everything_and_without_the_store_no_command_runs() {
    let ship = ship().await;
    let id = register(&ship, "printenv", json!({ "deny_args": ["HOME"] })).await;
    grant(&ship, &id, "agent", json!({})).await;
    let ship = ship.restarted().await;
    assert_eq!(rule(&sh(&ship, "printenv HOME").await), "programs.denied-arguments");
    assert_eq!(text(&sh(&ship, "printenv TEST_REGION TEST_TOKEN").await), "north\n[REDACTED]");
    ship.store.close().await;
    for command in ["printenv TEST_REGION", "echo hello"] {
        let refused = text(&sh(&ship, command).await);
        assert!(refused.contains("cannot be read now"), "{command}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_any_more_is_refused_by_name() {
    let ship = ship().await;
    let id = register(&ship, "printenv", json!({ "is_global": true })).await;
    let mut record = ship.store.programs().await.unwrap().pop().unwrap();
    record.settings = record.settings.replace("passthrough", "no-such-adapter");
    ship.store.put_program(&record, "{}").await.unwrap();
    // Any change reads the store anew.
    ship.gateway.put_settings(&admin("acme"), "exec", json!({})).await.unwrap();
    let refused = sh(&ship, "printenv TEST_REGION").await;
    assert_eq!(rule(&refused), "programs.broken", "{}", text(&refused));
    assert_eq!(sh(&ship, "echo hello").await.outcome, Outcome::Ok);
    let shown = ship.gateway.program(&admin("acme"), &id).await.unwrap();
    assert!(shown.broken.is_some_and(|why| why.contains("no-such-adapter") || why.contains("adapter")));
    ship.gateway.unregister_program(&admin("acme"), &id).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exposure_and_networks_need_what_is_not_there() {
    let ship = ship().await;
    let exposed = json!({ "accepted_exposure": "", "is_global": true });
    let id = register(&ship, "printenv", exposed).await;
    assert_eq!(rule(&sh(&ship, "printenv TEST_REGION").await), "programs.exposure");
    ship.gateway
        .change_program(&admin("acme"), &id, &json!({ "accepted_exposure": "it may be read back" }))
        .await
        .unwrap();
    assert_eq!(text(&sh(&ship, "printenv TEST_REGION").await), "north");
    // Any file of the name will do: git itself is not started.
    let git = json!({ "binary_name": "git", "is_global": true, "adapter_name": "git", "accepted_exposure": "only a test of it" });
    let Ok(git) = ship.gateway.register_program(&admin("acme"), &git).await else { return };
    let token = json!({ "credential_type": "token", "host_scope": "git.example.com", "secret": SECRET });
    let agent = ProgramHolder::Agent("agent".into());
    assert_eq!(rule(&sh(&ship, "git clone https://git.example.com/a").await), "programs.credential-missing");
    ship.gateway.put_credential(&admin("acme"), &git.id, agent, &token).await.unwrap();
    assert_eq!(rule(&sh(&ship, "git clone https://git.example.com/a").await), "programs.no-network");
    let local = sh(&ship, "git --version").await;
    assert!(text(&local).starts_with("git version"), "{}", text(&local));
    // In a container another file may have the name.
    let boxed = json!({ "exec": { "sandbox_config": { "image": "any" }, "deny_groups": { "env_dump": false } } });
    ship.gateway.put_settings(&admin("acme"), "exec", boxed).await.unwrap();
    assert_eq!(rule(&sh(&ship, "printenv TEST_REGION").await), "programs.in-container");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_asked_about_the_file_and_the_arguments() {
    let ship = ship().await;
    register(&ship, "printenv", json!({ "is_global": true })).await;
    let asks = json!({ "exec": { "ask": "always", "deny_groups": { "env_dump": false } } });
    ship.gateway.put_settings(&admin("acme"), "exec", asks).await.unwrap();
    let run = async |command: &str| {
        let who = principal("acme", "agent", Role::Agent);
        let arguments = json!({ "command": command }).to_string();
        ship.gateway
            .call(Call {
                patience: Some(Duration::ZERO),
                context: CallContext::default(),
                ..call(who, "exec", &arguments)
            })
            .await
    };
    assert_eq!(run("printenv TEST_REGION").await.outcome, Outcome::NeedsApproval);
    let boss = principal("acme", "boss", Role::TenantAdmin);
    let all = ship.gateway.approvals(&boss).await.unwrap();
    let one = all.iter().find(|one| one.state == ApprovalState::Pending).unwrap();
    assert!(one.record.programs.iter().any(|path| path.starts_with("/usr")), "{one:?}");
    assert!(one.record.why.contains("credentials of `printenv`"), "{one:?}");
    let always = ship.gateway.decide(&boss, &one.record.id, Verdict::Always).await;
    assert!(matches!(always, Err(AdminError::Conflict(_))), "{always:?}");
    ship.gateway.decide(&boss, &one.record.id, Verdict::Once).await.unwrap();
    assert_eq!(run("printenv HOME").await.outcome, Outcome::NeedsApproval);
    assert_eq!(text(&run("printenv TEST_REGION").await), "north");
    assert_eq!(run("printenv TEST_REGION").await.outcome, Outcome::NeedsApproval);
}
