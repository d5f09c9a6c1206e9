//! Liveness, readiness, the description of the API, and who one is.

use super::json;
use super::wire::{Me, ProgressBody};
use crate::Doors;
use crate::auth::Caller;
use crate::problem::Problem;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, Info, OpenApi, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// Alive or ready.
#[derive(Serialize, ToSchema)]
pub(crate) struct Status {
    /// `ok`.
    status: &'static str,
}

/// Whether the process answers at all. Needs no token.
#[utoipa::path(get, path = "/health", tag = "gateway", security(()), responses((status = 200, body = Status)))]
pub(crate) async fn health() -> Result<Response, Problem> {
    json(&Status { status: "ok" })
}

/// Whether calls can be served. Needs no token.
#[utoipa::path(
    get, path = "/ready", tag = "gateway", security(()),
    responses((status = 200, body = Status), (status = 503, body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn ready(State(doors): State<Doors>) -> Result<Response, Problem> {
    match doors.gateway.ready().await {
        Ok(()) => json(&Status { status: "ok" }),
        Err(reason) => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "Not ready", reason)),
    }
}

/// This description, OpenAPI 3.1. Needs no token.
#[utoipa::path(
    get, path = "/openapi.json", tag = "gateway", security(()),
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json"))
)]
pub(crate) async fn openapi(State(doors): State<Doors>) -> Response {
    super::json_bytes(StatusCode::OK, doors.openapi.to_vec())
}

/// Who the token stands for.
#[utoipa::path(
    get, path = "/v1/me", tag = "gateway",
    responses((status = 200, body = Me), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn me(Caller(who): Caller) -> Result<Response, Problem> {
    json(&Me {
        tenant: who.tenant.as_str().to_owned(),
        role: who.role,
        token_id: who.token_id,
        agent: who.agent,
        user: who.user,
    })
}

/// OpenAPI wants a description of each response; most have nothing to add to their schema.
fn describe_responses(operation: &mut Operation) {
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            let text = match status.as_str() {
                "200" => "Done",
                "201" => "Made",
                "204" => "Done; there is nothing to say",
                _ => "Refused; `detail` says what to do",
            };
            response.description = text.to_owned();
        }
    }
}

/// Adds what holds for every route.
pub(super) fn describe(api: &mut OpenApi) {
    api.info = Info::new("Caisson", env!("CARGO_PKG_VERSION"));
    api.info.description = Some(
        "Calls sandboxed tools. Errors are RFC 9457 problems; the `outcome` of a refused call says why, its `detail` what to do."
            .into(),
    );
    let components = api.components.get_or_insert_with(Components::new);
    components.schemas.insert(ProgressBody::name().into_owned(), ProgressBody::schema());
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    for item in api.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete];
        operations.into_iter().flatten().for_each(describe_responses);
    }
    api.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>("bearer", [])]);
}
