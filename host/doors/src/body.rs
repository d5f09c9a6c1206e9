//! Request bodies: bounded in size and time, and errors that say where.

use crate::Doors;
use crate::config::MAX_JSON_BYTES;
use crate::problem::Problem;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout, timeout_at};

/// A JSON body of at most 2 MiB.
pub(crate) struct JsonBody<T>(pub T);

/// The bytes of a JSON body of at most 2 MiB, for a type that no single derive can read with good errors.
pub(crate) struct JsonBytes(pub Vec<u8>);

impl<T: DeserializeOwned> FromRequest<Doors> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, doors: &Doors) -> Result<Self, Problem> {
        let JsonBytes(bytes) = JsonBytes::from_request(request, doors).await?;
        parse(&bytes).map(Self)
    }
}

impl FromRequest<Doors> for JsonBytes {
    type Rejection = Problem;

    async fn from_request(request: Request, doors: &Doors) -> Result<Self, Problem> {
        expect_type(request.headers(), "application/json")?;
        let (parts, body) = request.into_parts();
        let bytes = read(&parts.headers, body, doors, MAX_JSON_BYTES as u64, "the body").await?;
        Ok(Self(bytes))
    }
}

/// Reads JSON; the error has line and column, and names an unknown field.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| {
        Problem::bad_request(format!(
            "the body is not the JSON that is expected here: {}",
            crate::origin::shown_long(&error.to_string())
        ))
    })
}

/// Refuses another media type than `wanted`.
pub(crate) fn expect_type(headers: &HeaderMap, wanted: &str) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = given.split(';').next().unwrap_or("").trim();
    if essence.eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "media-type",
        "Wrong media type",
        format!("send this with `Content-Type: {wanted}`, not `{}`", crate::origin::shown(given)),
    ))
}

/// Reads a whole body: refused at once where its announced length is past `limit`, and as soon as it is where it announces
/// none; given up where it pauses or lasts too long.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    doors: &Doors,
    limit: u64,
    what: &str,
) -> Result<Vec<u8>, Problem> {
    let announced = announced(headers);
    if announced.is_some_and(|length| length > limit) {
        return Err(Problem::too_large(what, limit));
    }
    // The announced length is a claim; memory is taken as bytes arrive, but small bodies in one go.
    let hint = usize::try_from(announced.unwrap_or(0).min(64 << 10)).unwrap_or(0);
    let config = &doors.config;
    let deadline = Instant::now() + config.body_total;
    match timeout_at(deadline, collect(body, hint, limit, what, config.body_idle)).await {
        Ok(read) => read,
        Err(_) => Err(slow()),
    }
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn collect(
    mut body: Body,
    hint: usize,
    limit: u64,
    what: &str,
    idle: std::time::Duration,
) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::with_capacity(hint);
    loop {
        let frame = match timeout(idle, body.frame()).await {
            Err(_) => return Err(slow()),
            Ok(None) => return Ok(bytes),
            Ok(Some(Err(_))) => return Err(Problem::bad_request("the body ended before it was whole; send it again")),
            Ok(Some(Ok(frame))) => frame,
        };
        let data: Bytes = frame.into_data().unwrap_or_default();
        if bytes.len() as u64 + data.len() as u64 > limit {
            return Err(Problem::too_large(what, limit));
        }
        bytes.extend_from_slice(&data);
    }
}

fn slow() -> Problem {
    Problem::new(
        StatusCode::REQUEST_TIMEOUT,
        "slow-body",
        "The body took too long",
        "the body did not arrive in time; send it again on a better line",
    )
}
