//! The proxy of one command: what a program asks for is decided, counted and cleaned exactly like a guest's own request.

use crate::body::remove;
use crate::decide::decide;
use crate::host::{Answer, CallState, NotSent, is_forbidden};
use caisson_call::{Denial, Refused};
use caisson_guard::Target;
use http::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use http::uri::Authority;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

/// Connections of one command at once; more wait.
const MAX_CONNECTIONS: usize = 32;

/// Longest wait for the head of a request, and for a TLS handshake.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Most bytes of a request's head.
const MAX_HEAD: usize = 64 * 1024;

/// The way out for the programs of one call.
#[derive(Clone)]
pub struct Proxy(pub(crate) Arc<CallState>);

/// The proxy cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("the proxy has no certificates: {0}")]
pub struct NoProxy(String);

impl Proxy {
    /// The certificate, PEM, that programs have to trust: TLS ends here.
    ///
    /// # Errors
    /// Where none can be made.
    pub fn authority(&self) -> Result<Arc<str>, NoProxy> {
        self.0.egress.authority().map(|authority| authority.pem()).map_err(|error| NoProxy(error.to_string()))
    }

    /// Serves every connection of one command. Never done; dropping it ends what is under way.
    pub async fn serve(self, listener: TcpListener) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                    Ok((stream, _)) => drop(connections.spawn(plain(Arc::clone(&self.0), stream))),
                    Err(error) => {
                        tracing::warn!(%error, "a command's connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }
}

/// A tunnel that was asked for: to whom, and the connection once the answer to it is sent.
type Tunnel = Arc<Mutex<Option<(Target, Authority, OnUpgrade)>>>;

/// One connection, in the clear until it asks for a tunnel.
async fn plain(call: Arc<CallState>, stream: tokio::net::TcpStream) {
    let tunnel = Tunnel::default();
    let service = service_fn(|mut request: Request<Incoming>| {
        let (call, tunnel) = (Arc::clone(&call), Arc::clone(&tunnel));
        async move {
            Ok::<_, Infallible>(if request.method() != Method::CONNECT {
                in_the_clear(&call, request).await
            } else {
                match connect(&call, &mut request) {
                    Ok(asked) => {
                        *tunnel.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(asked);
                        Response::new(whole(Bytes::new()))
                    }
                    Err(refusal) => refusal,
                }
            })
        }
    });
    let served = builder().serve_connection(TokioIo::new(stream), service).with_upgrades().await;
    let asked = tunnel.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    match (served, asked) {
        (Ok(()), Some((target, authority, upgrade))) => {
            if let Err(why) = tunnelled(call, target, authority, upgrade).await {
                tracing::debug!(why, "a command's tunnel ended early");
            }
        }
        (Err(error), _) => tracing::debug!(%error, "a command's connection ended early"),
        (Ok(()), None) => {}
    }
}

fn builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(MAX_HEAD);
    builder
}

/// Judges whom a tunnel is for; what is asked for in it is judged there.
fn connect(
    call: &CallState,
    request: &mut Request<Incoming>,
) -> Result<(Target, Authority, OnUpgrade), Response<WasiBody>> {
    let authority = request.uri().authority().cloned();
    let Some(authority) = authority.filter(|authority| authority.port().is_some()) else {
        return Err(says(StatusCode::BAD_REQUEST, "a tunnel needs a host and a port: `CONNECT host:443`".into()));
    };
    let url = format!("https://{authority}/");
    let judged = decide(Method::GET.as_str(), &url, None, call.egress.exceptions(), call.egress.own());
    match judged {
        Ok(allowed) => Ok((allowed.target, authority, hyper::upgrade::on(request))),
        Err(denial) => Err(denied(call, denial)),
    }
}

/// TLS in the name of the host, and HTTP within.
async fn tunnelled(
    call: Arc<CallState>,
    target: Target,
    authority: Authority,
    upgrade: OnUpgrade,
) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let config = call.egress.authority().and_then(|ours| ours.server(&target.host).map_err(Arc::new));
    let acceptor = tokio_rustls::TlsAcceptor::from(config.map_err(|error| text(&error))?);
    let stream = upgrade.await.map_err(|error| text(&error))?;
    let stream = tokio::time::timeout(HEAD_TIMEOUT, acceptor.accept(TokioIo::new(stream)));
    let stream = stream.await.map_err(|error| text(&error))?.map_err(|error| text(&error))?;
    within(call, authority, stream).await.map_err(|error| text(&error))
}

async fn within(
    call: Arc<CallState>,
    authority: Authority,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<(), hyper::Error> {
    let service = service_fn(|request: Request<Incoming>| {
        let (call, authority) = (Arc::clone(&call), authority.clone());
        async move { Ok::<_, Infallible>(in_tunnel(&call, &authority, request).await) }
    });
    builder().serve_connection(TokioIo::new(stream), service).await
}

async fn in_the_clear(call: &CallState, request: Request<Incoming>) -> Response<WasiBody> {
    match (request.uri().scheme_str(), request.uri().authority()) {
        (Some("http"), Some(_)) => forward(call, request).await,
        (Some(_), _) => says(
            StatusCode::BAD_REQUEST,
            "this proxy takes `http` requests, and `CONNECT` for `https`; nothing else leads anywhere".into(),
        ),
        (None, _) => says(
            StatusCode::BAD_REQUEST,
            "this is a proxy and no server: ask for whole addresses, `GET http://host/path`".into(),
        ),
    }
}

async fn in_tunnel(call: &CallState, authority: &Authority, mut request: Request<Incoming>) -> Response<WasiBody> {
    let path = match request.uri().path_and_query() {
        Some(path) if request.uri().authority().is_none() && path.as_str().starts_with('/') => path.clone(),
        _ => return says(StatusCode::BAD_REQUEST, "a request in a tunnel begins with its path".into()),
    };
    // What is judged is what the tunnel was made for, so another name within has no meaning but to deceive.
    if !request.headers().get_all(HOST).iter().all(|host| is_same(host, authority)) {
        return says(
            StatusCode::MISDIRECTED_REQUEST,
            format!("the tunnel is for `{authority}`; open another one for another host"),
        );
    }
    match Uri::builder().scheme("https").authority(authority.clone()).path_and_query(path).build() {
        Ok(uri) => *request.uri_mut() = uri,
        Err(_) => return says(StatusCode::BAD_REQUEST, "the path is none that a URL can have".into()),
    }
    forward(call, request).await
}

fn is_same(host: &HeaderValue, authority: &Authority) -> bool {
    let Some(host) = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()) else { return false };
    let port = |authority: &Authority| authority.port_u16().unwrap_or(443);
    host.host().eq_ignore_ascii_case(authority.host()) && port(&host) == port(authority)
}

async fn forward(call: &CallState, request: Request<Incoming>) -> Response<WasiBody> {
    let (mut parts, body) = request.into_parts();
    remove_hop_by_hop(&mut parts.headers);
    let body = body.map_err(|_| Error::HttpProtocolError).boxed_unsync();
    match call.send(Request::from_parts(parts, body), RequestOptions::default()).await {
        Ok(answer) => passed_on(answer),
        Err(NotSent::Denied(denial)) => denied(call, denial),
        Err(NotSent::Failed(error)) => failed(&error),
    }
}

/// Headers that are about one connection, those that `Connection` names among them.
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    remove(headers, is_forbidden);
}

fn passed_on((response, driver): Answer) -> Response<WasiBody> {
    let (mut parts, body) = response.into_parts();
    remove_hop_by_hop(&mut parts.headers);
    parts.version = Version::HTTP_11;
    Response::from_parts(parts, Driven { body, _driver: driver }.boxed_unsync())
}

/// A body with the connection that it comes from.
struct Driven<D> {
    body: WasiBody,
    _driver: D,
}

impl<D: Unpin> Body for Driven<D> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn denied(call: &CallState, denial: Denial) -> Response<WasiBody> {
    call.note(denial.clone());
    let rule = HeaderValue::try_from(denial.rule.as_str());
    let mut response = says(StatusCode::FORBIDDEN, Refused::Denied(denial).message());
    if let Ok(rule) = rule {
        response.headers_mut().insert("caisson-rule", rule);
    }
    response
}

/// Nothing that a server or library said is passed on as the gateway's own words.
fn failed(error: &Error) -> Response<WasiBody> {
    let (status, why) = match error {
        Error::ConnectionLimitReached => {
            (StatusCode::TOO_MANY_REQUESTS, "the call's budget of requests or of memory for them is spent")
        }
        Error::HttpRequestBodySize(_) => (StatusCode::PAYLOAD_TOO_LARGE, "the call's budget of HTTP bytes is spent"),
        Error::DnsTimeout | Error::DnsError { .. } | Error::DestinationNotFound => {
            (StatusCode::BAD_GATEWAY, "the name cannot be resolved")
        }
        Error::ConnectionTimeout | Error::ConnectionReadTimeout | Error::HttpResponseTimeout => {
            (StatusCode::GATEWAY_TIMEOUT, "the server does not answer in time")
        }
        Error::TlsCertificateError => (StatusCode::BAD_GATEWAY, "the server's certificate is not trusted"),
        Error::ConnectionRefused => (StatusCode::BAD_GATEWAY, "the server refuses the connection"),
        _ => (StatusCode::BAD_GATEWAY, "the server cannot be reached or does not speak HTTP"),
    };
    says(status, why.into())
}

fn says(status: StatusCode, text: String) -> Response<WasiBody> {
    let mut response = Response::new(whole((text + "\n").into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn whole(bytes: Bytes) -> WasiBody {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}
