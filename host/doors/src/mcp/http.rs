//! MCP over streamable HTTP. rmcp speaks the protocol; this door checks who asks before it, bounds the body, refuses batches,
//! binds a session to the token that opened it, and cancels calls whose answer nobody reads.

use super::asked::{Asked, Source};
use super::envelope::{self, Arguments};
use super::handler::Handler;
use crate::auth::authenticate;
use crate::body::read;
use crate::config::MAX_JSON_BYTES;
use crate::problem::Problem;
use crate::{Doors, DoorsConfig};
use ::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use caisson_call::Principal;
use caisson_registry::Gateway;
use http_body::{Frame, SizeHint};
use http_body_util::Full;
use rmcp::model::ErrorData;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Most sessions of the older revisions at once, all tenants together; each costs some tens of KiB. Clients of the stateless
/// revision have none.
const MAX_SESSIONS: usize = 4096;

/// A session that is idle longer is closed; its client begins anew, as MCP asks of it.
const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);

const SESSION_HEADER: &str = "mcp-session-id";

/// What `/mcp` needs beside the gateway.
#[derive(Clone)]
pub(crate) struct Sessions {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    /// Session to the token that opened it.
    owners: Arc<Mutex<HashMap<String, String>>>,
}

impl Sessions {
    pub(crate) fn new(gateway: Gateway, config: &DoorsConfig) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(SESSION_IDLE);
        // Without a priming event a client does not try to resume the stream of a call; closing it cancels the call.
        manager.session_config.sse_retry = None;
        let manager = Arc::new(manager);
        // Host and Origin are checked for every route of this port, before this one is reached.
        let settings = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_legacy_session_mode(true)
            .with_json_response(true)
            .with_sse_retry(None)
            .with_sse_keep_alive(Some(config.keep_alive))
            .with_cancellation_token(config.stopping.clone())
            .with_max_request_body_bytes(MAX_JSON_BYTES);
        let service = StreamableHttpService::new(
            move || Ok(Handler::new(gateway.clone(), Source::Http)),
            manager.clone(),
            settings,
        );
        Self { service, manager, owners: Arc::default() }
    }

    /// Whether the request's session, if it names one, was opened by this token. Another's session is as good as none.
    fn is_own(&self, headers: &HeaderMap, token_id: &str) -> bool {
        let Some(session) = headers.get(SESSION_HEADER) else { return true };
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        session.to_str().ok().and_then(|session| owners.get(session)).is_some_and(|owner| owner == token_id)
    }

    /// Remembers who opened a session, and forgets those that are gone.
    async fn remember(&self, headers: &HeaderMap, token_id: String) {
        let Some(session) = headers.get(SESSION_HEADER).and_then(|session| session.to_str().ok()) else { return };
        let open = self.manager.sessions.read().await;
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|session, _| open.contains_key(session.as_str()));
        owners.insert(session.to_owned(), token_id);
    }

    async fn is_full(&self) -> bool {
        self.manager.sessions.read().await.len() >= MAX_SESSIONS
    }
}

/// `/mcp`.
pub(crate) async fn serve_http(State(doors): State<Doors>, request: axum::extract::Request) -> Response {
    match take(&doors, request).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn take(doors: &Doors, request: axum::extract::Request) -> Result<Response, Problem> {
    let principal = authenticate(request.headers(), doors).await?;
    let sessions = &doors.mcp;
    if !sessions.is_own(request.headers(), &principal.token_id) {
        let detail = "this session is over; initialize a new one";
        return Err(Problem::new(StatusCode::NOT_FOUND, "no-session", "No such session", detail));
    }
    let (parts, body) = request.into_parts();
    if parts.method != Method::POST {
        let ends = parts.method == Method::DELETE;
        let mut response = sessions.pass(Request::from_parts(parts, Full::default()), principal, None).await;
        if ends && response.status() == StatusCode::ACCEPTED {
            // rmcp says "accepted", which Python's client takes for a failure; the session is gone by now.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        return Ok(response);
    }
    let body = Bytes::from(read(&parts.headers, body, doors, MAX_JSON_BYTES as u64, "the message").await?);
    let arguments = match envelope::arguments(&body) {
        Ok(arguments) => arguments,
        Err(error) => return Ok(refuse(&error)),
    };
    if parts.headers.contains_key(SESSION_HEADER) {
        return Ok(sessions.pass(Request::from_parts(parts, Full::new(body)), principal, arguments).await);
    }
    if sessions.is_full().await {
        let detail = "too many sessions are open; close one, or use the stateless revision of MCP";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too-many-sessions", "Too many sessions", detail));
    }
    let token_id = principal.token_id.clone();
    let response = sessions.pass(Request::from_parts(parts, Full::new(body)), principal, arguments).await;
    sessions.remember(response.headers(), token_id).await;
    Ok(response)
}

impl Sessions {
    /// Hands a request to rmcp. Dropping the future or the answer's body cancels the call.
    async fn pass(
        &self,
        mut request: Request<Full<Bytes>>,
        principal: Principal,
        arguments: Option<Arguments>,
    ) -> Response {
        let closed = CancellationToken::new();
        let guard = closed.clone().drop_guard();
        request.extensions_mut().insert(Asked { principal, arguments, closed });
        let response = self.service.handle(request).await;
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            let detail = "this is no message of MCP; send one JSON-RPC message as `application/json`";
            return refuse(&envelope::invalid(detail.to_owned()));
        }
        response.map(|body| Body::new(Guarded { body: Body::new(body), _guard: guard }))
    }
}

/// The answer to what is no message.
fn refuse(error: &ErrorData) -> Response {
    let mut response = (StatusCode::BAD_REQUEST, envelope::error_without_id(error)).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A body that cancels its call once it is dropped; at its end that changes nothing.
struct Guarded {
    body: Body,
    _guard: DropGuard,
}

impl http_body::Body for Guarded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
