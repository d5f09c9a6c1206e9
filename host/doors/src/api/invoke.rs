//! Calling a tool.

use super::json_bytes;
use super::tools::Peer;
use super::wire::{CallAnswer, Tool, decode_base64};
use crate::Doors;
use crate::auth::{Caller, act_for};
use crate::body::JsonBody;
use crate::problem::Problem;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use caisson_call::{Call, CallContext, Principal};
use caisson_registry::Answer;
use http::{HeaderMap, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::Duration;
use utoipa::ToSchema;

/// A call of a tool.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Invoke {
    /// Name or alias.
    tool: String,
    /// The arguments, an object that fits the tool's `parameters`; at most 1 MiB. Nothing is the same as `{}`.
    #[schema(value_type = Option<Object>)]
    #[serde(default, alias = "args")]
    arguments: Option<Box<RawValue>>,
    /// Conversation, the key of rate limits.
    session_key: Option<String>,
    /// Agent to act for; needs the role `operator` unless the token is bound to it.
    agent_id: Option<String>,
    /// User to act for; likewise.
    user_id: Option<String>,
    /// Messaging channel.
    channel: Option<String>,
    /// Chat within the channel.
    chat_id: Option<String>,
    /// Direct or group.
    peer_kind: Option<Peer>,
    /// Team whose shared workspace the call works in.
    team_id: Option<String>,
    /// Project whose shared workspace the call works in, where no team is named.
    project_id: Option<String>,
    /// IANA time zone of the caller; UTC where absent.
    time_zone: Option<String>,
    /// True only asks whether the tool is offered to this request; nothing runs and the arguments are not looked at.
    #[serde(default)]
    dry_run: bool,
    /// Files for the tool.
    #[serde(default)]
    inputs: Vec<Input>,
}

/// A file for a tool.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Input {
    /// File name.
    name: String,
    /// Media type.
    mime_type: String,
    /// The bytes, base64 with padding.
    data: String,
}

/// What a dry run answers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DryRun {
    /// Always true.
    dry_run: bool,
    /// The tool that would run.
    tool: Tool,
}

impl Invoke {
    fn context(&mut self) -> CallContext {
        CallContext {
            session: self.session_key.take(),
            channel: self.channel.take(),
            chat: self.chat_id.take(),
            peer_kind: self.peer_kind.map(Into::into),
            team: self.team_id.take(),
            project: self.project_id.take(),
            time_zone: self.time_zone.take(),
            ..CallContext::default()
        }
    }

    fn into_call(mut self, principal: Principal, patience: Duration) -> Result<Call, Problem> {
        let context = self.context();
        let inputs = self.inputs.into_iter().map(Input::decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Call {
            id: crate::new_call_id(),
            principal,
            context,
            tool: self.tool,
            arguments: self.arguments.map_or_else(|| "{}".to_owned(), |raw| Box::<str>::from(raw).into_string()),
            inputs: inputs.into(),
            progress: None,
            patience: Some(patience),
        })
    }
}

impl Input {
    fn decode(self) -> Result<(String, String, Vec<u8>), Problem> {
        let data = decode_base64(&self.data).ok_or_else(|| {
            Problem::bad_request(format!(
                "`inputs`: the data of `{}` is not base64 with padding",
                crate::origin::shown(&self.name)
            ))
        })?;
        Ok((self.name, self.mime_type, data))
    }
}

/// What a call answers.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only describes the two shapes")]
enum Reply<'a> {
    Answer(CallAnswer<'a>),
    DryRun(DryRun),
}

/// Calls a tool. With `Accept: text/event-stream` the answer is a stream: `progress` events, then one `result` or `problem`
/// event. A client that goes away cancels the call. Where a command waits for a person, so does the answer, for as many seconds as
/// the header `Prefer: wait=SECONDS` says (120 at most, and where it is absent); then it is `needs-approval`, and the same call again
/// finds the approval.
#[utoipa::path(
    post, path = "/v1/tools/invoke", tag = "tools", request_body = Invoke,
    responses(
        (status = 200, description = "The tool answered, possibly with an error of its own; or what a dry run found", content(
            (Reply = "application/json"), (String = "text/event-stream")
        )),
        (status = "default", body = Problem, content_type = "application/problem+json",
         description = "Refused; `outcome` says why, `detail` what to do")
    )
)]
pub(crate) async fn invoke(
    State(doors): State<Doors>,
    Caller(mut who): Caller,
    headers: HeaderMap,
    JsonBody(mut invoke): JsonBody<Invoke>,
) -> Result<Response, Problem> {
    act_for(&mut who, invoke.agent_id.take(), invoke.user_id.take()).map_err(Problem::forbidden)?;
    if invoke.dry_run {
        let tool = doors.gateway.tool(&who, &invoke.context(), &invoke.tool).await?;
        return super::json(&DryRun { dry_run: true, tool: Tool::from(&tool) });
    }
    let call = invoke.into_call(who, patience(&headers))?;
    if wants_events(&headers) {
        return Ok(crate::events::stream(doors, call).into_response());
    }
    let answer = doors.gateway.call(call).await;
    match to_json(&answer) {
        Ok(body) => Ok(json_bytes(StatusCode::OK, body)),
        Err(problem) => Err(problem),
    }
}

/// The JSON of a tool's answer, or the problem of a refusal.
pub(crate) fn to_json(answer: &Answer) -> Result<Vec<u8>, Problem> {
    match &answer.body {
        Ok(result) => serde_json::to_vec(&CallAnswer::new(answer, result)).map_err(|_| Problem::internal(&answer.id.0)),
        Err(refused) => Err(Problem::refused(refused, Some(&answer.id))),
    }
}

/// Longest that a call waits for a person, and how long it does where its caller does not say: as long as a question waits for its answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// `Prefer: wait=SECONDS` (RFC 7240); what is no such preference is no error.
fn patience(headers: &HeaderMap) -> Duration {
    let values = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let mut preferences = values.flat_map(|value| value.split([',', ';'])).filter_map(|one| one.split_once('='));
    let wait = preferences.find(|(name, _)| name.trim().eq_ignore_ascii_case("wait"));
    let seconds = wait.and_then(|(_, seconds)| seconds.trim().parse().ok());
    seconds.map_or(PATIENCE, Duration::from_secs).min(PATIENCE)
}

fn wants_events(headers: &HeaderMap) -> bool {
    headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value
            .split(',')
            .any(|range| range.split(';').next().unwrap_or("").trim().eq_ignore_ascii_case("text/event-stream"))
    })
}
