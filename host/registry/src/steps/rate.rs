//! Calls of a session in the last hour.

use crate::gateway::Inner;
use caisson_call::{Call, Refused};

/// The key of a call: its session, falling back to token and agent, never to none at all.
pub(crate) fn key(call: &Call) -> String {
    let who = &call.principal;
    match &call.context.session {
        Some(session) => format!("{}\u{0}session\u{0}{session}", who.tenant),
        None => {
            format!("{}\u{0}token\u{0}{}\u{0}{}", who.tenant, who.token_id, who.agent.as_deref().unwrap_or_default())
        }
    }
}

/// A caller who was refused again and again waits before it is listened to at all.
pub(crate) fn not_refused_out(inner: &Inner, key: &str) -> Result<(), Refused> {
    inner.rate.not_refused_out(key).map_err(|retry_after| Refused::RateLimited { retry_after })
}

/// Counts the call.
pub(crate) fn rate(inner: &Inner, key: &str) -> Result<(), Refused> {
    inner.rate.take(key).map_err(|retry_after| Refused::RateLimited { retry_after })
}
