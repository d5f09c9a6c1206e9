//! What leaves, beside `deny.rs`.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may panic")]

mod common;

use bytes::Bytes;
use caisson_call::Budget;
use caisson_contract::{Hosts, HttpRule};
use caisson_gate_http::{Decision, Egress, EgressConfig, EgressError};
use common::{Caller, Server, get, header, layers, loopback, open_rule, request, respond, tls_server};
use http::Request;
use wasmtime_wasi_http::Error;

#[tokio::test]
async fn loopback_answers_under_an_exception() {
    let server = Server::start(|_| respond("X-Kind: plain\r\n", b"reached")).await;
    let mut caller = Caller::new(loopback(), layers(vec![open_rule(server.port)]), vec![]);
    let answer = caller.get(&server.url("/a?b=c")).await.unwrap();
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (200, "reached"));
    assert_eq!(answer.headers["x-kind"], "plain");
    let seen = server.seen().remove(0);
    assert!(seen.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{seen}");
    assert_eq!(header(&seen, "host").unwrap(), format!("127.0.0.1:{}", server.port));
    assert!(caller.ledger.take_denials().is_empty());
    assert_eq!(caller.ledger.spent(Budget::HttpRequests), 1);
    assert!(caller.ledger.spent(Budget::HttpBytes) > 7);
    assert_eq!(caller.ledger.spent(Budget::HostMemory), 0);
}

#[tokio::test]
async fn a_name_is_connected_to_where_all_its_answers_may_be_reached() {
    let server = Server::start(|_| respond("", b"reached")).await;
    let mut config = loopback();
    config.hosts.insert("both.example".into(), vec!["127.0.0.9".parse().unwrap(), "127.0.0.1".parse().unwrap()]);
    let mut caller = Caller::new(config, layers(vec![open_rule(server.port)]), vec![]);
    // Nothing listens on the first address, so the second is tried.
    let answer = caller.get(&format!("http://Both.Example.:{}/", server.port)).await.unwrap();
    assert_eq!(answer.text(), "reached");
    assert_eq!(header(&server.seen()[0], "host").unwrap(), format!("both.example:{}", server.port));
}

#[tokio::test]
async fn the_gateways_own_address_answers_where_it_is_listed_exactly() {
    let server = Server::start(|_| respond("", b"reached")).await;
    let config = EgressConfig {
        exceptions: vec!["127.0.0.1/32".parse().unwrap()],
        own_addresses: vec![format!("127.0.0.1:{}", server.port).parse().unwrap()],
        ..EgressConfig::default()
    };
    let mut caller = Caller::new(config, layers(vec![open_rule(server.port)]), vec![]);
    assert!(caller.get(&server.url("/")).await.is_ok());
    let other = Server::start(|_| respond("", b"reached")).await;
    let config =
        EgressConfig { own_addresses: vec![format!("127.0.0.1:{}", server.port).parse().unwrap()], ..loopback() };
    let mut caller = Caller::new(config, layers(vec![open_rule(other.port)]), vec![]);
    assert!(caller.get(&other.url("/")).await.is_ok());
}

#[tokio::test]
async fn any_one_rule_that_matches_allows_and_legal_paths_pass() {
    let server = Server::start(|_| respond("", b"reached")).await;
    let closed = HttpRule { hosts: Hosts::List(vec![]), ..open_rule(server.port) };
    let narrow = HttpRule { paths: Some(vec!["/public/**".into()]), ..open_rule(server.port) };
    let mut caller = Caller::new(loopback(), layers(vec![closed, narrow]), vec![]);
    for path in ["/public/a", "/public/a%2eb", "/public/..a", "/public/$(x).txt", "/public/?q=/../"] {
        assert!(caller.get(&server.url(path)).await.is_ok(), "{path}");
    }
    // Without a path rule the path is the server's business.
    let mut caller = Caller::new(loopback(), layers(vec![open_rule(server.port)]), vec![]);
    assert!(caller.get(&server.url("/a/%2e%2e/b")).await.is_ok());
    assert!(server.seen().last().unwrap().starts_with("GET /a/%2e%2e/b "));
}

#[tokio::test]
async fn a_body_goes_out_and_headers_of_the_connection_do_not() {
    let server = Server::start(|request| respond("", request.rsplit("\r\n\r\n").next().unwrap().as_bytes())).await;
    let mut caller = Caller::new(loopback(), layers(vec![open_rule(server.port)]), vec![]);
    let request = Request::post(server.url("/"))
        .header("host", "evil.example")
        .header("proxy-authorization", "x")
        .header("proxy-anything", "x")
        .header("upgrade", "h2c")
        .header("te", "trailers")
        .header("x-own", "kept")
        .body(Bytes::from_static(b"a body"))
        .unwrap();
    assert_eq!(caller.send(request).await.unwrap().text(), "a body");
    let seen = server.seen().remove(0).to_ascii_lowercase();
    for absent in ["evil.example", "proxy-", "upgrade", "te: "] {
        assert!(!seen.contains(absent), "{absent} in {seen}");
    }
    assert!(seen.contains("x-own: kept"));
}

#[tokio::test]
async fn redirects_are_the_guests_to_follow() {
    let inner = Server::start(|_| respond("", b"inner")).await;
    let location = inner.url("/");
    let server = Server::start(move |_| {
        vec![format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n").into_bytes()]
    })
    .await;
    let mut caller = Caller::new(loopback(), layers(vec![open_rule(server.port)]), vec![]);
    let answer = caller.get(&server.url("/")).await.unwrap();
    assert_eq!(answer.status.as_u16(), 302);
    assert!(inner.seen().is_empty());
    assert_eq!(caller.refused(get(answer.headers["location"].to_str().unwrap())).await, "http.port-not-declared");
}

#[tokio::test]
async fn compressed_bodies_pass_untouched_where_no_secret_went_in() {
    let server = Server::start(|_| respond("Content-Encoding: br\r\n", b"\x8b\x01not really")).await;
    let mut caller = Caller::new(loopback(), layers(vec![open_rule(server.port)]), vec![]);
    let answer = caller.get(&server.url("/")).await.unwrap();
    assert_eq!(answer.headers["content-encoding"], "br");
    assert_eq!(answer.body.unwrap(), b"\x8b\x01not really");
}

#[tokio::test]
async fn tls_needs_a_certificate_that_the_operator_or_the_public_trusts() {
    for (alpn, version) in [(&b"h2"[..], "HTTP/2.0"), (&b"http/1.1"[..], "HTTP/1.1")] {
        let (port, pem) = tls_server(alpn).await;
        let config = |ca: Option<&str>| {
            let mut config = EgressConfig { extra_ca_pem: ca.map(|pem| pem.as_bytes().to_vec()), ..loopback() };
            for name in ["secure.example", "other.example"] {
                config.hosts.insert(name.into(), vec!["127.0.0.1".parse().unwrap()]);
            }
            config
        };
        let url = format!("https://secure.example:{port}/");
        let mut stranger = Caller::new(config(None), layers(vec![open_rule(port)]), vec![]);
        assert!(matches!(stranger.get(&url).await, Err(Error::TlsCertificateError)));
        let mut caller = Caller::new(config(Some(&pem)), layers(vec![open_rule(port)]), vec![]);
        let wrong = format!("https://other.example:{port}/");
        assert!(matches!(caller.get(&wrong).await, Err(Error::TlsCertificateError)));
        assert_eq!(caller.get(&url).await.unwrap().text(), format!("{version} secure.example:{port}"));
        let posted = caller.send(request("POST", &url)).await.unwrap();
        assert_eq!(posted.status.as_u16(), 200);
    }
}

#[test]
fn a_ca_file_without_certificates_is_an_error() {
    for pem in [&b""[..], b"nonsense", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let made = Egress::new(EgressConfig { extra_ca_pem: Some(pem.to_vec()), ..EgressConfig::default() });
        assert!(matches!(made, Err(EgressError::ExtraCa)));
    }
}

#[tokio::test]
async fn explanations_of_what_is_allowed() {
    let egress = Egress::new(EgressConfig::default()).unwrap();
    for url in
        ["http://[::ffff:0:0808:0808]/", "http://[64:ff9b::8.8.8.8]/", "http://0x08080808/", "https://example.com/"]
    {
        let explained = egress.explain(url, "GET", None, false).await;
        assert_eq!((explained.decision, explained.rule.as_str()), (Decision::Allow, "http.allowed"), "{url}");
    }
    let mut config = EgressConfig::default();
    config.hosts.insert("inner.example".into(), vec!["10.0.0.1".parse().unwrap()]);
    let egress = Egress::new(config).unwrap();
    assert_eq!(egress.explain("https://inner.example/", "GET", None, false).await.decision, Decision::Allow);
    let resolved = egress.explain("https://inner.example/", "GET", None, true).await;
    assert_eq!((resolved.decision, resolved.rule.as_str()), (Decision::Deny, "http.address-special"));
}
