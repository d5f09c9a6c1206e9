//! The one place where a request leaves.

use crate::body::{Bounds, Held, RequestBody, ResponseBody, mask_headers, remove, size_of};
use crate::decide::{Allowed, decide, refused};
use crate::decode::Coding;
use crate::egress::{Egress, Sender};
use crate::error::{Failure, exchanging, spend};
use crate::inject::InjectedSecret;
use crate::redact::Needles;
use caisson_call::{Budget, Capability, Denial, Ledger};
use caisson_contract::Layers;
use caisson_guard::Target;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, IF_RANGE, RANGE, TE,
    TRAILER,
};
use http::request::Parts;
use http::{Request, Response, Uri, Version};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn};
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpHooks,
};

/// Buffers of one connection: hyper's, TLS's and the window of HTTP/2, as bounded in `egress`.
const CONNECTION_MEMORY: u64 = 128 * 1024;

/// What a guest may write to an outgoing body at once; each such piece is copied into the host.
const MAX_WRITE: usize = 64 * 1024;

/// A future as the hooks' signature has it.
type Later<T> = Box<dyn Future<Output = Result<T, Error>> + Send>;

/// A response, and what has to live as long as its body.
pub(crate) type Answer = (Response<WasiBody>, Later<()>);

/// What the gate knows of the call.
pub(crate) struct Hooks(Arc<CallState>);

/// State of one call that a request needs.
pub(crate) struct CallState {
    layers: Layers,
    ledger: Arc<Ledger>,
    pub(crate) egress: Arc<Egress>,
    secrets: Arc<[InjectedSecret]>,
    deadline: Instant,
}

/// Longest that a program may run, and so the last moment at which its requests end.
const PROGRAM: Duration = Duration::from_secs(3_600);

/// Why a request was not answered.
pub(crate) enum NotSent {
    /// A rule refused it.
    Denied(Denial),
    /// Anything else.
    Failed(Error),
}

impl From<Error> for NotSent {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Hooks {
    pub(crate) fn new(
        layers: Layers,
        ledger: Arc<Ledger>,
        egress: Arc<Egress>,
        secrets: Arc<[InjectedSecret]>,
    ) -> Self {
        let now = Instant::now();
        // A wall time past what the clock can say is no limit anybody meant; a day stands for it.
        let deadline = now.checked_add(ledger.limits().wall).unwrap_or(now + Duration::from_secs(86_400));
        Self(Arc::new(CallState { layers, ledger, egress, secrets, deadline }))
    }

    /// The same for the programs of the call: its clock stands still while they run.
    pub(crate) fn for_programs(&self) -> Arc<CallState> {
        let CallState { layers, ledger, egress, secrets, .. } = &*self.0;
        Arc::new(CallState {
            layers: layers.clone(),
            ledger: Arc::clone(ledger),
            egress: Arc::clone(egress),
            secrets: Arc::clone(secrets),
            deadline: Instant::now() + PROGRAM,
        })
    }
}

/// Headers about the connection, which is the gate's business, and those that would turn a request into another one.
pub(crate) fn is_forbidden(name: &HeaderName) -> bool {
    DEFAULT_FORBIDDEN_HEADERS.contains(name)
        || [TE, TRAILER, EXPECT].contains(name)
        || name.as_str().starts_with("proxy-")
}

impl WasiHttpHooks for Hooks {
    fn is_forbidden_header(&mut self, name: &HeaderName) -> bool {
        is_forbidden(name)
    }

    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(is_forbidden)
    }

    /// The gate sets it, from the parts that were judged.
    fn set_host_header(&mut self) -> bool {
        false
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        MAX_WRITE
    }

    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _sent: Later<()>,
    ) -> Later<Answer> {
        let call = Arc::clone(&self.0);
        Box::new(async move {
            let left = call.deadline.saturating_duration_since(Instant::now());
            let sent = timeout(left, call.send(request, options.unwrap_or_default())).await;
            sent.map_err(|_| Error::HttpResponseTimeout)?.map_err(|not| match not {
                NotSent::Failed(error) => error,
                NotSent::Denied(denial) => {
                    call.note(denial);
                    Error::HttpRequestDenied
                }
            })
        })
    }
}

impl CallState {
    pub(crate) async fn send(&self, request: Request<WasiBody>, options: RequestOptions) -> Result<Answer, NotSent> {
        let (mut parts, body) = request.into_parts();
        let (method, url) = (parts.method.as_str().to_owned(), parts.uri.to_string());
        let Allowed { target, credentials } =
            decide(&method, &url, Some(&self.layers), self.egress.exceptions(), self.egress.own())
                .map_err(NotSent::Denied)?;
        // Charged before the look-up: asking for a name is already something that a server sees.
        self.ledger.charge(Budget::HttpRequests, 1).map_err(|_| Error::ConnectionLimitReached)?;
        let held = Held::take(&self.ledger, CONNECTION_MEMORY)?;
        let by_rule = |failure| match failure {
            Failure::Refused(refusal) => NotSent::Denied(refused(&method, &url, &refusal)),
            Failure::Failed(error) => NotSent::Failed(error),
        };
        let addresses = self.egress.resolve(&target).await.map_err(by_rule)?;

        remove(&mut parts.headers, is_forbidden);
        let needles = self.put_in(&mut parts, &target, &credentials, &method, &url)?;
        spend(&self.ledger, size_of(&parts.headers) + url.len(), Error::HttpRequestBodySize)?;

        let configured = self.egress.config();
        let limit = options.connect_timeout.unwrap_or(configured.connect_timeout);
        let (sender, driver) = self.egress.connect(&target, &addresses, limit).await.map_err(by_rule)?;
        let driver = spawn(driver);

        let body = RequestBody { inner: body, ledger: Arc::clone(&self.ledger), forbidden: is_forbidden };
        let request = Request::from_parts(parts, body.boxed_unsync());
        let first =
            options.first_byte_timeout.map_or(configured.first_byte_timeout, |t| t.min(configured.first_byte_timeout));
        let response = timeout(first, exchange(sender, request, &target))
            .await
            .map_err(|_| Error::ConnectionReadTimeout)?
            .map_err(|failed| failed.unwrap_or_else(|error| exchanging(&error, &self.ledger)))?;
        let between = options
            .between_bytes_timeout
            .map_or(configured.between_bytes_timeout, |t| t.min(configured.between_bytes_timeout));
        Ok((self.receive(response, needles, between, held)?, keep(driver)))
    }

    /// Puts a refusal on the call's account.
    pub(crate) fn note(&self, denial: Denial) {
        tracing::debug!(rule = denial.rule, subject = denial.subject, "an http request was refused");
        self.ledger.refuse(denial);
    }

    /// Puts in every credential that goes to the target, and makes ready to find them in the response.
    fn put_in(
        &self,
        parts: &mut Parts,
        target: &Target,
        named: &std::collections::BTreeSet<String>,
        method: &str,
        url: &str,
    ) -> Result<Option<Arc<Needles>>, NotSent> {
        let going: Vec<&InjectedSecret> = self.secrets.iter().filter(|secret| secret.goes_to(target, named)).collect();
        if going.is_empty() {
            return Ok(None);
        }
        let unusable = || {
            NotSent::Denied(Denial {
                capability: Capability::Http,
                rule: "http.credential-unusable".into(),
                subject: crate::decide::subject(method, url),
                grant: "the tenant stores the secret again, in characters that a header may have".into(),
                approval: None,
            })
        };
        let mut pairs = Vec::new();
        for secret in &going {
            pairs.extend(secret.put_into(parts).ok_or_else(unusable)?);
        }
        // What comes back has to be read here, so it must come in a form that can be; and a range of an echo would cut the
        // secret into pieces that nobody can recognise.
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        parts.headers.remove(RANGE);
        parts.headers.remove(IF_RANGE);
        let values: Vec<&[u8]> = going
            .iter()
            .map(|secret| secret.value.as_bytes())
            .chain(pairs.iter().map(|pair| pair.as_bytes()))
            .collect();
        Needles::new(&values).map(|needles| Some(Arc::new(needles))).map_err(|_| unusable())
    }

    fn receive(
        &self,
        response: Response<Incoming>,
        needles: Option<Arc<Needles>>,
        between: Duration,
        held: Held,
    ) -> Result<Response<WasiBody>, Error> {
        let (mut parts, incoming) = response.into_parts();
        spend(&self.ledger, size_of(&parts.headers), Error::HttpResponseBodySize)?;
        let bounds = Bounds {
            ledger: Arc::clone(&self.ledger),
            max: self.egress.config().max_response_bytes,
            between,
            deadline: self.deadline,
        };
        let mut body = ResponseBody::new(incoming, bounds, held);
        // The reason phrase is the server's text, and the guest has no use for it.
        parts.extensions.clear();
        if let Some(needles) = needles {
            let coding = Coding::of(&parts.headers).ok_or(Error::HttpResponseContentCoding(None))?;
            let transfer = parts.headers.get_all(http::header::TRANSFER_ENCODING).iter();
            if transfer.into_iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"chunked")) {
                return Err(Error::HttpResponseTransferCoding(None));
            }
            if coding != Coding::Identity {
                parts.headers.remove(CONTENT_ENCODING);
                parts.headers.remove(CONTENT_LENGTH);
            }
            mask_headers(&mut parts.headers, &needles);
            body = body.cleaned(needles, coding);
        }
        Ok(Response::from_parts(parts, body.boxed_unsync()))
    }
}

/// Keeps the connection moving until its response is dropped.
fn keep(driver: AbortOnDropJoinHandle<()>) -> Later<()> {
    Box::new(async move {
        driver.await;
        Ok(())
    })
}

/// Sends and waits for the head. The inner error is one of ours, the outer one hyper's.
async fn exchange(
    sender: Sender,
    mut request: Request<WasiBody>,
    target: &Target,
) -> Result<Response<Incoming>, Result<Error, hyper::Error>> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let path = if path.starts_with('?') { format!("/{path}") } else { path.to_owned() };
    let authority = if target.port == target.scheme.default_port() {
        target.host.to_string()
    } else {
        format!("{}:{}", target.host, target.port)
    };
    let invalid = || Ok(Error::HttpRequestUriInvalid);
    match sender {
        Sender::Http1(mut sender) => {
            *request.uri_mut() = Uri::try_from(path).map_err(|_| invalid())?;
            *request.version_mut() = Version::HTTP_11;
            request.headers_mut().insert(HOST, HeaderValue::try_from(authority).map_err(|_| invalid())?);
            sender.send_request(request).await.map_err(Err)
        }
        Sender::Http2(mut sender) => {
            let uri = Uri::builder().scheme(target.scheme.as_str()).authority(authority).path_and_query(path).build();
            *request.uri_mut() = uri.map_err(|_| invalid())?;
            *request.version_mut() = Version::HTTP_2;
            sender.send_request(request).await.map_err(Err)
        }
    }
}
