//! MCP, the stateless revision and the older ones, over HTTP and over a pair of pipes.

mod asked;
mod changes;
mod convert;
mod envelope;
mod handler;
mod http;
mod lines;

use asked::Source;
use caisson_call::{CallContext, Principal};
use caisson_registry::Gateway;
use handler::Handler;
pub(crate) use http::{Sessions, serve_http};
use lines::Lines;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

/// Why a stream of MCP messages ended early.
#[derive(Debug)]
pub enum StreamError {
    /// The other side did not begin as MCP asks.
    Begin(Box<ServerInitializeError>),
    /// A task of the gateway failed.
    Task(tokio::task::JoinError),
}

impl std::fmt::Display for StreamError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Begin(error) => write!(f, "the client did not begin as MCP asks: {error}"),
            Self::Task(error) => write!(f, "the gateway failed while it served MCP: {error}"),
        }
    }
}

impl std::error::Error for StreamError {}

/// Serves MCP on standard input and output until the input ends. `principal` is who every request is made for; `context` is
/// what holds for each of them unless its `_meta` says otherwise.
///
/// # Errors
/// [`StreamError`]; a client that only connects and leaves is none.
pub async fn serve_stdio(gateway: Gateway, principal: Principal, context: CallContext) -> Result<(), StreamError> {
    let (reader, writer) = rmcp::transport::io::stdio_pipes();
    serve_stream(gateway, principal, context, reader, writer).await
}

/// Serves MCP on any pair of streams, one message a line.
///
/// # Errors
/// As [`serve_stdio`].
pub async fn serve_stream<R, W>(
    gateway: Gateway,
    principal: Principal,
    context: CallContext,
    reader: R,
    writer: W,
) -> Result<(), StreamError>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let handler = Handler::new(gateway, Source::Fixed(Box::new(principal), context));
    let running = match rmcp::serve_server(handler, Lines::new(reader, writer)).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StreamError::Begin(Box::new(error))),
    };
    running.waiting().await.map(drop).map_err(StreamError::Task)
}
