//! Commands that wait for a person.

use super::{Named, json};
use crate::Doors;
use crate::auth::Caller;
use crate::body::JsonBody;
use crate::problem::Problem;
use axum::extract::State;
use axum::response::Response;
use caisson_registry::{ApprovalStatus, RememberedRecord, Verdict};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A command that waits, or waited, for a person.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Approval {
    /// Identifier.
    id: String,
    /// `pending`, `approved` (and not run yet), `denied`, `used` or `expired`.
    state: &'static str,
    /// The agent that asks.
    agent: Option<String>,
    /// The user it asks for.
    user: Option<String>,
    /// Plugin and tool that would run it.
    plugin: String,
    /// Likewise.
    tool: String,
    /// The whole command, escaped, secrets taken out.
    command: String,
    /// Where it would start.
    directory: String,
    /// The rule that asks.
    rule: String,
    /// What the rule says.
    why: String,
    /// The files that its programs' names stand for.
    programs: Vec<String>,
    /// What an approval for good would be about; empty where it can only be given once.
    remember: Vec<Shape>,
    /// Milliseconds since 1970.
    asked_ms: i64,
    /// Until when it can be answered, or used once it is approved; milliseconds since 1970.
    expires_ms: i64,
    /// Public identifier of the token that answered.
    decided_by: Option<String>,
}

/// One program with the shape of its arguments.
#[derive(Serialize, ToSchema)]
pub(crate) struct Shape {
    /// The program as written.
    program: String,
    /// The file that its name stands for.
    path: String,
    /// Its wrappers, options, subcommand and code as they are, and `*` for other arguments.
    shape: String,
}

impl From<caisson_registry::Remembered> for Shape {
    fn from(one: caisson_registry::Remembered) -> Self {
        Self { program: one.program, path: one.path.display().to_string(), shape: one.shape }
    }
}

impl From<ApprovalStatus> for Approval {
    fn from(status: ApprovalStatus) -> Self {
        let record = status.record;
        Self {
            id: record.id,
            state: status.state.as_str(),
            agent: record.asker.agent,
            user: record.asker.user,
            plugin: record.asker.plugin,
            tool: record.asker.tool,
            command: record.command,
            directory: record.directory,
            rule: record.rule,
            why: record.why,
            programs: record.programs.iter().map(|path| path.display().to_string()).collect(),
            remember: record.remember.into_iter().map(Shape::from).collect(),
            asked_ms: record.asked_ms,
            expires_ms: status.expires_ms,
            decided_by: status.decided_by,
        }
    }
}

/// The questions of the tenant.
#[derive(Serialize, ToSchema)]
pub(crate) struct ApprovalList {
    /// Oldest first.
    approvals: Vec<Approval>,
}

/// An answer to a question.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decision {
    /// What is decided.
    decision: Decide,
}

/// What a person decides.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Decide {
    /// It runs this one time.
    ApproveOnce,
    /// It runs, and so does every command of the same agent and plugin with the same programs and shape. Needs the role `tenant-admin`.
    ApproveAlways,
    /// It does not run.
    Deny,
}

/// What was approved for good.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Remembered {
    /// Identifier.
    id: String,
    /// For which agent.
    agent: Option<String>,
    /// For which user.
    user: Option<String>,
    /// For which plugin.
    plugin: String,
    /// What.
    #[serde(flatten)]
    shape: Shape,
    /// Milliseconds since 1970.
    approved_ms: i64,
    /// Public identifier of the token that approved.
    approved_by: String,
}

impl From<RememberedRecord> for Remembered {
    fn from(one: RememberedRecord) -> Self {
        Self {
            id: one.id,
            agent: one.agent,
            user: one.user,
            plugin: one.plugin,
            shape: one.what.into(),
            approved_ms: one.approved_ms,
            approved_by: one.approved_by,
        }
    }
}

/// All that was approved for good.
#[derive(Serialize, ToSchema)]
pub(crate) struct RememberedList {
    /// Oldest first.
    remembered: Vec<Remembered>,
}

/// The commands that wait for a person, and for a week those that did; needs the role `operator`.
#[utoipa::path(
    get, path = "/v1/approvals", tag = "approvals",
    responses((status = 200, body = ApprovalList), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn list_approvals(State(doors): State<Doors>, Caller(who): Caller) -> Result<Response, Problem> {
    let approvals = doors.gateway.approvals(&who).await?.into_iter().map(Approval::from).collect();
    json(&ApprovalList { approvals })
}

/// One command that waits, or waited.
#[utoipa::path(
    get, path = "/v1/approvals/{id}", tag = "approvals", params(("id" = String, Path)),
    responses((status = 200, body = Approval), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn get_approval(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(id): Named,
) -> Result<Response, Problem> {
    json(&Approval::from(doors.gateway.approval(&who, &id).await?))
}

/// Answers one. A token cannot answer what it asked itself.
#[utoipa::path(
    post, path = "/v1/approvals/{id}", tag = "approvals", params(("id" = String, Path)), request_body = Decision,
    responses(
        (status = 200, body = Approval),
        (status = 409, body = Problem, content_type = "application/problem+json", description = "Answered or expired already, or not to be answered so"),
        (status = "default", body = Problem, content_type = "application/problem+json")
    )
)]
pub(crate) async fn decide_approval(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(id): Named,
    JsonBody(decision): JsonBody<Decision>,
) -> Result<Response, Problem> {
    let verdict = match decision.decision {
        Decide::ApproveOnce => Verdict::Once,
        Decide::ApproveAlways => Verdict::Always,
        Decide::Deny => Verdict::Deny,
    };
    json(&Approval::from(doors.gateway.decide(&who, &id, verdict).await?))
}

/// What was approved for good; needs the role `operator`.
#[utoipa::path(
    get, path = "/v1/remembered-approvals", tag = "approvals",
    responses((status = 200, body = RememberedList), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn list_remembered(State(doors): State<Doors>, Caller(who): Caller) -> Result<Response, Problem> {
    let remembered = doors.gateway.remembered(&who).await?.into_iter().map(Remembered::from).collect();
    json(&RememberedList { remembered })
}

/// Forgets an approval for good: the next such command asks again.
#[utoipa::path(
    delete, path = "/v1/remembered-approvals/{id}", tag = "approvals", params(("id" = String, Path)),
    responses((status = 204), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn forget_remembered(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(id): Named,
) -> Result<StatusCode, Problem> {
    doors.gateway.forget(&who, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
