//! One handler for every revision of MCP.

use super::asked::Source;
use super::{changes, convert};
use crate::{page, progress};
use caisson_call::{Call, Progress};
use caisson_registry::{AdminError, Answer, Gateway};
use futures::future::{Either, select};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ServerCapabilities, ServerConfig,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Tools on one page of a list.
const PAGE: usize = 100;

/// Longest wait for a reader to take the last steps of progress before the answer.
const FLUSH: Duration = Duration::from_millis(500);

/// How long a call waits for a person: shorter than the shortest time-out that clients of MCP are known to have, which is 60 s.
const PATIENCE: Duration = Duration::from_secs(45);

/// Serves one stream or one session.
pub(super) struct Handler {
    gateway: Gateway,
    source: Source,
    /// Ends what was started for the session once the session is gone.
    life: CancellationToken,
    _end: DropGuard,
}

impl Handler {
    pub(super) fn new(gateway: Gateway, source: Source) -> Self {
        let life = CancellationToken::new();
        Self { gateway, source, _end: life.clone().drop_guard(), life }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("caisson", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (asked, call_context) = self.source.take(&mut context.extensions, &context.meta)?;
        let tools = self.gateway.tools(&asked.principal, &call_context).await.map_err(unavailable)?;
        let cursor = request.and_then(|page| page.cursor);
        let (tools, next) =
            page::cut(&tools, cursor.as_deref(), PAGE).map_err(|detail| ErrorData::invalid_params(detail, None))?;
        let mut result = ListToolsResult::with_all_items(tools.iter().map(convert::tool).collect());
        result.next_cursor = next;
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (asked, call_context) = self.source.take(&mut context.extensions, &context.meta)?;
        let arguments = match (asked.arguments, request.arguments) {
            (Some(text), _) => text.0,
            (None, Some(map)) => serde_json::to_string(&map).unwrap_or_default(),
            (None, None) => "{}".to_owned(),
        };
        let mut call = Call {
            id: crate::new_call_id(),
            principal: asked.principal,
            context: call_context,
            tool: request.name.into_owned(),
            arguments,
            inputs: Arc::new([]),
            progress: None,
            patience: Some(PATIENCE),
        };
        let run = async {
            match context.meta.get_progress_token() {
                None => self.gateway.call(call).await,
                Some(token) => {
                    let (sink, steps) = progress::queue();
                    call.progress = Some(sink);
                    with_progress(self.gateway.call(call), steps, &context.peer, token).await
                }
            }
        };
        // Either way of going away drops the call's future, and with it the instance.
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Ok(cancelled().into()),
            () = asked.closed.cancelled() => Ok(cancelled().into()),
            answer = run => convert::answer(&answer).map(Into::into),
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let principal = self
            .source
            .principal(&subscription.request_context().extensions)
            .ok_or_else(|| ErrorData::internal_error("the request has no principal", None))?;
        let mut changes = changes::of(&self.gateway, principal.tenant);
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                more = changes.next() => {
                    // An end of the feed is the end of the gateway; a reader that is gone cancels.
                    if !more || subscription.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // A peer of the stateless revision never initialises and must ask with `subscriptions/listen`.
        if context.peer.peer_info().is_none() {
            return;
        }
        let Some(principal) = self.source.principal(&context.extensions) else { return };
        let mut changes = changes::of(&self.gateway, principal.tenant);
        let (peer, life) = (context.peer, self.life.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = life.cancelled() => return,
                    more = changes.next() => {
                        if !more || peer.notify_tool_list_changed().await.is_err() {
                            return;
                        }
                    }
                }
            }
        });
    }
}

/// Runs the call and passes its progress on. A slow reader holds up neither the call nor its deadline.
async fn with_progress(
    call: impl Future<Output = Answer>,
    steps: mpsc::Receiver<Progress>,
    peer: &Peer<RoleServer>,
    token: ProgressToken,
) -> Answer {
    let forward = pin!(forward(steps, peer, token));
    match select(pin!(call), forward).await {
        Either::Left((answer, forward)) => {
            // The queue's sender is gone with the call, so this ends once the queue is empty.
            let _ = tokio::time::timeout(FLUSH, forward).await;
            answer
        }
        Either::Right(((), call)) => call.await,
    }
}

async fn forward(mut steps: mpsc::Receiver<Progress>, peer: &Peer<RoleServer>, token: ProgressToken) {
    while let Some(step) = steps.recv().await {
        let mut told = ProgressNotificationParam::new(token.clone(), step.done);
        told.total = step.total;
        told.message = step.message;
        if peer.notify_progress(told).await.is_err() {
            return;
        }
    }
}

/// Nobody reads it; it only ends the request within rmcp.
fn cancelled() -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(caisson_call::Refused::Cancelled.message())])
}

fn unavailable(error: AdminError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
