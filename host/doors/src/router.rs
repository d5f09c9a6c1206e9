//! All routes of one port, and what holds for each of them.

use crate::mcp::{Sessions, serve_http};
use crate::origin::Allowed;
use crate::problem::Problem;
use crate::{Doors, DoorsConfig, Room};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use caisson_registry::Gateway;
use futures::FutureExt;
use http::StatusCode;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The router of the HTTP API and of MCP at `/mcp`.
pub fn router(gateway: Gateway, config: DoorsConfig) -> axum::Router {
    let allowed = Arc::new(Allowed::new(&config.allowed_hosts, &config.allowed_origins));
    let (routes, api) = crate::api::routes();
    let openapi = serde_json::to_vec(&api).unwrap_or_default().into();
    let mcp = Sessions::new(gateway.clone(), &config);
    let uploads = Semaphore::new(config.max_uploads);
    let doors = Doors(Arc::new(Room { gateway, config, openapi, mcp, uploads }));
    let methods = MethodFilter::POST.or(MethodFilter::GET).or(MethodFilter::DELETE);
    routes
        .route("/mcp", on(methods, serve_http))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(axum::middleware::from_fn_with_state(allowed, threshold))
        .with_state(doors)
}

/// Host and Origin before anything else; and a panic becomes an answer.
async fn threshold(State(allowed): State<Arc<Allowed>>, request: Request, next: Next) -> Response {
    if let Err(problem) = allowed.check(request.uri(), request.headers()) {
        return problem.into_response();
    }
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => {
            let id = crate::new_call_id();
            tracing::error!(id = %id.0, panic = panic_text(&*panic), "a handler panicked");
            Problem::internal(&id.0).into_response()
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text")
}

async fn no_route(request: Request) -> Problem {
    let path = crate::origin::shown(request.uri().path());
    let detail = format!("there is nothing at `{path}`; `/openapi.json` lists every route");
    Problem::new(StatusCode::NOT_FOUND, "no-route", "No such route", detail)
}

async fn no_method(request: Request) -> Problem {
    let path = crate::origin::shown(request.uri().path());
    let detail = format!("`{}` is not possible at `{path}`; the header `Allow` lists what is", request.method());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "no-method", "No such method here", detail)
}
