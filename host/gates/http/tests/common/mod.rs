//! Real servers on loopback, and a call to send through the gate.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "shared by several test binaries, each of which uses a part; a test may panic"
)]

use bytes::Bytes;
use caisson_call::{Ledger, Limits};
use caisson_contract::{Capabilities, Effect, Hosts, HttpRule, Inject, Layer, LayerSource, Layers, SecretBinding};
use caisson_gate_http::{Egress, EgressConfig, HttpCtx, InjectedSecret};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

/// A server that reads one request a connection and writes what the test says, byte for byte.
pub struct Server {
    pub port: u16,
    /// Heads and bodies received, as text.
    pub seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// `answer` gets the request's text; each piece it gives is written and flushed on its own.
    pub async fn start(answer: impl Fn(&str) -> Vec<Vec<u8>> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                tokio::spawn(async move {
                    let mut text = Vec::new();
                    while !complete(&text) {
                        let mut piece = [0; 4096];
                        match stream.read(&mut piece).await {
                            Ok(0) | Err(_) => return,
                            Ok(n) => text.extend_from_slice(&piece[..n]),
                        }
                    }
                    let text = String::from_utf8_lossy(&text).into_owned();
                    let pieces = answer(&text);
                    log.lock().unwrap().push(text);
                    for piece in pieces {
                        if stream.write_all(&piece).await.is_err() || stream.flush().await.is_err() {
                            return;
                        }
                        tokio::task::yield_now().await;
                    }
                    // Open until the client leaves, so that an answer of no pieces is silence and not an end.
                    let _ = stream.read(&mut [0]).await;
                });
            }
        });
        Self { port, seen }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn complete(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let head = head.to_ascii_lowercase();
    if head.contains("transfer-encoding: chunked") {
        return body.ends_with("0\r\n\r\n");
    }
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok()).unwrap_or(0);
    body.len() >= length
}

/// One header of a request's text.
pub fn header(request: &str, name: &str) -> Option<String> {
    request.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}

/// A whole response with a length.
pub fn respond(headers: &str, body: &[u8]) -> Vec<Vec<u8>> {
    let mut text = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    text.extend_from_slice(body);
    vec![text]
}

/// A rule for everything on loopback, in the clear.
pub fn open_rule(port: u16) -> HttpRule {
    HttpRule {
        hosts: Hosts::List(vec!["127.0.0.1".into(), "*.example".into()]),
        blocked_hosts: vec![],
        methods: Some(["GET", "HEAD", "POST", "PUT"].map(String::from).to_vec()),
        paths: None,
        ports: Some(vec![port]),
        schemes: Some(vec!["http".into(), "https".into()]),
        reads: false,
        credentials: vec![],
    }
}

pub fn layer(source: LayerSource, rules: Vec<HttpRule>) -> Layer {
    Layer { source, capabilities: Arc::new(Capabilities { http: rules, ..Capabilities::default() }) }
}

/// Declared and granted alike.
pub fn layers(rules: Vec<HttpRule>) -> Layers {
    Layers::new(vec![layer(LayerSource::Declared, rules.clone()), layer(LayerSource::Granted, rules)], Effect::Mutating)
}

pub fn loopback() -> EgressConfig {
    EgressConfig { exceptions: vec!["127.0.0.0/8".parse().unwrap()], ..EgressConfig::default() }
}

pub fn secret(value: &str, port: u16, inject: Inject) -> InjectedSecret {
    InjectedSecret {
        name: "key".into(),
        value: value.to_owned().into(),
        bindings: vec![SecretBinding { host: "127.0.0.1".into(), scheme: "http".into(), port }],
        inject,
        hosts: vec!["127.0.0.1".into()],
    }
}

/// One call.
pub struct Caller {
    pub ctx: HttpCtx,
    pub ledger: Arc<Ledger>,
}

#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Result<Vec<u8>, Error>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.body.as_ref().unwrap()).into_owned()
    }
}

impl Caller {
    pub fn new(config: EgressConfig, layers: Layers, secrets: Vec<InjectedSecret>) -> Self {
        Self::within(Limits::default(), config, layers, secrets)
    }

    pub fn within(limits: Limits, config: EgressConfig, layers: Layers, secrets: Vec<InjectedSecret>) -> Self {
        let ledger = Arc::new(Ledger::new(limits));
        let egress = Arc::new(Egress::new(config).unwrap());
        Self { ctx: HttpCtx::new(layers, Arc::clone(&ledger), egress, secrets.into()), ledger }
    }

    pub async fn get(&mut self, url: &str) -> Result<Answer, Error> {
        self.send(Request::get(url).body(Bytes::new()).unwrap()).await
    }

    pub async fn send(&mut self, request: Request<Bytes>) -> Result<Answer, Error> {
        self.send_with(request, None).await
    }

    pub async fn send_with(
        &mut self,
        request: Request<Bytes>,
        options: Option<RequestOptions>,
    ) -> Result<Answer, Error> {
        let request =
            request.map(|body| -> WasiBody { Full::new(body).map_err(|never| match never {}).boxed_unsync() });
        let sent = self.ctx.hooks().send_request(request, options, Box::new(async { Ok(()) }));
        let (response, _connection) = Pin::from(sent).await?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map(|whole| whole.to_bytes().to_vec());
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }

    /// Sends what must be refused; the rule's name.
    pub async fn refused(&mut self, request: Request<Bytes>) -> String {
        let shown = format!("{} {}", request.method(), request.uri());
        match self.send(request).await {
            Err(Error::HttpRequestDenied) => {}
            other => panic!("{shown} should be refused: {other:?}"),
        }
        let denials = self.ledger.take_denials();
        assert_eq!(denials.len(), 1, "{shown}");
        denials.into_iter().next().unwrap().rule
    }
}

pub fn get(url: &str) -> Request<Bytes> {
    Request::get(url).body(Bytes::new()).unwrap()
}

pub fn request(method: &str, url: &str) -> Request<Bytes> {
    Request::builder().method(method).uri(url).body(Bytes::new()).unwrap()
}

/// An echo of version and host over TLS, for `secure.example`; its port and certificate.
pub async fn tls_server(alpn: &'static [u8]) -> (u16, String) {
    let made = rcgen::generate_simple_self_signed(vec!["secure.example".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![alpn.to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let echo = service_fn(|request: Request<hyper::body::Incoming>| async move {
                    let host = request.uri().authority().map(ToString::to_string);
                    let host = host.or_else(|| Some(request.headers().get("host")?.to_str().ok()?.to_owned()));
                    let text = format!("{:?} {}", request.version(), host.unwrap_or_default());
                    Ok::<_, std::convert::Infallible>(http::Response::new(Full::new(Bytes::from(text))))
                });
                let _ = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), echo)
                    .await;
            });
        }
    });
    (port, made.cert.pem())
}
