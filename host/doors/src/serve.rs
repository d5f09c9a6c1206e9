//! Serving a listener.

use crate::DoorsConfig;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Longest wait for calls under way once the gateway stops; then their connections are dropped, which cancels them.
const DRAIN: Duration = Duration::from_secs(10);

/// Serves `router` on `listener` until `shutdown` is done, then lets requests under way finish for at most 10 s.
pub async fn serve(
    listener: TcpListener,
    router: axum::Router,
    config: &DoorsConfig,
    shutdown: impl Future<Output = ()>,
) {
    let builder = builder(config);
    let graceful = GracefulShutdown::new();
    let mut shutdown = std::pin::pin!(shutdown);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(connections.spawn(take(stream, &builder, &router, &graceful))),
                // Out of descriptors: accepting again at once would spin until one is free.
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next() => {}
            () = &mut shutdown => break,
        }
    }
    drop(listener);
    config.stopping.cancel();
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were still under way when the gateway stopped");
    }
    // With their connections go their calls, and each of them writes into the audit that it was cancelled.
    connections.shutdown().await;
}

fn builder(config: &DoorsConfig) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(config.header_timeout)
        .keep_alive(true)
        .pipeline_flush(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(config.header_timeout))
        .max_concurrent_streams(256)
        .max_header_list_size(64 << 10);
    builder
}

fn take(
    stream: TcpStream,
    builder: &Builder<TokioExecutor>,
    router: &axum::Router,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + use<> {
    // Answers are small and whole; waiting to fill a segment would only add to their time.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router.clone());
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    let watched = graceful.watch(connection);
    async move {
        if let Err(error) = watched.await {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}
