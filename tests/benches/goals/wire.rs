//! The least client that can measure: requests written whole, answers read to their end.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A program that speaks JSON-RPC in lines.
pub struct Lines {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Lines {
    pub fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Self { child, input, output };
        lines.ask(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#, 0);
        lines.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        lines
    }

    fn send(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).unwrap();
        self.input.write_all(b"\n").unwrap();
        self.input.flush().unwrap();
    }

    /// Sends a request and reads until its answer.
    pub fn ask(&mut self, request: &str, id: u64) -> String {
        self.send(request);
        let mark = format!("\"id\":{id}");
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the program ended");
            if line.contains(&mark) {
                return line;
            }
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A kept-alive HTTP connection.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    /// Sends a request and reads its whole answer, which must be 200 with a content length.
    pub async fn ask(&mut self, request: &[u8]) {
        self.stream.write_all(request).await.unwrap();
        self.buffer.clear();
        loop {
            let mut piece = [0; 16 << 10];
            let read = self.stream.read(&mut piece).await.unwrap();
            assert!(read > 0, "the server hung up");
            self.buffer.extend_from_slice(&piece[..read]);
            let Some(head) = self.buffer.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
            let text = String::from_utf8_lossy(&self.buffer[..head]).to_ascii_lowercase();
            assert!(text.starts_with("http/1.1 200"), "{}", String::from_utf8_lossy(&self.buffer));
            let length: usize =
                text.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap().parse().unwrap();
            if self.buffer.len() >= head + 4 + length {
                return;
            }
        }
    }
}
