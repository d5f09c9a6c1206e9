//! The line from install to answer.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_call::{Outcome, Refused, Role};
use caisson_contract::{Access, Capabilities, FilesRule, add_manifest_section};
use caisson_registry::{AdminError, GrantRequest, PluginState};
use caisson_tests::{Ship, call, component, outcome, principal, rule, text};

const MULTI: &str = "examples/unit-price";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_a_plugin_is_refused_with_what_it_is_and_nothing_is_kept() {
    let ship = Ship::new(|_| ()).await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    let whole = component(MULTI);
    let truncated = whole.get(..whole.len() / 2).unwrap().to_vec();
    let core = b"\0asm\x01\0\0\0".to_vec();
    let mut twice = whole.clone();
    twice.extend(section("caisson:manifest", b"[plugin]\nname = \"x\"\nversion = \"1.0.0\"\n"));
    for (what, bytes, word) in [
        ("text", b"hello".to_vec(), "wasm"),
        ("nothing", vec![], "wasm"),
        ("core module", core, "core module"),
        ("truncated", truncated, ""),
        ("two manifests", twice, "manifest"),
    ] {
        let error = ship.gateway.install(&admin, bytes).await.unwrap_err();
        assert!(matches!(error, AdminError::Invalid(_)), "{what}: {error}");
        assert!(error.to_string().contains(word), "{what}: {error}");
    }
    for flip in (8..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        *bytes.get_mut(flip).unwrap() ^= 0x5a;
        // Whatever it says, it says it without a panic.
        let _ = ship.gateway.install(&admin, bytes).await;
    }
    let who = principal("elsewhere", "admin", Role::TenantAdmin);
    assert!(ship.gateway.plugins(&who).await.unwrap().is_empty());
}

fn section(name: &str, data: &[u8]) -> Vec<u8> {
    let mut body = vec![u8::try_from(name.len()).unwrap()];
    body.extend(name.as_bytes());
    body.extend(data);
    let mut section = vec![0, u8::try_from(body.len()).unwrap()];
    section.extend(body);
    section
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plugin_is_held_until_granted_and_again_when_the_grant_is_taken_back() {
    let ship = Ship::new(|_| ()).await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    let plugin = ship.gateway.install(&admin, component(MULTI)).await.unwrap();
    assert!(
        matches!(&plugin.state, PluginState::Held { reason } if reason.contains("caisson grant unit-price")),
        "{:?}",
        plugin.state
    );
    let arguments = r#"{"price":"3","quantity":"2","unit":"kg"}"#;
    let answer = ship.call("acme", "unit_price", arguments).await;
    assert_eq!(outcome(&answer, Outcome::NotOffered), "not-offered");
    ship.gateway.grant(&admin, "unit-price", GrantRequest::All { all: true }).await.unwrap();
    assert!(text(&ship.call("acme", "unit_price", arguments).await).contains("1.5"));
    ship.gateway.revoke(&admin, "unit-price").await.unwrap();
    assert_eq!(ship.call("acme", "unit_price", arguments).await.outcome, Outcome::NotOffered);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_gives_no_more_than_was_declared_and_no_less_than_it_says() {
    let ship = Ship::new(|_| ()).await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    ship.gateway.install(&admin, component(MULTI)).await.unwrap();
    let files = |access, paths| {
        let rule = FilesRule { access, paths };
        let capabilities = Capabilities { files: [("/workspace".to_owned(), rule)].into(), ..Capabilities::default() };
        GrantRequest::Some(Box::new(capabilities))
    };
    let error = ship.gateway.grant(&admin, "unit-price", files(Access::ReadWrite, None)).await.unwrap_err();
    assert!(error.to_string().contains("more than `unit-price` declares"), "{error}");
    ship.gateway.grant(&admin, "unit-price", files(Access::Read, Some(vec!["prices.csv".into()]))).await.unwrap();
    let save = r#"{"price":"3","quantity":"2","unit":"kg"}"#;
    assert_eq!(rule(&ship.call("acme", "save_price", save).await), "files.read-only");
    ship.gateway.grant(&admin, "unit-price", GrantRequest::All { all: true }).await.unwrap();
    assert_eq!(ship.call("acme", "save_price", save).await.outcome, Outcome::Ok);
    let elsewhere = r#"{"price":"3","quantity":"2","unit":"kg","file":"other.csv"}"#;
    assert_eq!(rule(&ship.call("acme", "save_price", elsewhere).await), "files.path-not-declared");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_that_may_not_install_or_grant_do_not() {
    let ship = Ship::new(|_| ()).await;
    for role in [Role::Viewer, Role::Agent, Role::Operator] {
        let who = principal("acme", "x", role);
        assert!(matches!(ship.gateway.install(&who, component(MULTI)).await, Err(AdminError::Forbidden { .. })));
        let grant = ship.gateway.grant(&who, "unit-price", GrantRequest::All { all: true }).await;
        assert!(matches!(grant, Err(AdminError::Forbidden { .. })));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_tenants_with_a_plugin_of_one_name_never_meet() {
    let ship = Ship::new(|_| ()).await;
    ship.install("acme", MULTI).await;
    ship.install("globex", MULTI).await;
    let save = r#"{"price":"3","quantity":"2","unit":"kg"}"#;
    ship.call("acme", "save_price", save).await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    ship.gateway.remove(&admin, "unit-price").await.unwrap();
    assert_eq!(ship.call("acme", "save_price", save).await.outcome, Outcome::UnknownTool);
    assert_eq!(ship.call("globex", "save_price", save).await.outcome, Outcome::Ok);
    assert_eq!(ship.call("nobody", "save_price", save).await.outcome, Outcome::UnknownTool);
    let prices: Vec<_> = walk(&ship.workspaces).into_iter().filter(|path| path.ends_with("prices.csv")).collect();
    assert_eq!(prices.len(), 2, "{prices:?}");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.flat_map(|entry| if entry.path().is_dir() { walk(&entry.path()) } else { vec![entry.path()] }).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_and_agents_have_workspaces_of_their_own() {
    let ship = Ship::new(|_| ()).await;
    ship.install("acme", "guests/files").await;
    let mut anna = principal("acme", "bot", Role::Agent);
    anna.user = Some("anna".into());
    let mut bob = anna.clone();
    bob.user = Some("bob".into());
    let mut climber = anna.clone();
    climber.user = Some("../user-anna".into());
    let write = r#"{"path":"note.txt","content":"anna's"}"#;
    assert_eq!(ship.gateway.call(call(anna.clone(), "write_file", write)).await.outcome, Outcome::Ok);
    let read = r#"{"path":"note.txt"}"#;
    for who in [bob, climber] {
        let answer = ship.gateway.call(call(who, "read_file", read)).await;
        assert_eq!(answer.outcome, Outcome::ToolError, "{}", text(&answer));
    }
    assert!(text(&ship.gateway.call(call(anna, "read_file", read)).await).contains("anna's"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_are_held_to_size_keys_and_schema() {
    let ship = Ship::new(|_| ()).await;
    ship.install("acme", MULTI).await;
    let large = format!("{{\"price\":\"{}\"}}", "1".repeat(1 << 20));
    for (arguments, word) in [
        ("{", "not JSON"),
        ("[]", "object"),
        ("{}", "price"),
        (r#"{"price":1,"quantity":"1","unit":"kg"}"#, "string"),
        (r#"{"price":"1","price":"2","quantity":"1","unit":"kg"}"#, "price"),
        (large.as_str(), "bytes"),
    ] {
        let answer = ship.call("acme", "unit_price", arguments).await;
        assert_eq!(answer.outcome, Outcome::InvalidArguments, "{}", text(&answer));
        assert!(text(&answer).contains(word), "{}", text(&answer));
    }
    let many: String = (0..50).map(|n| format!("\"k{n}\":1,")).collect();
    let answer = ship.call("acme", "unit_price", &format!("{{{many}\"z\":1}}")).await;
    assert!(matches!(&answer.body, Err(Refused::InvalidArguments(faults)) if faults.len() <= 8));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_tool_is_answered_with_the_nearest_that_are_offered_and_no_others() {
    let ship = Ship::new(|_| ()).await;
    ship.install("globex", MULTI).await;
    ship.install("acme", "guests/files").await;
    let answer = ship.call("acme", "unit_prise", "{}").await;
    assert_eq!(answer.outcome, Outcome::UnknownTool);
    assert!(!text(&answer).contains("unit_price"), "another tenant's tool: {}", text(&answer));
    let answer = ship.call("acme", "read_fil", "{}").await;
    assert!(text(&answer).contains("`read_file`"), "{}", text(&answer));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_the_hours_calls_a_session_waits_and_another_does_not() {
    let ship = Ship::new(|config| config.rate_per_hour = 2).await;
    ship.install("acme", MULTI).await;
    let arguments = r#"{"price":"3","quantity":"2","unit":"kg"}"#;
    let in_session = |session: &str| {
        let mut call = call(principal("acme", "agent", Role::Agent), "unit_price", arguments);
        call.context.session = Some(session.into());
        call
    };
    for expected in [Outcome::Ok, Outcome::Ok, Outcome::RateLimited] {
        assert_eq!(ship.gateway.call(in_session("one")).await.outcome, expected);
    }
    assert_eq!(ship.gateway.call(in_session("two")).await.outcome, Outcome::Ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_result_is_kept_back_for_its_caller_alone() {
    let ship = Ship::hostile().await;
    let long: String = (0..2_000).map(|n| format!("line {n}\n")).collect();
    let answer = ship.say("h_echo", &long).await;
    let shown = text(&answer);
    assert!(shown.starts_with("[LARGE OUTPUT: h_echo | type:text | lines:2000"), "{}", shown.get(..200).unwrap());
    assert!(shown.len() < 5_000);
    let reference = shown.split("ref:").nth(1).unwrap().split(']').next().unwrap();
    let own = principal("acme", "agent", Role::Agent);
    let (bytes, kind, size) = ship.gateway.kept(&own, reference, 0, 6).await.unwrap();
    assert_eq!((bytes.as_slice(), kind.as_str(), size), (b"line 0".as_slice(), "text/plain", long.len() as u64));
    for other in [principal("acme", "another", Role::Agent), principal("globex", "agent", Role::Agent)] {
        assert!(ship.gateway.kept(&other, reference, 0, 6).await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_plugin_takes_the_name_of_another_plugins_tool() {
    let ship = Ship::new(|_| ()).await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    ship.install("acme", MULTI).await;
    let bare = without_manifest(&component(MULTI));
    let renamed = add_manifest_section(&bare, "[plugin]\nname = \"thief\"\nversion = \"1.0.0\"\n").unwrap();
    let error = ship.gateway.install(&admin, renamed).await.unwrap_err().to_string();
    assert!(error.contains("unit_price") && error.contains("thief") && error.contains("unit-price"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_version_that_asks_for_more_is_refused_with_the_difference_and_the_old_one_serves_on() {
    let ship = Ship::new(|_| ()).await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    ship.install("acme", MULTI).await;
    let more =
        "[plugin]\nname = \"unit-price\"\nversion = \"2.0.0\"\n[capabilities.files]\n\"/workspace\" = \"read-write\"\n";
    let greedy = add_manifest_section(&without_manifest(&component(MULTI)), more).unwrap();
    let error = ship.gateway.install(&admin, greedy).await.unwrap_err().to_string();
    assert!(error.contains("the difference") && error.contains("/workspace"), "{error}");
    let plugin = ship.gateway.plugin(&admin, "unit-price").await.unwrap();
    assert_eq!((plugin.version.as_str(), &plugin.state), ("0.1.0", &PluginState::Serving));
}

/// The component as it was before the manifest was appended: the section is the last one.
fn without_manifest(component: &[u8]) -> Vec<u8> {
    let name = b"caisson:manifest";
    let at = component.windows(name.len()).rposition(|window| window == name).unwrap();
    // Before the name stand its length (one byte), the section's size (LEB128, at most five bytes) and its kind, 0.
    let start = (2..=7).map(|back| at - back).find(|start| component.get(*start) == Some(&0)).unwrap();
    component.get(..start).unwrap().to_vec()
}
