//! What must not leave. `allow.rs` has the twins.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may panic")]

mod common;

use bytes::Bytes;
use caisson_call::{Budget, Limits};
use caisson_contract::{Effect, Hosts, HttpRule, LayerSource, Layers};
use caisson_gate_http::{Decision, Egress, EgressConfig};
use common::{Caller, Server, get, layer, layers, loopback, open_rule, request, respond};
use http::Request;
use std::time::Duration;
use wasmtime_wasi_http::{Error, RequestOptions};

fn any_rule() -> HttpRule {
    HttpRule { hosts: Hosts::List(vec!["*".into()]), ..open_rule(80) }
}

#[tokio::test]
async fn special_addresses_are_refused_whatever_is_granted() {
    let mut rule = any_rule();
    rule.ports = Some(vec![80, 443, 9]);
    let cases = [
        ("http://127.0.0.1/", "http.address-special"),
        ("http://0x7f.1/", "http.address-special"),
        ("http://[::1]/", "http.address-special"),
        ("http://[::ffff:10.0.0.1]/", "http.address-special"),
        ("http://169.254.169.254/latest/meta-data", "http.address-metadata"),
        ("http://metadata.google.internal/", "http.host-metadata"),
        ("http://localhost/", "http.host-local"),
        ("http://user@93.184.216.34/", "http.userinfo"),
    ];
    for (url, rule_id) in cases {
        let mut caller = Caller::new(EgressConfig::default(), layers(vec![rule.clone()]), vec![]);
        assert_eq!(caller.refused(get(url)).await, rule_id, "{url}");
        assert_eq!(caller.ledger.spent(Budget::HttpRequests), 0, "{url}");
    }
}

#[tokio::test]
async fn a_name_with_one_special_answer_is_refused_and_nothing_is_connected_to() {
    let server = Server::start(|_| respond("", b"reached")).await;
    let mut config = loopback();
    config.exceptions = vec!["127.0.0.1/32".parse().unwrap()];
    config.hosts.insert("mixed.example".into(), vec!["127.0.0.1".parse().unwrap(), "10.0.0.1".parse().unwrap()]);
    config.hosts.insert("inner.example".into(), vec!["192.168.1.1".parse().unwrap()]);
    let mut caller = Caller::new(config, layers(vec![open_rule(server.port)]), vec![]);
    for name in ["mixed.example", "inner.example"] {
        assert_eq!(caller.refused(get(&format!("http://{name}:{}/", server.port))).await, "http.address-special");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn the_gateways_own_address_is_refused_under_a_wide_exception() {
    let server = Server::start(|_| respond("", b"reached")).await;
    for own in [format!("127.0.0.1:{}", server.port), format!("0.0.0.0:{}", server.port)] {
        let config = EgressConfig { own_addresses: vec![own.parse().unwrap()], ..loopback() };
        let mut caller = Caller::new(config, layers(vec![open_rule(server.port)]), vec![]);
        assert_eq!(caller.refused(get(&server.url("/"))).await, "http.address-own");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn each_part_of_a_rule_is_asked_and_named() {
    let server = Server::start(|_| respond("", b"reached")).await;
    let open = open_rule(server.port);
    let url = server.url("/a/b");
    let cases: Vec<(HttpRule, &str, &str)> = vec![
        (HttpRule { hosts: Hosts::List(vec![]), ..open.clone() }, "GET", "http.host-not-declared"),
        (
            HttpRule { hosts: Hosts::List(vec!["*.example.com".into()]), ..open.clone() },
            "GET",
            "http.host-not-declared",
        ),
        (HttpRule { hosts: Hosts::Named("settings".into()), ..open.clone() }, "GET", "http.host-not-declared"),
        (HttpRule { blocked_hosts: vec!["127.0.0.1".into()], ..open.clone() }, "GET", "http.host-blocked"),
        (HttpRule { schemes: None, ..open.clone() }, "GET", "http.scheme-not-declared"),
        (HttpRule { ports: None, ..open.clone() }, "GET", "http.port-not-declared"),
        (HttpRule { methods: None, ..open.clone() }, "POST", "http.method-not-declared"),
        (open.clone(), "DELETE", "http.method-not-declared"),
        (open.clone(), "get", "http.method-not-declared"),
        (open.clone(), "TRACE", "http.method"),
        (open.clone(), "trace", "http.method"),
        (HttpRule { paths: Some(vec!["/a".into(), "/b/**".into()]), ..open.clone() }, "GET", "http.path-not-declared"),
    ];
    for (rule, method, rule_id) in cases {
        let mut caller = Caller::new(loopback(), layers(vec![rule.clone()]), vec![]);
        assert_eq!(caller.refused(request(method, &url)).await, rule_id, "{rule:?} {method}");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn every_layer_must_allow_and_the_refusing_one_is_named() {
    let open = open_rule(9);
    for (source, rule_id) in [
        (LayerSource::Granted, "http.host-not-granted"),
        (LayerSource::Ceiling, "http.host-not-allowed-by-operator"),
        (LayerSource::Caller, "http.host-not-granted-to-caller"),
    ] {
        let two = Layers::new(
            vec![layer(LayerSource::Declared, vec![open.clone()]), layer(source, vec![])],
            Effect::Mutating,
        );
        let mut caller = Caller::new(loopback(), two, vec![]);
        assert_eq!(caller.refused(get("http://127.0.0.1:9/")).await, rule_id);
    }
    let mut caller = Caller::new(loopback(), Layers::none(), vec![]);
    assert_eq!(caller.refused(get("http://127.0.0.1:9/")).await, "http.host-not-declared");
}

#[tokio::test]
async fn paths_that_hide_a_step_are_refused_where_paths_narrow() {
    let rule = HttpRule { paths: Some(vec!["/public/**".into()]), ..open_rule(9) };
    for path in [
        "/public/../admin",
        "/public/%2e%2e/admin",
        "/public//admin",
        "/public/%252e%252e/a",
        "/public/..%2fadmin",
        "/public/..;/a",
    ] {
        let mut caller = Caller::new(loopback(), layers(vec![rule.clone()]), vec![]);
        assert_eq!(caller.refused(get(&format!("http://127.0.0.1:9{path}"))).await, "http.path-ambiguous", "{path}");
    }
}

#[tokio::test]
async fn a_read_only_tool_reads() {
    let server = Server::start(|_| respond("", b"reached")).await;
    let rules = |rule: HttpRule| Layers::new(vec![layer(LayerSource::Declared, vec![rule])], Effect::ReadOnly);
    let mut caller = Caller::new(loopback(), rules(open_rule(server.port)), vec![]);
    assert_eq!(caller.refused(request("POST", &server.url("/"))).await, "http.effect-read-only");
    assert!(caller.get(&server.url("/")).await.is_ok());
    let reads = HttpRule { reads: true, ..open_rule(server.port) };
    let mut caller = Caller::new(loopback(), rules(reads), vec![]);
    assert!(caller.send(request("POST", &server.url("/"))).await.is_ok());
}

#[tokio::test]
async fn a_refusal_shows_neither_query_nor_user_nor_control_characters() {
    let mut caller = Caller::new(loopback(), layers(vec![]), vec![]);
    assert!(caller.get("http://127.0.0.1:9/a?token=hidden").await.is_err());
    assert!(caller.get("http://me:hidden@127.0.0.1:9/a?hidden").await.is_err());
    let denials = caller.ledger.take_denials();
    assert_eq!(denials[0].subject, "GET http://127.0.0.1:9/a");
    assert_eq!(
        denials[0].grant,
        "a rule in `[[capabilities.http]]` with `hosts = [\"127.0.0.1\"]` in the plugin's manifest"
    );
    assert_eq!(denials[1].subject, "GET http://127.0.0.1:9/a");
    let egress = Egress::new(loopback()).unwrap();
    let long = format!("http://10.0.0.1:9/{}", "a`".repeat(4000));
    let explained = egress.explain(&long, "GET", None, false).await;
    assert!(explained.detail.len() <= 200 && !explained.detail.contains('`'), "{}", explained.detail);
    let explained = egress.explain("http://a\u{1b}[2J\nb/", "GET", None, false).await;
    assert_eq!(explained.detail, "GET http://a\\u{1b}[2J\\nb/");
}

#[tokio::test]
async fn budgets_end_requests_and_are_remembered() {
    let server = Server::start(|_| respond("", &[b'x'; 4096])).await;
    let limited = |budget, amount| {
        let mut limits = Limits::default();
        limits.set(budget, amount);
        Caller::within(limits, loopback(), layers(vec![open_rule(server.port)]), vec![])
    };
    let mut caller = limited(Budget::HttpRequests, 1);
    assert!(caller.get(&server.url("/")).await.is_ok());
    assert!(matches!(caller.get(&server.url("/")).await, Err(Error::ConnectionLimitReached)));
    assert_eq!(caller.ledger.exhausted(), Some(Budget::HttpRequests));
    assert_eq!(server.seen().len(), 1);

    let mut caller = limited(Budget::HttpBytes, 2048);
    let answer = caller.get(&server.url("/")).await.unwrap();
    assert!(matches!(answer.body, Err(Error::HttpResponseBodySize(_))), "{answer:?}");
    assert_eq!(caller.ledger.exhausted(), Some(Budget::HttpBytes));

    let mut caller = limited(Budget::HttpBytes, 2048);
    let upload = Request::post(server.url("/")).body(Bytes::from(vec![b'x'; 4096])).unwrap();
    assert!(matches!(caller.send(upload).await, Err(Error::HttpRequestBodySize(_))));

    let mut caller = limited(Budget::HostMemory, 1000);
    assert!(matches!(caller.get(&server.url("/")).await, Err(Error::ConnectionLimitReached)));
}

#[tokio::test]
async fn a_response_past_its_cap_is_cut_off() {
    let server = Server::start(|_| respond("", &[b'x'; 4096])).await;
    let config = EgressConfig { max_response_bytes: 4095, ..loopback() };
    let mut caller = Caller::new(config, layers(vec![open_rule(server.port)]), vec![]);
    let answer = caller.get(&server.url("/")).await.unwrap();
    assert!(matches!(answer.body, Err(Error::HttpResponseBodySize(Some(4095)))), "{answer:?}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up_on() {
    let silent = Server::start(|_| vec![]).await;
    let limits = Limits { wall: Duration::from_millis(50), ..Limits::default() };
    let mut caller = Caller::within(limits, loopback(), layers(vec![open_rule(silent.port)]), vec![]);
    assert!(matches!(caller.get(&silent.url("/")).await, Err(Error::HttpResponseTimeout)));
    let mut caller = Caller::new(loopback(), layers(vec![open_rule(silent.port)]), vec![]);
    let options = RequestOptions { first_byte_timeout: Some(Duration::from_millis(50)), ..RequestOptions::default() };
    assert!(matches!(caller.send_with(get(&silent.url("/")), Some(options)).await, Err(Error::ConnectionReadTimeout)));
}

#[tokio::test]
async fn explanations_of_refusals() {
    let egress = Egress::new(EgressConfig::default()).unwrap();
    for (url, rule) in [
        ("http://0xA9FEA9FE/", "http.address-metadata"),
        ("http://[::127.0.0.1]/", "http.address-special"),
        ("http://[::ffff:169.254.169.254]/", "http.address-metadata"),
        ("http://[2002:7f00:0001::]/", "http.address-special"),
        ("http://[2001:0000::80ff:fefe]/", "http.address-special"),
        ("http://[::5efe:10.0.0.1]/", "http.address-special"),
        ("http://[::ffff:0:7f00:1]/", "http.address-special"),
        ("not a url", "http.url-invalid"),
    ] {
        let explained = egress.explain(url, "GET", None, false).await;
        assert_eq!((explained.decision, explained.rule.as_str()), (Decision::Deny, rule), "{url}");
    }
    let granted = egress.explain("https://example.com/x?q", "GET", Some(&layers(vec![])), false).await;
    assert_eq!(granted.rule, "http.host-not-declared");
    assert_eq!(granted.detail, "GET https://example.com:443/x");
}
