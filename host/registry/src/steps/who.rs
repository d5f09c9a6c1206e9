//! Who calls, and from which workspace. The door made the principal; here it is held to what its role may do.

use crate::gateway::Inner;
use caisson_call::{Call, Refused, Role};
use caisson_engine::Workspace;

/// The workspace of a call: tenant, then team or project, then agent, then user or chat. The host alone derives it; segments carry a
/// kind, so that a user called like a chat does not meet it.
///
/// # Errors
/// A role that may not call tools; an empty segment.
pub(crate) fn who(inner: &Inner, call: &Call) -> Result<Workspace, Refused> {
    if call.principal.role < Role::Agent {
        return Err(Refused::NotOffered {
            name: call.tool.clone(),
            rule: "role.viewer-calls-nothing".into(),
            nearest: vec![],
        });
    }
    let context = &call.context;
    let mut segments = vec![call.principal.tenant.as_str().to_owned()];
    if let Some(team) = &context.team {
        segments.push(format!("team-{team}"));
    } else if let Some(project) = &context.project {
        segments.push(format!("project-{project}"));
    }
    segments.push(format!("agent-{}", call.principal.agent.as_deref().unwrap_or("default")));
    if let Some(user) = &call.principal.user {
        segments.push(format!("user-{user}"));
    } else if let Some(chat) = &context.chat {
        segments.push(format!("chat-{chat}"));
    } else {
        // Beside those of users and chats, never above them: whoever has the agent's own workspace must not have theirs.
        segments.push("self".into());
    }
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    Workspace::derive(&inner.config.workspaces, &segments)
        .map_err(|_| Refused::Unavailable { what: "a workspace for an empty name".into() })
}
