//! A guest and a server that try to bring a credential out.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may panic")]

mod common;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use caisson_contract::{Effect, HttpRule, Inject, LayerSource, Layers, SecretBinding};
use caisson_gate_http::InjectedSecret;
use common::{Answer, Caller, Server, get, header, layer, layers, loopback, open_rule, respond, secret};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::Request;
use std::io::Write as _;

const SECRET: &str = "tOp/s3cret+value\"9";

fn bearer() -> Inject {
    Inject::Header { header: "Authorization".into(), prefix: "Bearer ".into() }
}

fn with_credential(port: u16) -> HttpRule {
    HttpRule { credentials: vec!["key".into()], ..open_rule(port) }
}

fn caller(port: u16) -> Caller {
    Caller::new(loopback(), layers(vec![with_credential(port)]), vec![secret(SECRET, port, bearer())])
}

/// The guest's whole view of a response must not hold the secret, plainly or in base64 or hexadecimal.
fn assert_clean(answer: &Answer) {
    let mut view = format!("{:?}", answer.headers);
    view.push_str(&String::from_utf8_lossy(answer.body.as_deref().unwrap_or_default()));
    let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = STANDARD.encode(SECRET);
    for form in [SECRET, &hex, base64.trim_end_matches(['=', 'k', 'i', 'I', 'j', 'O', 'T', 'k'])] {
        assert!(!view.contains(form), "{form} in {view}");
    }
}

type Encoder = fn(&str) -> String;
type Packer = fn(&[u8]) -> Vec<u8>;

#[tokio::test]
async fn echoes_come_back_without_the_secret_and_with_their_length() {
    let encoders: Vec<(&str, Encoder)> = vec![
        ("raw", str::to_owned),
        ("base64", |text| STANDARD.encode(text)),
        ("base64, url-safe, shifted", |text| URL_SAFE_NO_PAD.encode(format!("x{text}"))),
        ("json", |text| format!("{{\"authorization\":{text:?}}}")),
        ("percent", |text| text.bytes().map(|byte| format!("%{byte:02X}")).collect()),
        ("hexadecimal", |text| text.bytes().map(|byte| format!("{byte:02X}")).collect()),
    ];
    for (name, encode) in encoders {
        let server = Server::start(move |request| {
            let echo = encode(&header(request, "authorization").unwrap());
            respond(&format!("X-Echo: {}\r\n", echo.replace('\n', "")), format!("before {echo} after").as_bytes())
        })
        .await;
        let answer = caller(server.port).get(&server.url("/")).await.unwrap();
        assert_eq!(header(&server.seen()[0], "authorization").unwrap(), format!("Bearer {SECRET}"));
        assert_clean(&answer);
        let text = answer.text();
        assert!(text.starts_with("before ") && text.ends_with(" after") && text.contains("****"), "{name}: {text}");
        assert_eq!(answer.headers["content-length"].to_str().unwrap(), text.len().to_string(), "{name}");
    }
}

#[tokio::test]
async fn compressed_echoes_are_unpacked_first() {
    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }
    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }
    fn raw(text: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }
    let codings: Vec<(&str, Packer)> = vec![("gzip", gzip), ("x-gzip", gzip), ("deflate", zlib), ("deflate", raw)];
    for (name, pack) in codings {
        let server = Server::start(move |request| {
            let text = format!("{} {}", "padding ".repeat(1000), header(request, "authorization").unwrap());
            respond(&format!("Content-Encoding: {name}\r\n"), &pack(text.as_bytes()))
        })
        .await;
        let answer = caller(server.port).get(&server.url("/")).await.unwrap();
        assert_clean(&answer);
        assert!(answer.text().ends_with("padding  Bearer ******************"), "{name}");
        assert!(!answer.headers.contains_key("content-encoding") && !answer.headers.contains_key("content-length"));
        assert_eq!(header(&server.seen()[0], "accept-encoding").unwrap(), "identity");
    }
    // What cannot be unpacked here is not handed on.
    for coding in ["br", "zstd", "gzip, gzip", "compress"] {
        let server = Server::start(move |_| respond(&format!("Content-Encoding: {coding}\r\n"), b"x")).await;
        assert!(caller(server.port).get(&server.url("/")).await.is_err(), "{coding}");
    }
    // Nor gzip that does not call itself so, once the secret shows in it; without the secret it passes as it is.
    let server =
        Server::start(|request| respond("", &gzip(header(request, "authorization").unwrap().as_bytes()))).await;
    assert!(caller(server.port).get(&server.url("/")).await.unwrap().body.is_err());
    let server = Server::start(|_| respond("", &gzip(b"an archive"))).await;
    assert_eq!(caller(server.port).get(&server.url("/")).await.unwrap().body.unwrap(), gzip(b"an archive"));
}

#[tokio::test]
async fn a_bomb_is_noticed_before_it_is_unpacked() {
    let server = Server::start(|_| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..64 {
            encoder.write_all(&[0; 1 << 20]).unwrap();
        }
        respond("Content-Encoding: gzip\r\n", &encoder.finish().unwrap())
    })
    .await;
    let mut caller = caller(server.port);
    assert!(caller.get(&server.url("/")).await.unwrap().body.is_err());
}

#[tokio::test]
async fn an_echo_in_pieces_of_one_byte_is_still_recognised() {
    let server = Server::start(|request| {
        let echo = format!("<{}>", header(request, "authorization").unwrap());
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        let pieces = echo.bytes().map(|byte| [b"1\r\n", &[byte][..], b"\r\n"].concat());
        std::iter::once(head).chain(pieces).chain([b"0\r\n\r\n".to_vec()]).collect()
    })
    .await;
    let answer = caller(server.port).get(&server.url("/")).await.unwrap();
    assert_eq!(answer.text(), format!("<Bearer {}>", "*".repeat(SECRET.len())));
}

#[tokio::test]
async fn headers_and_redirects_are_masked_and_followed_without_the_credential() {
    let elsewhere = Server::start(|_| respond("", b"")).await;
    let port = elsewhere.port;
    let server = Server::start(move |request| {
        let secret = header(request, "authorization").unwrap().replace("Bearer ", "");
        let mut encoded = String::new();
        encoded.extend(secret.bytes().map(|byte| format!("%{byte:02x}")));
        let head = format!("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{port}/?k={encoded}\r\nX-Token: {secret}\r\nContent-Length: 0\r\n\r\n");
        vec![head.into_bytes()]
    })
    .await;
    let both = vec![with_credential(server.port), with_credential(port)];
    let mut caller = Caller::new(loopback(), layers(both), vec![secret(SECRET, server.port, bearer())]);
    let answer = caller.get(&server.url("/")).await.unwrap();
    assert_clean(&answer);
    let location = answer.headers["location"].to_str().unwrap().to_owned();
    assert!(location.contains("/?k=***") && !location.contains('%'), "{location}");
    caller.get(&location).await.unwrap();
    assert_eq!(header(&elsewhere.seen()[0], "authorization"), None);
}

#[tokio::test]
async fn a_credential_goes_nowhere_but_where_all_agree() {
    let server = Server::start(|_| respond("", b"")).await;
    let port = server.port;
    let binding =
        |host: &str, scheme: &str, port| vec![SecretBinding { host: host.into(), scheme: scheme.into(), port }];
    let good = || secret(SECRET, port, bearer());
    let cases: Vec<(&str, InjectedSecret, HttpRule)> = vec![
        (
            "another port bound",
            InjectedSecret { bindings: binding("127.0.0.1", "http", port.wrapping_add(1)), ..good() },
            with_credential(port),
        ),
        (
            "another scheme bound",
            InjectedSecret { bindings: binding("127.0.0.1", "https", port), ..good() },
            with_credential(port),
        ),
        (
            "another host bound",
            InjectedSecret { bindings: binding("127.0.0.2", "http", port), ..good() },
            with_credential(port),
        ),
        ("a pattern bound", InjectedSecret { bindings: binding("*", "http", port), ..good() }, with_credential(port)),
        ("nothing bound", InjectedSecret { bindings: vec![], ..good() }, with_credential(port)),
        (
            "another host in the manifest",
            InjectedSecret { hosts: vec!["127.0.0.2".into()], ..good() },
            with_credential(port),
        ),
        ("no host in the manifest", InjectedSecret { hosts: vec![], ..good() }, with_credential(port)),
        ("another credential in the rule", good(), HttpRule { credentials: vec!["other".into()], ..open_rule(port) }),
        ("no credential in the rule", good(), open_rule(port)),
    ];
    for (why, secret, rule) in cases {
        let mut caller = Caller::new(loopback(), layers(vec![rule]), vec![secret]);
        caller.get(&server.url("/")).await.unwrap();
        assert_eq!(header(server.seen().last().unwrap(), "authorization"), None, "{why}");
    }
    // A grant that names the credential does not make up for a manifest that does not.
    let split = Layers::new(
        vec![
            layer(LayerSource::Declared, vec![open_rule(port)]),
            layer(LayerSource::Granted, vec![with_credential(port)]),
        ],
        Effect::Mutating,
    );
    Caller::new(loopback(), split, vec![good()]).get(&server.url("/")).await.unwrap();
    assert_eq!(header(server.seen().last().unwrap(), "authorization"), None);
    let mut caller = caller(port);
    caller.get(&server.url("/")).await.unwrap();
    assert!(header(server.seen().last().unwrap(), "authorization").is_some());
    assert_eq!(caller.refused(get(&format!("http://key@127.0.0.1:{port}/"))).await, "http.userinfo");
}

#[tokio::test]
async fn what_the_guest_sends_under_the_name_is_replaced() {
    let server = Server::start(|_| respond("", b"")).await;
    let mut caller = caller(server.port);
    let request = Request::get(server.url("/"))
        .header("authorization", "mine")
        .header("authorization", "mine too")
        .header("range", "bytes=0-3")
        .header("accept-encoding", "br")
        .body(Bytes::new())
        .unwrap();
    caller.send(request).await.unwrap();
    let seen = server.seen().remove(0);
    assert_eq!(header(&seen, "authorization").unwrap(), format!("Bearer {SECRET}"));
    assert!(!seen.contains("mine") && header(&seen, "range").is_none(), "{seen}");
}

#[tokio::test]
async fn secrets_in_queries_and_basic_authentication_are_put_in_and_taken_out() {
    let server = Server::start(|request| respond("", request.as_bytes())).await;
    let port = server.port;
    let query = secret("abc def&9", port, Inject::Query { query: "key".into() });
    let mut caller = Caller::new(loopback(), layers(vec![with_credential(port)]), vec![query]);
    let answer = caller.get(&server.url("/a?key=mine&x=1")).await.unwrap();
    assert!(server.seen()[0].starts_with("GET /a?x=1&key=abc+def%269 HTTP"), "{}", server.seen()[0]);
    assert!(answer.text().starts_with("GET /a?x=1&key=*********** HTTP"), "{}", answer.text());

    let basic = secret(SECRET, port, Inject::Basic { basic: "user".into() });
    let mut caller = Caller::new(loopback(), layers(vec![with_credential(port)]), vec![basic]);
    let answer = caller.get(&server.url("/")).await.unwrap();
    let pair = STANDARD.encode(format!("user:{SECRET}"));
    assert_eq!(header(&server.seen()[1], "authorization").unwrap(), format!("Basic {pair}"));
    assert!(!answer.text().contains(&pair));
    assert_eq!(header(&answer.text(), "authorization").unwrap(), format!("Basic {}", "*".repeat(pair.len())));
}

#[tokio::test]
async fn a_secret_that_no_header_can_hold_refuses_the_request() {
    let server = Server::start(|_| respond("", b"")).await;
    let broken = secret("line\nbreak", server.port, bearer());
    let mut caller = Caller::new(loopback(), layers(vec![with_credential(server.port)]), vec![broken]);
    assert_eq!(caller.refused(get(&server.url("/"))).await, "http.credential-unusable");
    assert!(server.seen().is_empty());
}
