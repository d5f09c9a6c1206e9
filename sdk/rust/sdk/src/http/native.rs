//! Off wasm: plain HTTP to loopback only, so that a plugin's own tests can answer its requests from a local fixture. It is no
//! client for anything else, and whatever else is asked for is refused as the host's gate would refuse it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use super::url::Url;
use super::{Request, Response};
use crate::ToolError;

/// Where no timeout was set.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is left of the answer.
#[derive(Debug)]
pub(super) struct Body {
    reader: BufReader<TcpStream>,
    framing: Framing,
}

#[derive(Debug)]
enum Framing {
    Length(u64),
    Chunked,
    UntilClosed,
    Done,
}

pub(super) fn send(request: &Request, url: &Url<'_>) -> Result<Response, ToolError> {
    let stream = TcpStream::connect_timeout(&address(url)?, request.connect_timeout.unwrap_or(PATIENCE))
        .map_err(|error| broken(&error))?;
    let wait = request.first_byte_timeout.or(request.between_bytes_timeout).unwrap_or(PATIENCE);
    stream
        .set_read_timeout(Some(wait))
        .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
        .map_err(|error| broken(&error))?;
    let mut head = format!(
        "{} {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
        request.method,
        url.path_with_query(),
        url.authority
    );
    for (name, value) in &request.headers {
        if name.contains([':', '\r', '\n', ' ']) || value.contains(['\r', '\n']) {
            return Err(ToolError::invalid_arguments(format!("`{name}` is no header that can be sent")));
        }
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !request.body.is_empty() {
        head.push_str(&format!("content-length: {}\r\n", request.body.len()));
    }
    head.push_str("\r\n");
    (&stream)
        .write_all(head.as_bytes())
        .and_then(|()| (&stream).write_all(&request.body))
        .map_err(|error| broken(&error))?;
    read_head(BufReader::new(stream), request.method == "HEAD")
}

fn address(url: &Url<'_>) -> Result<SocketAddr, ToolError> {
    let refused = || {
        let authority = url.authority;
        ToolError::unavailable(format!(
            "outside the host only plain HTTP to loopback is reached, for tests, not `{authority}`: answer the request from a local fixture, \
             or run the plugin with `caisson call`"
        ))
    };
    if url.https || url.authority.contains('@') {
        return Err(refused());
    }
    let with_port = if url.authority.ends_with(|c: char| c.is_ascii_digit())
        && url.authority.contains(':')
        && !url.authority.ends_with(']')
    {
        url.authority.to_owned()
    } else {
        format!("{}:80", url.authority)
    };
    // Only names that need no lookup outside.
    let host = with_port.rsplit_once(':').map_or("", |(host, _)| host).trim_matches(['[', ']']);
    let local = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if !local {
        return Err(refused());
    }
    with_port
        .to_socket_addrs()
        .map_err(|error| broken(&error))?
        .find(|address| address.ip().is_loopback())
        .ok_or_else(refused)
}

fn read_head(mut reader: BufReader<TcpStream>, no_body: bool) -> Result<Response, ToolError> {
    let status_line = line(&mut reader)?;
    let status = status_line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .ok_or_else(|| ToolError::unavailable("the server speaks no HTTP"))?;
    let mut headers = Vec::new();
    loop {
        let header = line(&mut reader)?;
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':') {
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let find = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let framing = if no_body || status == 204 || status == 304 {
        Framing::Done
    } else if find("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        Framing::Chunked
    } else {
        find("content-length").and_then(|length| length.parse().ok()).map_or(Framing::UntilClosed, Framing::Length)
    };
    Ok(Response { status, headers, body: Body { reader, framing } })
}

fn line(reader: &mut BufReader<TcpStream>) -> Result<String, ToolError> {
    let mut bytes = Vec::new();
    reader.by_ref().take(16 * 1024).read_until(b'\n', &mut bytes).map_err(|error| broken(&error))?;
    if bytes.pop() != Some(b'\n') {
        return Err(ToolError::unavailable("the server ended the connection in the middle of its answer"));
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

impl Body {
    pub(super) fn chunk(&mut self) -> Result<Option<Vec<u8>>, ToolError> {
        match self.framing {
            Framing::Done | Framing::Length(0) => Ok(None),
            Framing::Length(left) => {
                let piece = self.take(left.min(64 * 1024))?;
                if piece.is_empty() {
                    return Err(ToolError::unavailable("the server ended the connection in the middle of its answer"));
                }
                self.framing = Framing::Length(left.saturating_sub(piece.len() as u64));
                Ok(Some(piece))
            }
            Framing::UntilClosed => {
                let piece = self.take(64 * 1024)?;
                Ok((!piece.is_empty()).then_some(piece))
            }
            Framing::Chunked => {
                let size = line(&mut self.reader)?;
                let size = size.split(';').next().and_then(|size| u64::from_str_radix(size.trim(), 16).ok());
                let size = size.ok_or_else(|| ToolError::unavailable("the server sent a chunk without a size"))?;
                let mut piece = Vec::new();
                self.reader.by_ref().take(size).read_to_end(&mut piece).map_err(|error| broken(&error))?;
                line(&mut self.reader)?;
                if size == 0 {
                    self.framing = Framing::Done;
                    return Ok(None);
                }
                Ok(Some(piece))
            }
        }
    }

    fn take(&mut self, most: u64) -> Result<Vec<u8>, ToolError> {
        let have = self.reader.fill_buf().map_err(|error| broken(&error))?;
        let piece: Vec<u8> = have.iter().take(usize::try_from(most).unwrap_or(usize::MAX)).copied().collect();
        self.reader.consume(piece.len());
        Ok(piece)
    }
}

fn broken(error: &std::io::Error) -> ToolError {
    ToolError::unavailable(format!("the request did not get through: {error}"))
}
