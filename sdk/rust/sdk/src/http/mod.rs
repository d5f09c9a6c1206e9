//! HTTP requests, through the host's gate: the manifest declares which hosts, the operator grants them, secrets are put in at
//! the boundary. A plugin that does not use this module does not import `wasi:http` either.

mod url;

#[cfg_attr(target_family = "wasm", path = "wasi.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "native.rs")]
mod send;

use std::time::Duration;

use crate::ToolError;

pub use url::encode;

/// The most that [`Response::json`] reads: 16 MiB.
const JSON_MAX: usize = 16 * 1024 * 1024;

/// Sends a GET request.
pub fn get(url: &str) -> Result<Response, ToolError> {
    Request::get(url).send()
}

/// A request being put together.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    connect_timeout: Option<Duration>,
    first_byte_timeout: Option<Duration>,
    between_bytes_timeout: Option<Duration>,
    fault: Option<ToolError>,
}

impl Request {
    /// A request with any method, for example `PATCH`.
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_ascii_uppercase(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            connect_timeout: None,
            first_byte_timeout: None,
            between_bytes_timeout: None,
            fault: None,
        }
    }

    /// A GET request.
    pub fn get(url: &str) -> Self {
        Self::new("GET", url)
    }

    /// A POST request.
    pub fn post(url: &str) -> Self {
        Self::new("POST", url)
    }

    /// Adds a query parameter; name and value are percent-encoded.
    #[must_use]
    pub fn query(mut self, name: &str, value: &str) -> Self {
        let (before, fragment) = match self.url.split_once('#') {
            Some((before, fragment)) => (before.to_owned(), Some(fragment.to_owned())),
            None => (self.url, None),
        };
        let separator = if before.contains('?') { '&' } else { '?' };
        self.url = format!("{before}{separator}{}={}", encode(name), encode(value));
        if let Some(fragment) = fragment {
            self.url = format!("{}#{fragment}", self.url);
        }
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The body, as it is.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The body as JSON, with its `content-type`. A value that JSON cannot hold makes `send` fail.
    #[must_use]
    pub fn json(mut self, body: &impl serde::Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(json) => self.body = json,
            Err(error) => self.fault = Some(ToolError::failed(format!("the body cannot be written as JSON: {error}"))),
        }
        self.header("content-type", "application/json")
    }

    /// How long connecting, the wait for the answer and each wait within it may take, each.
    #[must_use]
    pub fn timeout(self, each: Duration) -> Self {
        self.connect_timeout(each).first_byte_timeout(each).between_bytes_timeout(each)
    }

    /// How long connecting may take.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = Some(timeout);
        self
    }

    /// How long the answer's first byte may take.
    #[must_use]
    pub fn first_byte_timeout(mut self, timeout: Duration) -> Self {
        self.first_byte_timeout = Some(timeout);
        self
    }

    /// How long a pause within the answer may be.
    #[must_use]
    pub fn between_bytes_timeout(mut self, timeout: Duration) -> Self {
        self.between_bytes_timeout = Some(timeout);
        self
    }

    /// Sends it and waits for the answer's head. Redirects are not followed: each would be a new decision of the host's gate.
    pub fn send(mut self) -> Result<Response, ToolError> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let url = url::parse(&self.url)?;
        send::send(&self, &url)
    }
}

/// An answer: its head, and its body to be read once.
#[derive(Debug)]
pub struct Response {
    /// For example 200.
    pub status: u16,
    /// The headers in order, names in lower case; a value that is not UTF-8 is shown with replacement characters.
    pub headers: Vec<(String, String)>,
    body: send::Body,
}

impl Response {
    /// The first header of that name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Whether the status is 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The answer itself where its status is 200 to 299, otherwise an error with the status and the first of what the body says.
    pub fn success(mut self) -> Result<Self, ToolError> {
        if self.is_success() {
            return Ok(self);
        }
        let (start, _) = self.read(300).unwrap_or_default();
        let says = String::from_utf8_lossy(&start);
        let message = format!("the server answered with status {}: {}", self.status, says.trim());
        Err(match self.status {
            404 | 410 => ToolError::not_found(message),
            408 | 429 | 500..=599 => ToolError::unavailable(message),
            _ => ToolError::failed(message),
        })
    }

    /// The next piece of the body, of any size; `None` at its end.
    pub fn chunk(&mut self) -> Result<Option<Vec<u8>>, ToolError> {
        self.body.chunk()
    }

    /// The body up to `max` bytes, and whether there was more.
    pub fn read(&mut self, max: usize) -> Result<(Vec<u8>, bool), ToolError> {
        let mut all = Vec::new();
        while let Some(piece) = self.chunk()? {
            let room = max.saturating_sub(all.len());
            if piece.len() > room {
                all.extend_from_slice(piece.get(..room).unwrap_or_default());
                return Ok((all, true));
            }
            all.extend_from_slice(&piece);
        }
        Ok((all, false))
    }

    /// The whole body; more than `max` bytes is an error.
    pub fn bytes(&mut self, max: usize) -> Result<Vec<u8>, ToolError> {
        match self.read(max)? {
            (all, false) => Ok(all),
            (_, true) => Err(ToolError::failed(format!("the answer is larger than {max} bytes; ask for less"))),
        }
    }

    /// The whole body as text, with replacement characters for what is not UTF-8; more than `max` bytes is an error.
    pub fn text(&mut self, max: usize) -> Result<String, ToolError> {
        Ok(String::from_utf8_lossy(&self.bytes(max)?).into_owned())
    }

    /// The body read as JSON, at most 16 MiB.
    pub fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, ToolError> {
        let bytes = self.bytes(JSON_MAX)?;
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            ToolError::failed(format!("the server's answer does not fit at `{path}`: {}", error.into_inner()))
        })
    }
}
