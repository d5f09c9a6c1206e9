//! Installing, granting and configuring plugins.

use super::wire::{Plugin, Plugins};
use super::{Named, json, json_with};
use crate::Doors;
use crate::auth::Caller;
use crate::body::{JsonBody, JsonBytes, expect_type, parse, read};
use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::response::Response;
use caisson_call::Role;
use caisson_contract::Capabilities;
use caisson_registry::{AdminError, GrantRequest};
use http::StatusCode;
use serde::Deserialize;

/// The plugins of the tenant and those that come with the gateway.
#[utoipa::path(
    get, path = "/v1/plugins", tag = "plugins",
    responses((status = 200, body = Plugins), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn list_plugins(State(doors): State<Doors>, Caller(who): Caller) -> Result<Response, Problem> {
    let plugins = doors.gateway.plugins(&who).await?;
    json(&Plugins { plugins: plugins.into_iter().map(Plugin::from).collect() })
}

/// One plugin: what it asks for, what it was granted, its tools.
#[utoipa::path(
    get, path = "/v1/plugins/{name}", tag = "plugins", params(("name" = String, Path)),
    responses((status = 200, body = Plugin), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn get_plugin(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(name): Named,
) -> Result<Response, Problem> {
    json(&Plugin::from(doors.gateway.plugin(&who, &name).await?))
}

/// Installs a component. The answer says what it asks for; it may do nothing of it until that is granted.
#[utoipa::path(
    post, path = "/v1/plugins", tag = "plugins",
    request_body(content = Vec<u8>, content_type = "application/wasm", description = "The component"),
    responses((status = 201, body = Plugin), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn install(
    State(doors): State<Doors>,
    Caller(who): Caller,
    request: Request,
) -> Result<Response, Problem> {
    // A component is large: who may not install one does not get to send it.
    if who.role < Role::TenantAdmin {
        return Err(AdminError::Forbidden { needs: Role::TenantAdmin.as_str(), has: who.role.as_str() }.into());
    }
    expect_type(request.headers(), "application/wasm")?;
    let _room = doors.uploads.try_acquire().map_err(|_| busy())?;
    let (parts, body) = request.into_parts();
    let component = read(&parts.headers, body, &doors, doors.gateway.max_component_bytes(), "the component").await?;
    let plugin = doors.gateway.install(&who, component).await?;
    json_with(StatusCode::CREATED, &Plugin::from(plugin))
}

fn busy() -> Problem {
    let detail = "too many components are being uploaded; try again in some seconds";
    let mut problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too-many-uploads", "Too many uploads", detail);
    problem.retry_after_ms = Some(5_000);
    problem
}

/// Removes a plugin; calls under way end as they would have.
#[utoipa::path(
    delete, path = "/v1/plugins/{name}", tag = "plugins", params(("name" = String, Path)),
    responses((status = 204), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn remove(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(name): Named,
) -> Result<StatusCode, Problem> {
    doors.gateway.remove(&who, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Grants a plugin what the body says: `{"all": true}` for all that it declares, or capabilities in the manifest's words.
#[utoipa::path(
    put, path = "/v1/plugins/{name}/grant", tag = "plugins", params(("name" = String, Path)), request_body = Object,
    responses((status = 200, body = Plugin), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn grant(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(name): Named,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    let plugin = doors.gateway.grant(&who, &name, read_grant(&body)?).await?;
    json(&Plugin::from(plugin))
}

/// Which of the two forms a grant has.
#[derive(Deserialize)]
struct Form {
    all: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct All {
    all: bool,
}

/// Decided by the key and not by trying, so that an error is about what was meant.
fn read_grant(body: &[u8]) -> Result<GrantRequest, Problem> {
    if parse::<Form>(body)?.all.is_none() {
        return Ok(GrantRequest::Some(Box::new(parse::<Capabilities>(body)?)));
    }
    match parse::<All>(body)? {
        All { all: true } => Ok(GrantRequest::All { all: true }),
        All { all: false } => Err(Problem::bad_request(
            "`all` is false; use `DELETE` to take a grant back, or name the capabilities to grant",
        )),
    }
}

/// Takes a grant back.
#[utoipa::path(
    delete, path = "/v1/plugins/{name}/grant", tag = "plugins", params(("name" = String, Path)),
    responses((status = 200, body = Plugin), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn revoke(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(name): Named,
) -> Result<Response, Problem> {
    json(&Plugin::from(doors.gateway.revoke(&who, &name).await?))
}

/// Settings of a plugin or tool in the tenant.
#[utoipa::path(
    get, path = "/v1/plugins/{name}/settings", tag = "plugins", params(("name" = String, Path)),
    responses((status = 200, body = Object), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn get_settings(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(name): Named,
) -> Result<Response, Problem> {
    json(&doors.gateway.settings(&who, &name).await?)
}

/// Replaces the settings of a plugin or tool whole; a JSON object of at most 16 KiB.
#[utoipa::path(
    put, path = "/v1/plugins/{name}/settings", tag = "plugins", params(("name" = String, Path)), request_body = Object,
    responses((status = 204), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn put_settings(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(name): Named,
    JsonBody(settings): JsonBody<serde_json::Value>,
) -> Result<StatusCode, Problem> {
    doors.gateway.put_settings(&who, &name, settings).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_wrong_grant_names_its_key_and_place() {
        let detail = |body: &str| read_grant(body.as_bytes()).unwrap_err().detail;
        assert!(detail(r#"{"all": false}"#).contains("DELETE"));
        assert!(detail(r#"{"all": true, "files": {}}"#).contains("`files`"));
        assert!(detail(r#"{"filez": {}}"#).contains("`filez`"));
        assert!(detail("{\n \"files\": 3}").contains("line 2"));
        assert!(detail("[]").contains("line 1"));
    }

    #[test]
    fn both_forms_are_read() {
        assert!(matches!(read_grant(br#"{"all": true}"#).unwrap(), GrantRequest::All { all: true }));
        let some = read_grant(br#"{"tools": ["calc"]}"#).unwrap();
        assert!(matches!(some, GrantRequest::Some(some) if some.tools == ["calc"]));
    }
}
