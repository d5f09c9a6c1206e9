//! The network of commands: none, or the gateway's proxy, which decides as for a guest's own requests. With real programs.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_call::Role;
use caisson_engine::EgressConfig;
use caisson_registry::{Answer, GrantRequest};
use caisson_tests::{Ship, principal, text};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Lines that a server saw.
type Seen = Arc<Mutex<Vec<String>>>;

/// Answers every request with its first line, at port 80 of an address of its own: no other is granted. Only root may listen there.
async fn server(address: &str) -> Option<Seen> {
    let listener = match TcpListener::bind((address, 80)).await {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("left out: {address}:80 cannot be listened on ({error}); run as root");
            assert!(std::env::var_os("CI").is_none(), "under CI nothing is left out");
            return None;
        }
    };
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut text = Vec::new();
            while !text.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => text.push(byte),
                    Err(_) => break,
                }
            }
            let line = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned();
            let body = format!("saw {line}");
            log.lock().unwrap().push(line);
            let answer =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    Some(seen)
}

fn lines(seen: &Seen) -> Vec<String> {
    seen.lock().unwrap().clone()
}

/// Commands of `acme` may do what the scanner would deny, so that the network alone decides.
async fn ship(address: &str, hosts: &[&str]) -> Ship {
    let names = ["files.example", "other.example"].map(|name| (name.to_owned(), vec![address.parse().unwrap()]));
    let egress = EgressConfig {
        exceptions: vec![format!("{address}/32").parse().unwrap()],
        hosts: names.into(),
        ..EgressConfig::default()
    };
    let ship = Ship::reaching(egress).await;
    ship.install("acme", "guests/exec").await;
    let off: serde_json::Map<String, Value> =
        caisson_guard::shell::Group::ALL.into_iter().map(|group| (group.as_str().to_owned(), json!(false))).collect();
    let settings = json!({ "policy": "allow_domains", "allowed_domains": hosts, "exec": { "deny_groups": off } });
    let admin = principal("acme", "admin", Role::TenantAdmin);
    ship.gateway.put_settings(&admin, "exec", settings).await.unwrap();
    ship
}

async fn sh(ship: &Ship, command: &str) -> Answer {
    ship.call("acme", "exec", &json!({ "command": command }).to_string()).await
}

/// A program that asks for an address and says what came of it.
fn fetch(url: &str) -> String {
    format!(
        "python3 -c 'import urllib.request as r, urllib.error as e\ntry: print(r.urlopen(\"{url}\", timeout=20).read().decode())\nexcept e.HTTPError as x: print(x.code, x.headers.get(\"caisson-rule\"))\nexcept OSError as x: print(\"failed\", x)'"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_host_that_is_allowed_there_is_no_network() {
    let Some(seen) = server("127.0.0.71").await else { return };
    let ship = ship("127.0.0.71", &[]).await;
    let said = text(&sh(&ship, &fetch("http://127.0.0.71/")).await);
    assert!(said.contains("failed"), "{said}");
    assert_eq!(text(&sh(&ship, "printenv | grep -ic proxy").await), "0\n[exit status 1]");
    assert_eq!(lines(&seen), [] as [String; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_without_network_leaves_commands_without_one() {
    let Some(seen) = server("127.0.0.72").await else { return };
    let ship = ship("127.0.0.72", &["files.example"]).await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    let granted = json!({
        "exec": { "shell": true },
        "files": { "/workspace": { "access": "read-write" } },
        "http": [{ "hosts": "settings", "schemes": ["http"] }],
    });
    let granted = GrantRequest::Some(Box::new(serde_json::from_value(granted).unwrap()));
    ship.gateway.grant(&admin, "exec", granted).await.unwrap();
    let said = text(&sh(&ship, &fetch("http://files.example/")).await);
    assert!(said.contains("failed"), "{said}");
    assert_eq!(lines(&seen), [] as [String; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_reaches_what_is_allowed_through_the_proxy_and_nothing_past_it() {
    let Some(seen) = server("127.0.0.73").await else { return };
    let ship = ship("127.0.0.73", &["files.example"]).await;
    for (command, expected) in [
        (fetch("http://other.example/x"), "403 http.host-not-declared"),
        (fetch("http://169.254.169.254/latest/meta-data/"), "403 http."),
        (fetch("http://files.example:8080/x"), "403 http.port-not-declared"),
        // Past the proxy there is nothing, whatever is asked.
        (format!("no_proxy='*' {}", fetch("http://127.0.0.73/x")), "failed"),
        ("python3 -c 'import socket; socket.create_connection((\"127.0.0.73\", 80), 2)'".into(), "Error"),
        ("python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)'".into(), "Error"),
    ] {
        let said = text(&sh(&ship, &command).await);
        assert!(said.contains(expected), "{command}: {said}");
    }
    assert_eq!(lines(&seen), [] as [String; 0]);
    let said = text(&sh(&ship, &fetch("http://files.example/x")).await);
    assert_eq!(said, "saw GET /x HTTP/1.1");
    let audit = ship.audit().await;
    assert!(audit.contains("http.port-not-declared"), "what a program was refused is in the audit: {audit}");
}
