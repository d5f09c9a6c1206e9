//! The proxy of a command: what it does not pass on, what it makes of what it does.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod common;

use base64::Engine as _;
use caisson_contract::{HttpRule, Inject};
use caisson_gate_http::EgressConfig;
use common::{Caller, Server, header, layers, loopback, open_rule, respond, secret, tls_server};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;

/// A proxy that is gone with this value, and what the call's account says afterwards.
struct Proxied {
    caller: Caller,
    address: std::net::SocketAddr,
    serving: tokio::task::JoinHandle<()>,
    authority: Arc<str>,
}

impl Drop for Proxied {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Proxied {
    async fn start(caller: Caller) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let proxy = caller.ctx.proxy();
        let authority = proxy.authority().unwrap();
        Self { caller, address, serving: tokio::spawn(proxy.serve(listener)), authority }
    }

    async fn ask(&self, request: &str) -> String {
        talk(TcpStream::connect(self.address).await.unwrap(), request).await
    }

    /// The status of a `CONNECT`, and the connection where it is a tunnel.
    async fn tunnel(&self, to: &str) -> Result<TcpStream, String> {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n").as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return Err(String::from_utf8(head).unwrap()),
            }
        }
        let head = String::from_utf8(head).unwrap();
        if head.starts_with("HTTP/1.1 200") { Ok(stream) } else { Err(head) }
    }

    async fn secure(&self, to: &str, name: &str) -> TlsStream<TcpStream> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.authority.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let stream = self.tunnel(to).await.unwrap();
        tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
    }

    fn rules(&self) -> Vec<String> {
        self.caller.ledger.take_denials().into_iter().map(|denial| denial.rule).collect()
    }
}

/// Sends a request, whose connection ends with its answer.
async fn talk(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &str) -> String {
    let request = request.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A TLS connection that ends without a word has ended.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn only_get_a(port: u16) -> HttpRule {
    HttpRule { methods: Some(vec!["GET".into()]), paths: Some(vec!["/a/**".into()]), ..open_rule(port) }
}

fn named() -> EgressConfig {
    EgressConfig { hosts: [("in.example".to_owned(), vec!["127.0.0.1".parse().unwrap()])].into(), ..loopback() }
}

#[tokio::test]
async fn what_is_not_granted_does_not_leave_and_the_program_is_told_why() {
    let server = Server::start(|_| respond("", b"hello")).await;
    let port = server.port;
    let proxied = Proxied::start(Caller::new(named(), layers(vec![only_get_a(port)]), vec![])).await;
    let url = format!("http://in.example:{port}");
    for (request, rule) in [
        (format!("GET {url}/b HTTP/1.1\r\nHost: in.example\r\n\r\n"), "http.path-not-declared"),
        (
            format!("POST {url}/a/x HTTP/1.1\r\nHost: in.example\r\nContent-Length: 0\r\n\r\n"),
            "http.method-not-declared",
        ),
        (format!("GET {url}/a/../b HTTP/1.1\r\nHost: in.example\r\n\r\n"), "http.path"),
        ("GET http://169.254.169.254/latest HTTP/1.1\r\nHost: x\r\n\r\n".into(), "http.address-metadata"),
        ("GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n".into(), "http.address"),
        ("GET http://elsewhere.test/ HTTP/1.1\r\nHost: x\r\n\r\n".into(), "http.host-not-declared"),
    ] {
        let answer = proxied.ask(&request).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{request}: {answer}");
        let told = header(&answer, "caisson-rule").unwrap();
        assert!(told.starts_with(rule), "{request}: {told}");
        assert_eq!(proxied.rules(), [told], "{request}");
    }
    assert_eq!(server.seen(), [] as [String; 0]);
    // The twin.
    let answer = proxied.ask(&format!("GET {url}/a/x HTTP/1.1\r\nHost: lies.example\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("hello"), "{answer}");
    assert_eq!(
        header(&server.seen().concat(), "host").unwrap(),
        format!("in.example:{port}"),
        "judged is what is sent"
    );
}

#[tokio::test]
async fn what_is_no_request_to_a_proxy_is_answered_and_goes_nowhere() {
    let proxied = Proxied::start(Caller::new(loopback(), layers(vec![open_rule(80)]), vec![])).await;
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "400"),
        ("GET https://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "400"),
        ("GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "400"),
        ("CONNECT in.example HTTP/1.1\r\nHost: in.example\r\n\r\n", "400"),
        ("TRACE http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "403"),
        ("SSH-2.0-OpenSSH\r\n\r\n", "400"),
    ] {
        let answer = proxied.ask(request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {answer}");
    }
    for to in ["169.254.169.254:443", "10.0.0.1:443", "user@in.example:443"] {
        let refused = proxied.tunnel(to).await.unwrap_err();
        assert!(refused.starts_with("HTTP/1.1 40"), "{to}: {refused}");
    }
}

#[tokio::test]
async fn requests_in_a_tunnel_are_judged_one_by_one() {
    let (port, pem) = tls_server(b"h2").await;
    let config = EgressConfig {
        extra_ca_pem: Some(pem.into_bytes()),
        hosts: [("secure.example".to_owned(), vec!["127.0.0.1".parse().unwrap()])].into(),
        ..loopback()
    };
    let proxied = Proxied::start(Caller::new(config, layers(vec![only_get_a(port)]), vec![])).await;
    let to = format!("secure.example:{port}");
    for (request, status) in [
        (format!("GET /b HTTP/1.1\r\nHost: {to}\r\n\r\n"), "403"),
        (format!("GET /a/x HTTP/1.1\r\nHost: other.example:{port}\r\n\r\n"), "421"),
        (format!("GET https://other.example/a/x HTTP/1.1\r\nHost: {to}\r\n\r\n"), "400"),
        (format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n"), "400"),
    ] {
        let answer = talk(proxied.secure(&to, "secure.example").await, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {answer}");
    }
    let answer =
        talk(proxied.secure(&to, "secure.example").await, &format!("GET /a/x HTTP/1.1\r\nHost: {to}\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(&format!("HTTP/2.0 {to}")), "{answer}");
    let unknown = proxied.secure(&format!("127.0.0.1:{port}"), "127.0.0.1").await;
    let answer = talk(unknown, &format!("GET /a/x HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 502") && answer.contains("certificate"), "{answer}");
}

#[tokio::test]
async fn credentials_are_put_in_for_programs_and_taken_out_of_what_comes_back() {
    let server =
        Server::start(|request| respond("", header(request, "authorization").unwrap_or_default().as_bytes())).await;
    let port = server.port;
    let rule = HttpRule { credentials: vec!["key".into()], ..open_rule(port) };
    let put_in = Inject::Header { header: "Authorization".into(), prefix: "Bearer ".into() };
    let secret = secret("s3cr3t-value-of-a-tenant", port, put_in);
    let proxied = Proxied::start(Caller::new(loopback(), layers(vec![rule]), vec![secret])).await;
    let own = base64::engine::general_purpose::STANDARD.encode("me:mine");
    let request = format!(
        "GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {own}\r\nProxy-Authorization: Basic {own}\r\n\r\n"
    );
    let answer = proxied.ask(&request).await;
    assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("s3cr3t"), "{answer}");
    let seen = server.seen().concat();
    assert_eq!(header(&seen, "authorization").unwrap(), "Bearer s3cr3t-value-of-a-tenant");
    assert_eq!(header(&seen, "proxy-authorization"), None);
}

#[tokio::test]
async fn smuggled_framing_reaches_nobody() {
    let server = Server::start(|_| respond("", b"hello")).await;
    let port = server.port;
    let proxied = Proxied::start(Caller::new(loopback(), layers(vec![open_rule(port)]), vec![])).await;
    let url = format!("http://127.0.0.1:{port}/");
    for head in [
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "X: a\r\n Y: b\r\n\r\n",
        "X : a\r\n\r\n",
    ] {
        proxied.ask(&format!("POST {url} HTTP/1.1\r\nHost: x\r\n{head}")).await;
    }
    for request in server.seen() {
        assert_eq!(request.matches("HTTP/1.1").count(), 1, "{request}");
        let framings = ["content-length", "transfer-encoding"].iter().filter(|name| header(&request, name).is_some());
        assert!(framings.count() <= 1, "{request}");
    }
}

#[tokio::test]
async fn the_budget_of_the_call_is_that_of_its_programs() {
    let server = Server::start(|_| respond("", b"hello")).await;
    let port = server.port;
    let mut limits = caisson_call::Limits::default();
    limits.set(caisson_call::Budget::HttpRequests, 2);
    let proxied = Proxied::start(Caller::within(limits, loopback(), layers(vec![open_rule(port)]), vec![])).await;
    let request = format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n");
    for status in ["200", "200", "429"] {
        assert!(proxied.ask(&request).await.starts_with(&format!("HTTP/1.1 {status}")), "{status}");
    }
}
