//! Secrets, which go in and never come out, and kept outputs.

use super::wire::Binding;
use super::{Named, QueryOf, json};
use crate::Doors;
use crate::auth::Caller;
use crate::body::JsonBytes;
use crate::problem::Problem;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A stored secret, without its value.
#[derive(Serialize, ToSchema)]
pub(crate) struct Secret {
    name: String,
    /// Where it may go.
    bindings: Vec<Binding>,
}

/// The secrets of the tenant.
#[derive(Serialize, ToSchema)]
pub(crate) struct Secrets {
    secrets: Vec<Secret>,
}

/// A secret to store.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSecret {
    /// The secret itself.
    value: String,
    /// Where it may go; it goes nowhere else, whatever a plugin asks for.
    bindings: Vec<Binding>,
}

/// Names and bindings of the tenant's secrets; never a value.
#[utoipa::path(
    get, path = "/v1/secrets", tag = "secrets",
    responses((status = 200, body = Secrets), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn list_secrets(State(doors): State<Doors>, Caller(who): Caller) -> Result<Response, Problem> {
    let secrets = doors.gateway.secrets(&who).await?;
    let secrets = secrets
        .into_iter()
        .map(|(name, bindings)| Secret { name, bindings: bindings.into_iter().map(Binding::from).collect() })
        .collect();
    json(&Secrets { secrets })
}

/// Stores a secret, bound to where it may go.
#[utoipa::path(
    put, path = "/v1/secrets/{name}", tag = "secrets", params(("name" = String, Path)), request_body = NewSecret,
    responses((status = 204), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn put_secret(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(name): Named,
    JsonBytes(body): JsonBytes,
) -> Result<StatusCode, Problem> {
    let secret = read_secret(&body)?;
    let bindings = secret.bindings.into_iter().map(Into::into).collect();
    doors.gateway.put_secret(&who, &name, secret.value, bindings).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What serde says of a wrong body quotes it, and this body holds a secret; so only the place is told.
fn read_secret(body: &[u8]) -> Result<NewSecret, Problem> {
    serde_json::from_slice(body).map_err(|error| {
        Problem::bad_request(format!(
            "the body goes wrong at line {} column {}; send `{{\"value\": \"…\", \"bindings\": [{{\"host\": \"api.example.com\", \"scheme\": \
             \"https\", \"port\": 443}}]}}`",
            error.line(),
            error.column()
        ))
    })
}

/// Removes a secret.
#[utoipa::path(
    delete, path = "/v1/secrets/{name}", tag = "secrets", params(("name" = String, Path)),
    responses((status = 204), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn remove_secret(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(name): Named,
) -> Result<StatusCode, Problem> {
    doors.gateway.remove_secret(&who, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which piece of a kept output.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Piece {
    /// First byte; 0 where absent.
    #[serde(default)]
    offset: u64,
    /// Most bytes; 1 MiB where absent, which is also the most.
    limit: Option<u64>,
}

/// Most bytes of a kept output in one answer.
const PIECE_BYTES: u64 = 1 << 20;

/// A piece of an output that was too large to be shown. The header `Caisson-Total-Bytes` has its whole size.
#[utoipa::path(
    get, path = "/v1/outputs/{reference}", tag = "outputs", params(("reference" = String, Path), Piece),
    responses(
        (status = 200, description = "The bytes, with the media type that the tool named", content_type = "application/octet-stream"),
        (status = "default", body = Problem, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get_output(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(reference): Named,
    QueryOf(piece): QueryOf<Piece>,
) -> Result<Response, Problem> {
    let limit = piece.limit.unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
    let (bytes, media_type, total) = doors.gateway.kept(&who, &reference, piece.offset, limit).await?;
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    let media_type = HeaderValue::from_str(&media_type).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_TYPE, media_type);
    headers.insert("caisson-total-bytes", HeaderValue::from(total));
    // The bytes are a tool's: a browser must neither guess their type nor run them as a page of the gateway.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_body_is_never_quoted() {
        for body in [
            r#"{"value": 1, "bindings": "hunter2"}"#,
            r#"{"hunter2": ""}"#,
            r#""hunter2""#,
            r#"{"value": "hunter2", "bindings": [{"host": "a", "scheme": "https", "port": "hunter2"}]}"#,
        ] {
            let detail = read_secret(body.as_bytes()).err().map(|problem| problem.detail);
            assert!(detail.is_some_and(|text| text.contains("line 1") && !text.contains("hunter2")), "{body}");
        }
    }
}
