//! The HTTP API.

mod approvals;
mod invoke;
mod meta;
mod plugins;
mod programs;
mod secrets;
mod tools;
mod wire;

use crate::Doors;
use crate::problem::Problem;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header, request::Parts};
pub(crate) use invoke::to_json as answer_to_json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
pub(crate) use wire::ProgressBody;

/// Every route of the API, and the description that is made from the same list.
pub(crate) fn routes() -> (axum::Router<Doors>, OpenApi) {
    let (router, mut api) = OpenApiRouter::new()
        .routes(routes!(meta::health))
        .routes(routes!(meta::ready))
        .routes(routes!(meta::openapi))
        .routes(routes!(meta::me))
        .routes(routes!(tools::list_tools))
        .routes(routes!(tools::get_tool))
        .routes(routes!(invoke::invoke))
        .routes(routes!(plugins::list_plugins, plugins::install))
        .routes(routes!(plugins::get_plugin, plugins::remove))
        .routes(routes!(plugins::grant, plugins::revoke))
        .routes(routes!(plugins::get_settings, plugins::put_settings))
        .routes(routes!(secrets::list_secrets))
        .routes(routes!(secrets::put_secret, secrets::remove_secret))
        .routes(routes!(secrets::get_output))
        .routes(routes!(approvals::list_approvals))
        .routes(routes!(approvals::get_approval, approvals::decide_approval))
        .routes(routes!(approvals::list_remembered))
        .routes(routes!(approvals::forget_remembered))
        .routes(routes!(programs::list_programs, programs::register_program))
        .routes(routes!(programs::list_presets))
        .routes(routes!(programs::check_binary))
        .routes(routes!(programs::get_program, programs::change_program, programs::remove_program))
        .routes(routes!(programs::test_program))
        .routes(routes!(programs::list_program_grants))
        .routes(routes!(programs::grant_program, programs::revoke_program))
        .routes(routes!(
            programs::list_agent_credentials,
            programs::put_agent_credential,
            programs::remove_agent_credentials
        ))
        .routes(routes!(
            programs::list_user_credentials,
            programs::put_user_credential,
            programs::remove_user_credentials
        ))
        .split_for_parts();
    meta::describe(&mut api);
    (router, api)
}

/// The one parameter of a path.
pub(crate) struct Named(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(name) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::bad_request("the name in the path is not UTF-8; encode it again"))?;
        Ok(Self(name))
    }
}

/// The two parameters of a path: a thing, and one within it.
pub(crate) struct NamedIn(pub String, pub String);

impl<S: Send + Sync> FromRequestParts<S> for NamedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path((name, within)) = Path::<(String, String)>::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::bad_request("a name in the path is not UTF-8; encode it again"))?;
        Ok(Self(name, within))
    }
}

/// The query of a request; unknown parameters are refused by name.
pub(crate) struct QueryOf<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Query(query) = Query::try_from_uri(&parts.uri).map_err(|error| {
            Problem::bad_request(format!("the query is not what is expected here: {}", query_error(&error)))
        })?;
        Ok(Self(query))
    }
}

/// What serde says, without axum's own words.
fn query_error(error: &QueryRejection) -> String {
    let text = error.body_text();
    let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
    crate::origin::shown_long(text)
}

/// A JSON answer.
pub(crate) fn json<T: Serialize>(body: &T) -> Result<Response, Problem> {
    json_with(StatusCode::OK, body)
}

/// A JSON answer with another status.
pub(crate) fn json_with<T: Serialize>(status: StatusCode, body: &T) -> Result<Response, Problem> {
    match serde_json::to_vec(body) {
        Ok(bytes) => Ok(json_bytes(status, bytes)),
        Err(error) => {
            let id = crate::new_call_id();
            tracing::error!(id = %id.0, %error, "an answer could not be written as JSON");
            Err(Problem::internal(&id.0))
        }
    }
}

/// JSON that is written already.
pub(crate) fn json_bytes(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = (status, bytes).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
