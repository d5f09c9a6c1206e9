//! Programs that run with credentials. Secrets go in and never come out.

use super::{Named, NamedIn, json, json_with};
use crate::Doors;
use crate::auth::Caller;
use crate::body::JsonBytes;
use crate::problem::Problem;
use axum::extract::State;
use axum::response::Response;
use caisson_registry::{CredentialView, Preset, ProgramGrantView, ProgramHolder, ProgramView, Tried, presets};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The registered programs of the tenant.
#[derive(Serialize, ToSchema)]
pub(crate) struct Programs {
    /// By name; settings, variables (secret ones as `***`) and agents with a grant.
    #[schema(value_type = Vec<Object>)]
    programs: Vec<ProgramView>,
}

/// Programs that are commonly registered.
#[derive(Serialize, ToSchema)]
pub(crate) struct Presets {
    /// By name.
    presets: Vec<PresetBody>,
}

/// A program that is commonly registered.
#[derive(Serialize, ToSchema)]
pub(crate) struct PresetBody {
    /// The program.
    name: &'static str,
    /// What it is.
    description: &'static str,
    /// How it gets its credentials.
    adapter_name: &'static str,
    /// Its variables.
    variables: Vec<VariableBody>,
    /// What its arguments may not be.
    #[schema(value_type = Vec<Object>)]
    deny_args: Value,
    /// Options that make it write too much.
    #[schema(value_type = Vec<Object>)]
    deny_verbose: Value,
    /// Seconds that a run gets.
    timeout_seconds: u32,
    /// How to use it, for the model.
    tips: &'static str,
}

/// A variable that a program takes its credentials from.
#[derive(Serialize, ToSchema)]
pub(crate) struct VariableBody {
    /// Its name.
    name: &'static str,
    /// What it is.
    description: &'static str,
    /// Whether the program gets a file with the value in it.
    is_file: bool,
    /// Whether the program can do without.
    optional: bool,
}

impl From<&Preset> for PresetBody {
    fn from(preset: &Preset) -> Self {
        let variables = preset.variables.iter().map(|one| VariableBody {
            name: one.name,
            description: one.description,
            is_file: one.is_file,
            optional: one.optional,
        });
        Self {
            name: preset.name,
            description: preset.description,
            adapter_name: preset.adapter,
            variables: variables.collect(),
            deny_args: serde_json::json!(preset.deny_args()),
            deny_verbose: serde_json::json!(preset.deny_verbose()),
            timeout_seconds: preset.timeout_seconds,
            tips: preset.tips,
        }
    }
}

/// A program to look for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Binary {
    /// Its name.
    binary_name: String,
}

/// Where a program lies.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundBinary {
    /// Whether commands find it.
    found: bool,
    /// The file.
    path: Option<String>,
}

/// Commands to try out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestCommands {
    /// At most 100.
    test_commands: Vec<String>,
}

/// What would become of commands.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestResults {
    /// In their order: `command`, `allowed`, and where it is not `reason` and the entry of `deny_args` that denies it as `matched_deny`.
    #[schema(value_type = Vec<Object>)]
    results: Vec<Tried>,
}

/// The grants of a program.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProgramGrants {
    /// By agent; what is `null` is the program's own.
    #[schema(value_type = Vec<Object>)]
    grants: Vec<ProgramGrantView>,
}

/// The credentials of an agent or a user for a program.
#[derive(Serialize, ToSchema)]
pub(crate) struct Credentials {
    /// Without their secrets.
    #[schema(value_type = Vec<Object>)]
    credentials: Vec<CredentialView>,
}

/// What serde says of a wrong body quotes it, and this body may hold a secret; so only the place is told.
fn read<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| {
        Problem::bad_request(format!(
            "the body goes wrong at line {} column {}; `/openapi.json` says what belongs there",
            error.line(),
            error.column()
        ))
    })
}

/// The programs that are registered to run with credentials; needs the role `tenant-admin`, as all of this does.
#[utoipa::path(
    get, path = "/v1/cli-credentials", tag = "programs",
    responses((status = 200, body = Programs), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn list_programs(State(doors): State<Doors>, Caller(who): Caller) -> Result<Response, Problem> {
    json(&Programs { programs: doors.gateway.programs(&who).await? })
}

/// Registers a program: `preset` or `binary_name`, and what should differ. No agent has it unless it is granted or `is_global` is true.
#[utoipa::path(
    post, path = "/v1/cli-credentials", tag = "programs", request_body = Object,
    responses((status = 201, body = Object), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn register_program(
    State(doors): State<Doors>,
    Caller(who): Caller,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    json_with(StatusCode::CREATED, &doors.gateway.register_program(&who, &read::<Value>(&body)?).await?)
}

/// Programs that are commonly registered, with their variables and what they are denied.
#[utoipa::path(
    get, path = "/v1/cli-credentials/presets", tag = "programs",
    responses((status = 200, body = Presets), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn list_presets(Caller(_who): Caller) -> Result<Response, Problem> {
    json(&Presets { presets: presets().iter().map(PresetBody::from).collect() })
}

/// Where commands find a program.
#[utoipa::path(
    post, path = "/v1/cli-credentials/check-binary", tag = "programs", request_body = Binary,
    responses((status = 200, body = FoundBinary), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn check_binary(
    State(doors): State<Doors>,
    Caller(who): Caller,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    let path = doors.gateway.find_program(&who, &read::<Binary>(&body)?.binary_name).await?;
    json(&FoundBinary { found: path.is_some(), path })
}

/// One registered program.
#[utoipa::path(
    get, path = "/v1/cli-credentials/{id}", tag = "programs", params(("id" = String, Path)),
    responses((status = 200, body = Object), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn get_program(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(id): Named,
) -> Result<Response, Problem> {
    json(&doors.gateway.program(&who, &id).await?)
}

/// Changes a registered program: what is left out stays. Variables, where given, replace all; a secret that is empty or `***` stays as it is.
#[utoipa::path(
    put, path = "/v1/cli-credentials/{id}", tag = "programs", params(("id" = String, Path)), request_body = Object,
    responses((status = 200, body = Object), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn change_program(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(id): Named,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    json(&doors.gateway.change_program(&who, &id, &read::<Value>(&body)?).await?)
}

/// Removes a registered program with its grants and credentials.
#[utoipa::path(
    delete, path = "/v1/cli-credentials/{id}", tag = "programs", params(("id" = String, Path)),
    responses((status = 204), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn remove_program(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(id): Named,
) -> Result<StatusCode, Problem> {
    doors.gateway.unregister_program(&who, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What would become of commands if the program were on and granted; nothing is run.
#[utoipa::path(
    post, path = "/v1/cli-credentials/{id}/test", tag = "programs", params(("id" = String, Path)), request_body = TestCommands,
    responses((status = 200, body = TestResults), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn test_program(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(id): Named,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    let commands = read::<TestCommands>(&body)?.test_commands;
    json(&TestResults { results: doors.gateway.try_program(&who, &id, &commands).await? })
}

/// The grants of a program.
#[utoipa::path(
    get, path = "/v1/cli-credentials/{id}/agent-grants", tag = "programs", params(("id" = String, Path)),
    responses((status = 200, body = ProgramGrants), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn list_program_grants(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(id): Named,
) -> Result<Response, Problem> {
    json(&ProgramGrants { grants: doors.gateway.program_grants(&who, &id).await? })
}

/// Grants a program to an agent, with what should differ for it; `{"enabled": false}` takes it from the agent where all have it.
#[utoipa::path(
    put, path = "/v1/cli-credentials/{id}/agent-grants/{agent}", tag = "programs",
    params(("id" = String, Path), ("agent" = String, Path)), request_body = Object,
    responses((status = 200, body = Object), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn grant_program(
    State(doors): State<Doors>,
    Caller(who): Caller,
    NamedIn(id, agent): NamedIn,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    json(&doors.gateway.grant_program(&who, &id, &agent, &read::<Value>(&body)?).await?)
}

/// Takes a grant back.
#[utoipa::path(
    delete, path = "/v1/cli-credentials/{id}/agent-grants/{agent}", tag = "programs",
    params(("id" = String, Path), ("agent" = String, Path)),
    responses((status = 204), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn revoke_program(
    State(doors): State<Doors>,
    Caller(who): Caller,
    NamedIn(id, agent): NamedIn,
) -> Result<StatusCode, Problem> {
    doors.gateway.revoke_program(&who, &id, &agent).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The credentials of an agent for a program.
#[utoipa::path(
    get, path = "/v1/cli-credentials/{id}/agent-credentials/{agent}", tag = "programs",
    params(("id" = String, Path), ("agent" = String, Path)),
    responses((status = 200, body = Credentials), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn list_agent_credentials(
    State(doors): State<Doors>,
    Caller(who): Caller,
    NamedIn(id, agent): NamedIn,
) -> Result<Response, Problem> {
    let credentials = doors.gateway.credentials(&who, &id, &ProgramHolder::Agent(agent)).await?;
    json(&Credentials { credentials })
}

/// Stores a credential of an agent for a program, in place of the one of the same type and host: `credential_type` (`env`, `token`, `ssh_key`,
/// `pg_password`) and what belongs to it.
#[utoipa::path(
    put, path = "/v1/cli-credentials/{id}/agent-credentials/{agent}", tag = "programs",
    params(("id" = String, Path), ("agent" = String, Path)), request_body = Object,
    responses((status = 200, body = Object), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn put_agent_credential(
    State(doors): State<Doors>,
    Caller(who): Caller,
    NamedIn(id, agent): NamedIn,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    json(&doors.gateway.put_credential(&who, &id, ProgramHolder::Agent(agent), &read::<Value>(&body)?).await?)
}

/// Removes all credentials of an agent for a program.
#[utoipa::path(
    delete, path = "/v1/cli-credentials/{id}/agent-credentials/{agent}", tag = "programs",
    params(("id" = String, Path), ("agent" = String, Path)),
    responses((status = 204), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn remove_agent_credentials(
    State(doors): State<Doors>,
    Caller(who): Caller,
    NamedIn(id, agent): NamedIn,
) -> Result<StatusCode, Problem> {
    doors.gateway.remove_credentials(&who, &id, &ProgramHolder::Agent(agent)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The credentials of a user for a program.
#[utoipa::path(
    get, path = "/v1/cli-credentials/{id}/user-credentials/{user}", tag = "programs",
    params(("id" = String, Path), ("user" = String, Path)),
    responses((status = 200, body = Credentials), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn list_user_credentials(
    State(doors): State<Doors>,
    Caller(who): Caller,
    NamedIn(id, user): NamedIn,
) -> Result<Response, Problem> {
    let credentials = doors.gateway.credentials(&who, &id, &ProgramHolder::User(user)).await?;
    json(&Credentials { credentials })
}

/// Stores a credential of a user for a program; it wins over the agent's.
#[utoipa::path(
    put, path = "/v1/cli-credentials/{id}/user-credentials/{user}", tag = "programs",
    params(("id" = String, Path), ("user" = String, Path)), request_body = Object,
    responses((status = 200, body = Object), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn put_user_credential(
    State(doors): State<Doors>,
    Caller(who): Caller,
    NamedIn(id, user): NamedIn,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    json(&doors.gateway.put_credential(&who, &id, ProgramHolder::User(user), &read::<Value>(&body)?).await?)
}

/// Removes all credentials of a user for a program.
#[utoipa::path(
    delete, path = "/v1/cli-credentials/{id}/user-credentials/{user}", tag = "programs",
    params(("id" = String, Path), ("user" = String, Path)),
    responses((status = 204), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn remove_user_credentials(
    State(doors): State<Doors>,
    Caller(who): Caller,
    NamedIn(id, user): NamedIn,
) -> Result<StatusCode, Problem> {
    doors.gateway.remove_credentials(&who, &id, &ProgramHolder::User(user)).await?;
    Ok(StatusCode::NO_CONTENT)
}
