//! The doors: HTTP and MCP in, a [`Call`](caisson_call::Call) to the gateway, its answer out.
//!
//! May depend on: `call`, `contract`, `scrub` (to read a clean result), `registry`, and alone on axum, hyper's server and
//! rmcp. Must not know: wasmtime, SQL, files. A door decides nothing about a call; it only says who asks, for what.

#![expect(
    clippy::result_large_err,
    reason = "a problem is made once for a refused request and written at once; boxing it would cost more than moving it"
)]

mod api;
mod auth;
mod body;
mod config;
mod events;
mod mcp;
mod origin;
mod outcome;
mod page;
mod problem;
mod progress;
mod router;
mod serve;

pub use auth::act_for;
pub use config::{DoorsConfig, MAX_JSON_BYTES};
pub use mcp::{StreamError, serve_stdio, serve_stream};
pub use origin::Allowed;
pub use outcome::{Meaning, meaning};
pub use problem::{FaultBody, Problem};
pub use router::router;
pub use serve::serve;

use caisson_call::CallId;
use caisson_registry::Gateway;
use std::sync::Arc;

/// What every handler reaches. Cheap to clone: axum does so several times a request.
#[derive(Clone)]
pub(crate) struct Doors(Arc<Room>);

impl std::ops::Deref for Doors {
    type Target = Room;
    fn deref(&self) -> &Room {
        &self.0
    }
}

/// One for all requests.
pub(crate) struct Room {
    pub(crate) gateway: Gateway,
    pub(crate) config: DoorsConfig,
    /// The description of the API, as JSON.
    pub(crate) openapi: bytes::Bytes,
    pub(crate) mcp: mcp::Sessions,
    /// Components that are held in memory at once.
    pub(crate) uploads: tokio::sync::Semaphore,
}

/// A new identifier that sorts by time.
pub(crate) fn new_call_id() -> CallId {
    CallId(uuid::Uuid::now_v7().to_string().into())
}
