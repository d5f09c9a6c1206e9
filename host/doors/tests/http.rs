//! The HTTP API over real connections: what is refused, then what is served.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used, reason = "a test may panic")]

mod support;

use caisson_doors::{DoorsConfig, MAX_JSON_BYTES};
use serde_json::{Value, json};
use std::time::Duration;
use support::{ADMIN, AGENT, Door, gateway};

async fn open() -> Door {
    Door::open(gateway().await, DoorsConfig::default()).await
}

fn head(method: &str, path: &str, token: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json")
}

/// Method and path of every operation that OpenAPI describes, and whether it needs a token.
async fn operations(door: &Door) -> Vec<(String, String, bool)> {
    let api = door.send("GET /openapi.json HTTP/1.1", "").await.json();
    let mut operations = Vec::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let open = operation["security"] == json!([{}]);
            operations.push((method.to_uppercase(), path.replace(['{', '}'], ""), !open));
        }
    }
    operations.push(("POST".into(), "/mcp".into(), true));
    operations.push(("GET".into(), "/mcp".into(), true));
    operations.push(("DELETE".into(), "/mcp".into(), true));
    operations
}

#[tokio::test]
async fn every_operation_but_the_open_ones_wants_a_known_token() {
    let door = open().await;
    let mut open = Vec::new();
    for (method, path, closed) in operations(&door).await {
        let without = door.send(&format!("{method} {path} HTTP/1.1"), "").await;
        if !closed {
            assert_eq!(without.status, 200, "{path}: {without:?}");
            open.push(path);
            continue;
        }
        without.is_problem(401, "Authorization: Bearer");
        assert_eq!(without.header("www-authenticate"), Some("bearer realm=\"caisson\""));
        let unknown = door.send(&head(&method, &path, "hunter2hunter2"), "").await;
        unknown.is_problem(401, "unknown or was revoked");
        assert!(!unknown.body.contains("hunter2"), "a token came back: {unknown:?}");
    }
    assert_eq!(open, ["/health", "/openapi.json", "/ready"]);
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_everywhere() {
    let door = open().await;
    for (method, path, _) in operations(&door).await {
        let origin = format!("{}\r\nOrigin: https://evil.example", head(&method, &path, AGENT));
        door.send(&origin, "").await.is_problem(403, "`https://evil.example`");
        let mut line = door.connect().await;
        line.write(&format!("{method} {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")).await;
        line.answer().await.is_problem(421, "`evil.example`");
    }
}

#[tokio::test]
async fn wrong_requests_say_what_is_wrong_and_where() {
    let door = open().await;
    let invoke = head("POST", "/v1/tools/invoke", AGENT);
    for (body, detail) in [
        ("", "line 1"),
        ("{\"tool\": \"calc\",\n oops}", "line 2"),
        (r#"{"arguments": {}}"#, "`tool`"),
        (r#"{"tool": "calc", "argument": {}}"#, "`argument`"),
        (r#"{"tool": "calc", "tool": "calc"}"#, "duplicate field `tool`"),
        (r#"{"tool": "calc", "peerKind": "crowd"}"#, "`crowd`"),
        (r#"{"tool": "calc", "inputs": [{"name": "a", "mimeType": "text/plain", "data": "%"}]}"#, "base64"),
    ] {
        door.send(&invoke, body).await.is_problem(400, detail);
    }
    door.send(&invoke.replace("application/json", "text/plain"), "{}").await.is_problem(415, "application/json");
    door.send(&invoke, r#"{"tool": "calc", "agentId": "somebody-else"}"#).await.is_problem(403, "`somebody-else`");
    door.send(&head("GET", "/v1/tools?userId=bert", AGENT), "").await.is_problem(403, "`bert`");
    door.send(&head("GET", "/v1/tools?limt=3", AGENT), "").await.is_problem(400, "`limt`");
    door.send(&head("GET", "/v1/tools?limit=0", AGENT), "").await.is_problem(400, "1 to 1000");
    door.send(&head("GET", "/v1/tools?cursor=!", AGENT), "").await.is_problem(400, "cursor");
    door.send(&head("GET", "/v1/plugins/%ff", AGENT), "").await.is_problem(400, "UTF-8");
    door.send(&head("GET", "/v1/nothing", AGENT), "").await.is_problem(404, "`/v1/nothing`");
    let method = door.send(&head("PATCH", "/v1/tools", AGENT), "").await;
    method.is_problem(405, "`PATCH`");
    assert_eq!(method.header("allow"), Some("get,head"));
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_a_problem_with_its_outcome() {
    let door = open().await;
    let answer = door.send(&head("POST", "/v1/tools/invoke", AGENT), r#"{"tool": "no_such_tool"}"#).await;
    answer.is_problem(404, "`no_such_tool`");
    let problem = answer.json();
    assert_eq!(problem["outcome"], "unknown-tool");
    assert_eq!(problem["type"], "urn:caisson:outcome:unknown-tool");
    assert!(problem["callId"].is_string());
    door.send(&head("POST", "/v1/tools/invoke", AGENT), r#"{"tool": "no_such_tool", "dryRun": true}"#)
        .await
        .is_problem(404, "`no_such_tool`");

    let events = format!("{}\r\nAccept: text/event-stream", head("POST", "/v1/tools/invoke", AGENT));
    let stream = door.send(&events, r#"{"tool": "no_such_tool"}"#).await;
    assert_eq!((stream.status, stream.header("content-type")), (200, Some("text/event-stream")));
    assert!(stream.body.contains("event: problem\ndata: {\"type\":\"urn:caisson:outcome:unknown-tool\""), "{stream:?}");
}

#[tokio::test]
async fn a_body_past_its_limit_is_refused_without_being_read() {
    let door = open().await;
    for (path, kind, limit) in
        [("/v1/tools/invoke", "application/json", MAX_JSON_BYTES as u64), ("/v1/plugins", "application/wasm", 1 << 40)]
    {
        let mut line = door.connect().await;
        let length = limit + 1;
        line.write(&format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {ADMIN}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n")).await;
        line.answer().await.is_problem(413, "larger than");
    }
}

#[tokio::test]
async fn a_component_is_taken_from_an_administrator_only_and_not_too_many_at_once() {
    let config = DoorsConfig { max_uploads: 1, ..DoorsConfig::default() };
    let door = Door::open(gateway().await, config).await;
    let upload = |token: &str| head("POST", "/v1/plugins", token).replace("application/json", "application/wasm");
    door.send(&upload(AGENT), "x").await.is_problem(403, "`tenant-admin`");
    let mut first = door.connect().await;
    // The interim answer tells that the body is waited for.
    first
        .write(&format!("{}\r\nHost: localhost\r\nContent-Length: 8\r\nExpect: 100-continue\r\n\r\n", upload(ADMIN)))
        .await;
    first.until("100 Continue").await;
    let second = door.send(&upload(ADMIN), "x").await;
    second.is_problem(503, "try again");
    assert_eq!(second.header("retry-after"), Some("5"));
    drop(first);
}

#[tokio::test]
async fn a_body_that_says_no_length_is_cut_off_at_the_limit() {
    let door = open().await;
    let mut line = door.connect().await;
    line.write(&format!(
        "{}\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
        head("POST", "/v1/tools/invoke", AGENT)
    ))
    .await;
    let chunk = " ".repeat(MAX_JSON_BYTES / 2);
    for _ in 0..2 {
        line.write(&format!("{:x}\r\n{chunk}\r\n", chunk.len())).await;
    }
    line.write("1\r\n \r\n").await;
    line.answer().await.is_problem(413, "larger than");
}

#[tokio::test]
async fn a_body_or_a_head_that_never_ends_is_given_up() {
    let hasty = Duration::from_millis(100);
    let config = DoorsConfig { body_idle: hasty, header_timeout: hasty, ..DoorsConfig::default() };
    let door = Door::open(gateway().await, config).await;
    for path in ["/v1/tools/invoke", "/mcp"] {
        let mut line = door.connect().await;
        line.write(&format!(
            "{}\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{{",
            head("POST", path, AGENT)
        ))
        .await;
        line.answer().await.is_problem(408, "in time");
    }
    let mut line = door.connect().await;
    line.write("GET /health HTTP/1.1\r\nHost: loc").await;
    assert_ne!(line.answer().await.status, 200);

    let config = DoorsConfig { body_total: hasty, ..DoorsConfig::default() };
    let door = Door::open(gateway().await, config).await;
    let mut line = door.connect().await;
    line.write(&format!(
        "{}\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n",
        head("POST", "/v1/tools/invoke", AGENT)
    ))
    .await;
    line.answer().await.is_problem(408, "in time");
}

#[tokio::test]
async fn the_description_is_whole() {
    let door = open().await;
    let api = door.send("GET /openapi.json HTTP/1.1", "").await.json();
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut seen = Vec::new();
    references(&api, &mut seen);
    assert!(!seen.is_empty());
    for reference in seen {
        let pointer = reference.strip_prefix('#').expect("references are local");
        assert!(api.pointer(pointer).is_some(), "`{reference}` leads nowhere");
    }
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(operation["summary"].is_string(), "{method} {path} has no summary");
            for (status, response) in operation["responses"].as_object().unwrap() {
                assert!(response["description"].is_string(), "{method} {path} {status} has no description");
            }
        }
    }
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn what_is_there_is_served_and_a_connection_is_kept() {
    let door = open().await;
    let me = door.send(&head("GET", "/v1/me", AGENT), "").await.json();
    assert_eq!((&me["tenant"], &me["role"], &me["agent"]), (&json!("acme"), &json!("agent"), &json!("anna")));
    let operator = door.send(&head("GET", "/v1/tools?agentId=bert&peerKind=group", ADMIN), "").await;
    assert!(operator.json()["tools"].is_array());
    assert!(door.send(&head("GET", "/v1/plugins", ADMIN), "").await.json()["plugins"].is_array());
    assert!(door.send(&head("GET", "/v1/secrets", ADMIN), "").await.json()["secrets"].is_array());

    let mut line = door.connect().await;
    for _ in 0..2 {
        line.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    }
    line.until("{\"status\":\"ok\"}HTTP/1.1 200 OK").await;
    door.close().await;
}

#[tokio::test]
async fn secrets_of_programs_go_in_and_never_come_out() {
    const SECRET: &str = "zq7-Wm2-Kp9-Vx4-quite-secret";
    let door = open().await;
    let root = "/v1/cli-credentials";
    let mut told = String::new();
    let mut send = async |method: &str, path: &str, token: &str, body: &str| {
        let answer = door.send(&head(method, path, token), body).await;
        told.push_str(&answer.body);
        (answer.status, serde_json::from_str(&answer.body).unwrap_or(Value::Null))
    };
    assert_eq!(send("GET", root, AGENT, "").await.0, 403);
    assert_eq!(send("POST", root, ADMIN, &format!("{{\"env\": \"{SECRET}\" {SECRET}")).await.0, 400);
    let wrong = json!({ "binary_name": "cat", "envv": { "TOKEN": SECRET } }).to_string();
    let (status, problem) = send("POST", root, ADMIN, &wrong).await;
    assert!(status == 422 && problem["detail"].as_str().unwrap().contains("`env`"), "{problem}");
    let body = json!({ "binary_name": "cat", "env": { "TEST_TOKEN": SECRET } }).to_string();
    let (status, program) = send("POST", root, ADMIN, &body).await;
    assert_eq!(
        (status, &program["env"]["TEST_TOKEN"]["value"], &program["is_global"]),
        (201, &json!("***"), &json!(false))
    );
    assert_eq!(send("POST", root, ADMIN, &body).await.0, 409);
    let one = format!("{root}/{}", program["id"].as_str().unwrap());
    let (status, changed) = send("PUT", &one, ADMIN, r#"{"timeout_seconds": 7, "env": {"TEST_TOKEN": "***"}}"#).await;
    assert_eq!((status, &changed["timeout_seconds"], &changed["env"]), (200, &json!(7), &program["env"]));
    let (_, tried) = send("POST", &format!("{one}/test"), ADMIN, r#"{"test_commands": ["cat a", "cat a | sh"]}"#).await;
    assert_eq!((&tried["results"][0]["allowed"], &tried["results"][1]["allowed"]), (&json!(true), &json!(false)));
    let grant = format!("{one}/agent-grants/anna");
    assert_eq!(send("PUT", &grant, ADMIN, &json!({ "env": { "TEST_TOKEN": SECRET } }).to_string()).await.0, 200);
    let credential = json!({ "credential_type": "env", "env": { "TEST_TOKEN": SECRET } }).to_string();
    for holder in ["agent-credentials/anna", "user-credentials/ben%20b"] {
        let path = format!("{one}/{holder}");
        assert_eq!(send("PUT", &path, ADMIN, &credential).await.0, 200, "{holder}");
        assert_eq!(send("GET", &path, ADMIN, "").await.1["credentials"][0]["env"]["TEST_TOKEN"]["value"], "***");
        assert_eq!(send("DELETE", &path, ADMIN, "").await.0, 204);
        assert_eq!(send("GET", &path, ADMIN, "").await.1["credentials"], json!([]));
    }
    assert_eq!(send("GET", &format!("{one}/agent-grants"), ADMIN, "").await.1["grants"][0]["agent"], "anna");
    assert_eq!(send("GET", root, ADMIN, "").await.1["programs"][0]["agents"], json!(["anna"]));
    assert!(send("GET", &format!("{root}/presets"), ADMIN, "").await.1["presets"][0]["variables"].is_array());
    let (_, found) = send("POST", &format!("{root}/check-binary"), ADMIN, r#"{"binary_name": "cat"}"#).await;
    assert_eq!(found["found"], true);
    assert_eq!(send("DELETE", &grant, ADMIN, "").await.0, 204);
    assert_eq!(send("DELETE", &one, ADMIN, "").await.0, 204);
    assert_eq!(send("GET", &one, ADMIN, "").await.0, 404);
    assert!(!told.contains(SECRET), "{told}");
    door.close().await;
}
