//! Commands: what is refused, by which rule, and what a command that runs can reach. Everything through the built-in tool `exec`, the real
//! scanner and the real confinement.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_call::{Outcome, Role};
use caisson_contract::{Access, Capabilities, ExecRule, FilesRule};
use caisson_guard::shell::Group;
use caisson_registry::{Answer, GrantRequest};
use caisson_tests::{Ship, call, component, principal, rule, text};
use serde_json::{Value, json};
use std::time::Duration;

async fn ship() -> Ship {
    let ship = Ship::new(|_| ()).await;
    ship.install("acme", "guests/exec").await;
    ship
}

async fn sh(ship: &Ship, command: &str) -> Answer {
    ship.call("acme", "exec", &json!({ "command": command }).to_string()).await
}

async fn settings(ship: &Ship, value: Value) -> Result<(), String> {
    let admin = principal("acme", "admin", Role::TenantAdmin);
    ship.gateway.put_settings(&admin, "exec", value).await.map_err(|error| error.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_runs_before_it_is_granted_and_only_what_was_granted_after() {
    let ship = Ship::new(|_| ()).await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    ship.gateway.install(&admin, component("guests/exec")).await.unwrap();
    assert_eq!(sh(&ship, "echo hello").await.outcome, Outcome::NotOffered);
    let files = [("/workspace".to_owned(), FilesRule { access: Access::ReadWrite, paths: None })];
    let only_ls = Capabilities {
        files: files.into(),
        exec: Some(ExecRule { programs: vec!["ls".into()], ..ExecRule::default() }),
        ..Capabilities::default()
    };
    ship.gateway.grant(&admin, "exec", GrantRequest::Some(Box::new(only_ls))).await.unwrap();
    assert_eq!(rule(&sh(&ship, "ls").await), "exec.not-granted");
    let program = |name: &str| json!({ "program": name, "arguments": ["-a"] }).to_string();
    assert_eq!(rule(&ship.call("acme", "run_program", &program("cat")).await), "exec.not-granted");
    assert_eq!(rule(&ship.call("acme", "run_program", &program("/bin/ls")).await), "exec.not-granted");
    assert!(text(&ship.call("acme", "run_program", &program("ls")).await).contains("."));
    let narrowed = Capabilities {
        files: [("/workspace".to_owned(), FilesRule { access: Access::ReadWrite, paths: Some(vec!["a/**".into()]) })]
            .into(),
        exec: Some(ExecRule { shell: true, ..ExecRule::default() }),
        ..Capabilities::default()
    };
    ship.gateway.grant(&admin, "exec", GrantRequest::Some(Box::new(narrowed))).await.unwrap();
    assert_eq!(rule(&sh(&ship, "ls").await), "exec.workspace-narrowed");
    ship.gateway.grant(&admin, "exec", GrantRequest::All { all: true }).await.unwrap();
    assert_eq!(text(&sh(&ship, "echo hello").await), "hello");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_scanner_refuses_and_says_what_would_allow_it() {
    let ship = ship().await;
    for (command, expected) in [
        ("rm -rf \"$HOME\"", "exec.destructive_ops.recursive_remove"),
        ("cat a | sh", "exec.code_injection.piped_code"),
        ("pip install requests", "exec.package_install"),
        ("echo 'unclosed", "exec."),
    ] {
        let answer = sh(&ship, command).await;
        assert_eq!(answer.outcome, Outcome::Denied, "{command}");
        assert!(rule(&answer).starts_with(expected), "{command}: {}", rule(&answer));
    }
    let told = text(&sh(&ship, "pip install requests").await);
    assert!(told.contains("`package_install`") && told.contains("what would allow it"), "{told}");
    for command in ["rm old.txt || true", "cat /etc/hostname 2>/dev/null | sort", "echo 'pip install requests'"] {
        assert_eq!(sh(&ship, command).await.outcome, Outcome::Ok, "{command}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn switches_hold_from_the_next_call_on_for_the_agent_they_are_for() {
    let ship = ship().await;
    let wrong = settings(&ship, json!({ "exec": { "deny_groups": { "env_dmp": false } } })).await.unwrap_err();
    assert!(wrong.contains("`env_dump`"), "{wrong}");
    assert!(settings(&ship, json!({ "timeout_seconds": 4000 })).await.unwrap_err().contains("3600"));
    assert!(rule(&sh(&ship, "printenv").await).starts_with("exec.env_dump"));
    settings(&ship, json!({ "exec": { "agents": { "agent": { "deny_groups": { "env_dump": false } } } } }))
        .await
        .unwrap();
    assert!(text(&sh(&ship, "printenv HOME").await).contains("/tmp"));
    let other = principal("acme", "other", Role::Agent);
    let answer = ship.gateway.call(call(other, "exec", r#"{"command":"printenv"}"#)).await;
    assert!(rule(&answer).starts_with("exec.env_dump"));
    settings(&ship, json!({ "exec": { "mode": "allowlist", "programs": ["git status *", "ls"] } })).await.unwrap();
    for command in ["cat x", "ls; ls", "ls > x", "ls $(ls)", "git push", "env ls"] {
        assert_eq!(sh(&ship, command).await.outcome, Outcome::Denied, "{command}");
    }
    assert_eq!(sh(&ship, "ls -a").await.outcome, Outcome::Ok);
    settings(&ship, json!({ "exec": { "mode": "allowlist" } })).await.unwrap();
    assert_eq!(sh(&ship, "ls").await.outcome, Outcome::Denied);
}

/// What a command may not reach, each with how it shows. Every group is switched off, so that the wall alone holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_the_scanner_the_wall_holds_alone() {
    let ship = ship().await;
    let off: serde_json::Map<String, Value> =
        Group::ALL.into_iter().map(|group| (group.as_str().to_owned(), json!(false))).collect();
    settings(&ship, json!({ "exec": { "deny_groups": off } })).await.unwrap();
    let other = ship.workspaces.join("acme/agent-other/self");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("secret.txt"), "theirs").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let data = ship.data().display().to_string();
    for command in [
        format!("cat {}", other.join("secret.txt").display()),
        format!("cat {data}/caisson.db"),
        format!("ls {data}"),
        "cat /proc/1/environ | tr '\\0' '\\n' | grep -q CARGO && echo leaked".into(),
        "cat /root/.bashrc".into(),
        "cat /etc/shadow".into(),
        "touch /etc/x && echo made".into(),
        "touch /usr/x && echo made".into(),
        "ls /var/run/docker.sock".into(),
        format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2)'"),
        "python3 -c 'import socket; s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b\"x\", (\"169.254.169.254\", 80))'".into(),
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'".into(),
        "mount -t tmpfs x /mnt".into(),
        "unshare -U true".into(),
        "ln -s /etc/passwd link && test -w link".into(),
    ] {
        let answer = sh(&ship, &command).await;
        let said = text(&answer);
        assert!(said.contains("[exit status"), "{command}: {said}");
        assert!(!said.contains("theirs") && !said.contains("leaked") && !said.contains("made"), "{command}: {said}");
    }
    drop(listener);
    let own = "echo mine > own.txt && cat own.txt && id -u && ls /proc | grep -c '^[0-9]*$'";
    let said = text(&sh(&ship, own).await);
    assert!(said.starts_with("mine\n1000\n"), "{said}");
    assert_eq!(std::fs::read_to_string(ship.workspaces.join("acme/agent-agent/self/own.txt")).unwrap(), "mine\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_ends_at_its_deadline_with_all_that_it_started_and_what_it_said_is_kept() {
    let ship = ship().await;
    let arguments = json!({ "command": "echo early; (setsid sleep 600 &) ; sleep 600", "timeout_seconds": 1 });
    let answer = ship.call("acme", "exec", &arguments.to_string()).await;
    let said = text(&answer);
    assert!(said.contains("early") && said.contains("stopped after 1 s"), "{said}");
    let flood = text(&sh(&ship, "yes | head -c 3000000; echo end >&2").await);
    assert!(flood.chars().count() < 32_000 && flood.contains("end"), "{}", flood.chars().count());
    let invalid = ship.call("acme", "exec", r#"{"command":"ls","timeout_seconds":0}"#).await;
    assert!(text(&invalid).contains("3600"), "{}", text(&invalid));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_goes_away_takes_its_command_along() {
    let ship = ship().await;
    let lock = ship.workspaces.join("acme/agent-agent/self/lock");
    // Held for as long as the command lives, and not a moment longer: the kernel lets go of it.
    let held = || std::fs::File::open(&lock).is_ok_and(|file| file.try_lock().is_err());
    let until = async |wanted: bool| {
        while held() != wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let mut running = Box::pin(sh(&ship, "flock lock sleep 600"));
    tokio::select! {
        answer = &mut running => panic!("it ended by itself: {}", text(&answer)),
        () = until(true) => {}
    }
    drop(running);
    assert!(tokio::time::timeout(Duration::from_secs(60), until(false)).await.is_ok(), "it still runs");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_are_in_the_audit_and_secrets_in_what_they_print_are_not_in_the_answer() {
    let ship = ship().await;
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let said = text(&sh(&ship, &format!("printf %s {token} > t; cat t")).await);
    assert_eq!(said, "[REDACTED]");
    let kept = std::fs::read_to_string(ship.workspaces.join("acme/agent-agent/self/t")).unwrap();
    assert_eq!(kept, token, "what a tool writes stays as it is");
    let audit = ship.audit().await;
    assert!(audit.contains("exec printf %s [REDACTED]"), "{audit}");
    assert!(!audit.contains(&token));
}
