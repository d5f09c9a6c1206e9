//! MCP over real connections and over a pipe: what is refused, then what is served.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may panic"
)]

mod support;

use caisson_call::CallContext;
use caisson_doors::{DoorsConfig, serve_stream};
use serde_json::{Value, json};
use support::{AGENT, Answer, Door, OTHER, gateway};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

const OLDER: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

async fn open() -> Door {
    Door::open(gateway().await, DoorsConfig::default()).await
}

fn head(token: &str, more: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream{more}"
    )
}

fn initialize(version: &str) -> String {
    let params =
        json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string()
}

fn request(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// A request of the stateless revision: its headers and its body.
fn stateless(method: &str, mut params: Value) -> (String, String) {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
    let mut headers = format!("\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}");
    if let Some(name) = params["name"].as_str() {
        headers += &format!("\r\nMcp-Name: {name}");
    }
    (headers, request(method, params))
}

/// Opens a session; the headers that name it.
async fn session(door: &Door, version: &str) -> String {
    let answer = door.send(&head(AGENT, ""), &initialize(version)).await;
    assert_eq!(message(&answer)["result"]["protocolVersion"], version);
    let session = answer.header("mcp-session-id").expect("a session").to_owned();
    let headers = format!("\r\nMcp-Session-Id: {session}\r\nMCP-Protocol-Version: {version}");
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(door.send(&head(AGENT, &headers), initialized).await.status, 202);
    headers
}

/// The one message of an answer, as JSON or as an event.
fn message(answer: &Answer) -> Value {
    let text = answer.body.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&answer.body);
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {answer:?}"))
}

#[tokio::test]
async fn what_is_no_single_message_is_refused() {
    let door = open().await;
    for (body, code) in [("[]", -32600), ("{", -32700), ("3", -32600), (r#"{"jsonrpc":"2.0","id":1}"#, -32600)] {
        let answer = door.send(&head(AGENT, ""), body).await;
        assert_eq!((answer.status, &message(&answer)["error"]["code"]), (400, &json!(code)), "{answer:?}");
    }
}

#[tokio::test]
async fn a_session_belongs_to_the_token_that_opened_it() {
    let door = open().await;
    let headers = session(&door, "2025-11-25").await;
    door.send(&head(OTHER, &headers), &request("tools/list", json!({}))).await.is_problem(404, "initialize");
    let get = head(OTHER, &headers).replacen("POST", "GET", 1);
    door.send(&get, "").await.is_problem(404, "initialize");
    let delete = head(OTHER, &headers).replacen("POST", "DELETE", 1);
    door.send(&delete, "").await.is_problem(404, "initialize");
    let own = door.send(&head(AGENT, &headers), &request("tools/list", json!({}))).await;
    assert!(message(&own)["result"]["tools"].is_array());
    let delete = head(AGENT, &headers).replacen("POST", "DELETE", 1);
    assert_eq!(door.send(&delete, "").await.status, 204);
    assert_eq!(door.send(&head(AGENT, &headers), &request("tools/list", json!({}))).await.status, 404);
}

#[tokio::test]
async fn nobody_else_can_be_asserted_by_an_agents_token() {
    let door = open().await;
    let (headers, body) = stateless("tools/call", json!({"name": "calc", "_meta": {"caisson/agent": "bert"}}));
    let answer = door.send(&head(AGENT, &headers), &body).await;
    let error = &message(&answer)["error"];
    assert_eq!(error["code"], -32602);
    assert!(error["message"].as_str().unwrap().contains("`bert`"), "{answer:?}");
}

#[tokio::test]
async fn the_older_revisions_have_sessions() {
    let door = open().await;
    for version in OLDER {
        let headers = session(&door, version).await;
        let list = door.send(&head(AGENT, &headers), &request("tools/list", json!({}))).await;
        assert!(message(&list)["result"]["tools"].is_array(), "{list:?}");
        let cursor = door.send(&head(AGENT, &headers), &request("tools/list", json!({"cursor": "!"}))).await;
        assert_eq!(message(&cursor)["error"]["code"], -32602, "{cursor:?}");
        let call = door.send(&head(AGENT, &headers), &request("tools/call", json!({"name": "no_such_tool"}))).await;
        let error = &message(&call)["error"];
        assert_eq!(error["code"], -32602, "{call:?}");
        assert!(error["data"]["nearest"].is_array(), "{call:?}");
    }
    // An open stream of a session does not keep the gateway from stopping.
    let headers = session(&door, "2025-11-25").await;
    let mut line = door.connect().await;
    line.write(&format!("{}\r\nHost: localhost\r\n\r\n", head(AGENT, &headers).replacen("POST", "GET", 1))).await;
    line.until("text/event-stream").await;
    door.close().await;
}

#[tokio::test]
async fn the_stateless_revision_needs_none() {
    let door = open().await;
    let (headers, body) = stateless("server/discover", json!({}));
    let discovered = door.send(&head(AGENT, &headers), &body).await;
    let versions = &message(&discovered)["result"]["supportedVersions"];
    for version in OLDER.into_iter().chain(["2026-07-28"]) {
        assert!(versions.as_array().unwrap().contains(&json!(version)), "{discovered:?}");
    }
    let (headers, body) = stateless("tools/list", json!({}));
    let list = door.send(&head(AGENT, &headers), &body).await;
    assert!(list.header("mcp-session-id").is_none());
    assert!(message(&list)["result"]["tools"].is_array());
    assert_eq!(message(&list)["result"]["cacheScope"], "private");
    let (headers, body) = stateless("tools/call", json!({"name": "no_such_tool"}));
    assert_eq!(message(&door.send(&head(AGENT, &headers), &body).await)["error"]["code"], -32602);
}

#[tokio::test]
async fn listening_is_acknowledged_and_ends_with_the_gateway() {
    let door = open().await;
    let (headers, body) = stateless(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}}),
    );
    let mut line = door.connect().await;
    let length = body.len();
    line.write(&format!("{}\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}", head(AGENT, &headers)))
        .await;
    let seen = line.until("notifications/subscriptions/acknowledged").await;
    assert!(seen.contains("\"toolsListChanged\":true") && !seen.contains("promptsListChanged"), "{seen}");
    door.close().await;
}

#[tokio::test]
async fn a_pipe_carries_one_message_a_line() {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (reader, writer) = tokio::io::split(theirs);
    let (answers, mut requests) = tokio::io::split(ours);
    let mut answers = BufReader::new(answers).lines();
    let gateway = gateway().await;
    let principal = gateway.authenticate(AGENT).await.unwrap();
    let served = tokio::spawn(serve_stream(gateway, principal, CallContext::default(), reader, writer));

    let long = "x".repeat(3 << 20);
    for (line, code) in [("[]", -32600), ("oops", -32700), (long.as_str(), -32600)] {
        requests.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        let answer: Value = serde_json::from_str(&answers.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null));
    }
    let call = request("tools/call", json!({"name": "no_such_tool", "arguments": {}}));
    for (line, pointer) in [(initialize("2025-11-25"), "/result/serverInfo"), (call, "/error/data/nearest")] {
        requests.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        let answer: Value = serde_json::from_str(&answers.next_line().await.unwrap().unwrap()).unwrap();
        assert!(answer.pointer(pointer).is_some(), "{answer}");
    }
    drop((requests, answers));
    served.await.unwrap().unwrap();
}
