//! Listing and describing tools.

use super::wire::{Tool, ToolPage};
use super::{Named, QueryOf, json};
use crate::Doors;
use crate::auth::{Caller, act_for};
use crate::page;
use crate::problem::Problem;
use axum::extract::State;
use axum::response::Response;
use caisson_call::{CallContext, PeerKind, Principal};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// Direct or group.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Peer {
    /// A chat with one person.
    Direct,
    /// A chat with a group.
    Group,
}

impl From<Peer> for PeerKind {
    fn from(peer: Peer) -> Self {
        match peer {
            Peer::Direct => Self::Direct,
            Peer::Group => Self::Group,
        }
    }
}

/// For whom and where; what is offered may depend on all of it.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct Asks {
    /// From `nextCursor` of the page before.
    cursor: Option<String>,
    /// Tools on one page, 1 to 1000; 100 where absent.
    limit: Option<usize>,
    /// Conversation.
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
    #[param(value_type = Option<String>)]
    peer_kind: Option<Peer>,
}

impl Asks {
    fn settle(self, mut who: Principal) -> Result<(Principal, CallContext), Problem> {
        act_for(&mut who, self.agent_id, self.user_id).map_err(Problem::forbidden)?;
        let context = CallContext {
            session: self.session_key,
            channel: self.channel,
            chat: self.chat_id,
            peer_kind: self.peer_kind.map(Into::into),
            ..CallContext::default()
        };
        Ok((who, context))
    }
}

/// The tools that this request is offered, sorted by name.
#[utoipa::path(
    get, path = "/v1/tools", tag = "tools", params(Asks),
    responses((status = 200, body = ToolPage), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn list_tools(
    State(doors): State<Doors>,
    Caller(who): Caller,
    QueryOf(mut asks): QueryOf<Asks>,
) -> Result<Response, Problem> {
    let (cursor, limit) = (asks.cursor.take(), asks.limit.take().unwrap_or(100));
    if !(1..=1000).contains(&limit) {
        return Err(Problem::bad_request(format!("`limit` is {limit}; use 1 to 1000")));
    }
    let (who, context) = asks.settle(who)?;
    let tools = doors.gateway.tools(&who, &context).await?;
    let (tools, next_cursor) = page::cut(&tools, cursor.as_deref(), limit).map_err(Problem::bad_request)?;
    json(&ToolPage { tools: tools.iter().map(Tool::from).collect(), next_cursor })
}

/// One offered tool, by name or alias.
#[utoipa::path(
    get, path = "/v1/tools/{name}", tag = "tools", params(("name" = String, Path, description = "Name or alias"), Asks),
    responses((status = 200, body = Tool), (status = "default", body = Problem, content_type = "application/problem+json"))
)]
pub(crate) async fn get_tool(
    State(doors): State<Doors>,
    Caller(who): Caller,
    Named(name): Named,
    QueryOf(asks): QueryOf<Asks>,
) -> Result<Response, Problem> {
    let (who, context) = asks.settle(who)?;
    let tool = doors.gateway.tool(&who, &context, &name).await?;
    json(&Tool::from(&tool))
}
