//! Requests over `wasi:http/outgoing-handler`.

use std::time::Duration;

use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest,
    RequestOptions, Scheme,
};
use wasip2::io::streams::{InputStream, StreamError};

use super::url::Url;
use super::{Request, Response};
use crate::ToolError;

/// The most that a stream takes in one blocking write.
const PIECE: usize = 4096;

/// What is left of the answer. Fields are dropped in their order: the stream is the body's child, the body the response's.
pub(super) struct Body {
    stream: InputStream,
    _body: IncomingBody,
    _response: IncomingResponse,
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Body")
    }
}

pub(super) fn send(request: &Request, url: &Url<'_>) -> Result<Response, ToolError> {
    let outgoing = head(request, url)?;
    let body = outgoing.body().map_err(|()| ToolError::failed("the request's body cannot be opened"))?;
    let future = outgoing_handler::handle(outgoing, options(request)?).map_err(|code| told(&code, request))?;
    // A server may answer without having read it all, so what matters is the answer, not whether all of the body went out.
    let written = write(body, &request.body);
    let response = wait(&future).map_err(|code| told(&code, request))?;
    let Some(response) = response else {
        return Err(written.err().unwrap_or_else(|| ToolError::unavailable("the host gave no answer to the request")));
    };
    read_head(response)
}

fn head(request: &Request, url: &Url<'_>) -> Result<OutgoingRequest, ToolError> {
    let mut entries: Vec<(String, Vec<u8>)> =
        request.headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
    if !request.body.is_empty() && !entries.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
        entries.push(("content-length".to_owned(), request.body.len().to_string().into_bytes()));
    }
    let fields = Fields::from_list(&entries).map_err(|error| {
        ToolError::invalid_arguments(format!(
            "a header of the request cannot be sent ({error:?}): the host sets connection headers itself"
        ))
    })?;
    let outgoing = OutgoingRequest::new(fields);
    let path = url.path_with_query();
    let scheme = if url.https { Scheme::Https } else { Scheme::Http };
    let set = outgoing.set_method(&method(&request.method)).and_then(|()| outgoing.set_scheme(Some(&scheme)));
    let set = set
        .and_then(|()| outgoing.set_authority(Some(url.authority)))
        .and_then(|()| outgoing.set_path_with_query(Some(&path)));
    set.map_err(|()| {
        ToolError::invalid_arguments(format!("`{} {}` is no request that can be sent", request.method, request.url))
    })?;
    Ok(outgoing)
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "CONNECT" => Method::Connect,
        "OPTIONS" => Method::Options,
        "TRACE" => Method::Trace,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

fn options(request: &Request) -> Result<Option<RequestOptions>, ToolError> {
    let nanoseconds =
        |timeout: Option<Duration>| timeout.map(|timeout| u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
    let timeouts =
        [request.connect_timeout, request.first_byte_timeout, request.between_bytes_timeout].map(nanoseconds);
    if timeouts.iter().all(Option::is_none) {
        return Ok(None);
    }
    let [connect, first_byte, between_bytes] = timeouts;
    let options = RequestOptions::new();
    let set = options.set_connect_timeout(connect).and_then(|()| options.set_first_byte_timeout(first_byte));
    let set = set.and_then(|()| options.set_between_bytes_timeout(between_bytes));
    set.map_err(|()| ToolError::failed("the host does not take these timeouts"))?;
    Ok(Some(options))
}

fn write(body: OutgoingBody, bytes: &[u8]) -> Result<(), ToolError> {
    let failed = |error: &dyn std::fmt::Debug| {
        ToolError::unavailable(format!("the request's body did not get through: {error:?}"))
    };
    if !bytes.is_empty() {
        let stream = body.write().map_err(|()| failed(&"no stream"))?;
        for piece in bytes.chunks(PIECE) {
            stream.blocking_write_and_flush(piece).map_err(|error| failed(&error))?;
        }
    }
    OutgoingBody::finish(body, None).map_err(|error| failed(&error))
}

fn wait(future: &FutureIncomingResponse) -> Result<Option<IncomingResponse>, ErrorCode> {
    loop {
        match future.get() {
            Some(Ok(answer)) => return answer.map(Some),
            Some(Err(())) => return Ok(None),
            None => future.subscribe().block(),
        }
    }
}

fn read_head(response: IncomingResponse) -> Result<Response, ToolError> {
    let status = response.status();
    let headers = response.headers().entries().into_iter();
    let headers = headers
        .map(|(name, value)| (name.to_ascii_lowercase(), String::from_utf8_lossy(&value).into_owned()))
        .collect();
    let body = response.consume().map_err(|()| ToolError::failed("the answer's body cannot be opened"))?;
    let stream = body.stream().map_err(|()| ToolError::failed("the answer's body cannot be read"))?;
    Ok(Response { status, headers, body: Body { stream, _body: body, _response: response } })
}

impl Body {
    pub(super) fn chunk(&mut self) -> Result<Option<Vec<u8>>, ToolError> {
        loop {
            match self.stream.blocking_read(64 * 1024) {
                Ok(piece) if piece.is_empty() => {}
                Ok(piece) => return Ok(Some(piece)),
                Err(StreamError::Closed) => return Ok(None),
                Err(StreamError::LastOperationFailed(error)) => {
                    return Err(ToolError::unavailable(format!("the answer broke off: {}", error.to_debug_string())));
                }
            }
        }
    }
}

/// What a failure means for the model; a refusal names who refused and how to see why.
fn told(code: &ErrorCode, request: &Request) -> ToolError {
    let (method, url) = (&request.method, &request.url);
    match code {
        ErrorCode::HttpRequestDenied | ErrorCode::DestinationIpProhibited => ToolError::unavailable(format!(
            "the host's http gate refused `{method} {url}`: the plugin's manifest must declare it and the operator must grant it; \
             `caisson explain url {url}` tells which rule decided"
        )),
        ErrorCode::DnsError(_) | ErrorCode::DnsTimeout | ErrorCode::DestinationNotFound => {
            ToolError::unavailable(format!("the host of `{url}` was not found; check its name"))
        }
        ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::ConnectionWriteTimeout
        | ErrorCode::HttpResponseTimeout => {
            ToolError::unavailable(format!("the server of `{url}` did not answer in time; try again later"))
        }
        ErrorCode::InternalError(Some(message)) => {
            ToolError::unavailable(format!("`{method} {url}` failed: {message}"))
        }
        other => ToolError::unavailable(format!("`{method} {url}` failed: {other:?}")),
    }
}
