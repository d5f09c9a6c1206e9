//! What start-up is compared with: opens the SQLite file that is its argument, reads a row, binds an HTTP server that answers a constant, says where.
#![expect(clippy::unwrap_used, reason = "a program of the benchmarks")]

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;

#[tokio::main]
async fn main() {
    let path = std::env::args().nth(1).unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    sqlx::query("SELECT 1").execute(&pool).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{{\"url\":\"http://{}\"}}", listener.local_addr().unwrap());
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        tokio::spawn(async move {
            let answer = service_fn(|_| async {
                Ok::<_, Infallible>(hyper::Response::new(Full::new(Bytes::from_static(b"{\"ok\":true}"))))
            });
            let _ = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}
