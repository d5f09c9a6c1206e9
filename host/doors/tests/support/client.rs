//! A gateway behind its doors on a free port, and a client that sees every byte.

use caisson_doors::{DoorsConfig, router, serve};
use caisson_registry::Gateway;
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Long enough for a machine that does a lot else; only a test that fails waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Door {
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Door {
    pub async fn open(gateway: Gateway, config: DoorsConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            let router = router(gateway, config.clone());
            let stopped = async {
                let _ = stopped.await;
            };
            serve(listener, router, &config, stopped).await;
        });
        Self { address, stop, served }
    }

    /// Stops as an operator would, and waits until it has.
    pub async fn close(self) {
        let _ = self.stop.send(());
        tokio::time::timeout(PATIENCE, self.served).await.expect("the door closes").unwrap();
    }

    /// A connection of its own.
    pub async fn connect(&self) -> Line {
        Line { stream: TcpStream::connect(self.address).await.unwrap(), seen: String::new() }
    }

    /// One request with a body and its whole answer. `head` has the request line and further headers, without the host.
    pub async fn send(&self, head: &str, body: &str) -> Answer {
        let mut line = self.connect().await;
        let length = body.len();
        line.write(&format!(
            "{head}\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
        .await;
        line.answer().await
    }
}

pub struct Line {
    stream: TcpStream,
    seen: String,
}

impl Line {
    pub async fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until `text` has come; what came so far.
    pub async fn until(&mut self, text: &str) -> &str {
        let mut chunk = [0; 4096];
        while !self.seen.contains(text) {
            let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut chunk)).await.expect("it comes").unwrap();
            assert!(read > 0, "the connection ended before `{text}`: {}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&chunk[..read]));
        }
        &self.seen
    }

    /// Reads to the end of the connection.
    pub async fn answer(mut self) -> Answer {
        let mut bytes = Vec::new();
        // A server that refuses a body unread may reset the connection after its answer.
        let _ = tokio::time::timeout(PATIENCE, self.stream.read_to_end(&mut bytes)).await.expect("the answer ends");
        let text = self.seen + &String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// Checks that it is a problem of this status whose detail has `text`.
    pub fn is_problem(&self, status: u16, text: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], status, "{self:?}");
        assert!(problem["type"].as_str().unwrap().starts_with("urn:caisson:"), "{self:?}");
        assert!(problem["detail"].as_str().unwrap().contains(text), "`{text}` is not in {self:?}");
    }
}
