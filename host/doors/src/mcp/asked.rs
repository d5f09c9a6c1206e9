//! Who asks over MCP, and what `_meta` asserts about the request.

use crate::auth::act_for;
use crate::mcp::envelope::Arguments;
use caisson_call::{CallContext, PeerKind, Principal};
use http::request::Parts;
use rmcp::model::{ErrorData, Extensions, RequestMetaObject};
use tokio_util::sync::CancellationToken;

/// What the door found out about one request before rmcp took it. It travels in the request's extensions.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Who the token stands for.
    pub principal: Principal,
    /// The arguments of a call, as they were sent.
    pub arguments: Option<Arguments>,
    /// Cancelled once nobody reads the answer.
    pub closed: CancellationToken,
}

/// Where a handler finds its principal.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Every request brings its own token.
    Http,
    /// One principal for the whole stream, and what holds for all of its requests.
    Fixed(Box<Principal>, CallContext),
}

impl Source {
    /// Who asks, with what `_meta` asserts.
    ///
    /// # Errors
    /// Invalid parameters, where `_meta` names somebody that the token may not act for.
    pub(crate) fn take(
        &self,
        extensions: &mut Extensions,
        meta: &RequestMetaObject,
    ) -> Result<(Asked, CallContext), ErrorData> {
        let (mut asked, mut context) = self.find(extensions)?;
        claim(&mut asked.principal, &mut context, meta)?;
        Ok((asked, context))
    }

    fn find(&self, extensions: &mut Extensions) -> Result<(Asked, CallContext), ErrorData> {
        match self {
            Self::Fixed(principal, context) => {
                let arguments = extensions.remove::<Arguments>();
                let asked =
                    Asked { principal: Principal::clone(principal), arguments, closed: CancellationToken::new() };
                Ok((asked, context.clone()))
            }
            Self::Http => {
                let asked = extensions.get_mut::<Parts>().and_then(|parts| parts.extensions.remove::<Asked>());
                // The door puts it into every request; without it nobody is known, so nothing is done.
                let asked = asked.ok_or_else(|| ErrorData::internal_error("the request has no principal", None))?;
                Ok((asked, CallContext::default()))
            }
        }
    }

    /// Who sent a notification.
    pub(crate) fn principal(&self, extensions: &Extensions) -> Option<Principal> {
        match self {
            Self::Fixed(principal, _) => Some(Principal::clone(principal)),
            Self::Http => Some(extensions.get::<Parts>()?.extensions.get::<Asked>()?.principal.clone()),
        }
    }
}

/// Applies the keys `caisson/…` of `_meta`.
fn claim(principal: &mut Principal, context: &mut CallContext, meta: &RequestMetaObject) -> Result<(), ErrorData> {
    if !meta.keys().any(|key| key.starts_with("caisson/")) {
        return Ok(());
    }
    let agent = text(meta, "caisson/agent")?;
    let user = text(meta, "caisson/user")?;
    act_for(principal, agent, user).map_err(|detail| ErrorData::invalid_params(detail, None))?;
    let slots = [
        ("caisson/session", &mut context.session),
        ("caisson/channel", &mut context.channel),
        ("caisson/chat", &mut context.chat),
        ("caisson/team", &mut context.team),
        ("caisson/project", &mut context.project),
        ("caisson/time-zone", &mut context.time_zone),
    ];
    for (key, slot) in slots {
        if let Some(value) = text(meta, key)? {
            *slot = Some(value);
        }
    }
    match text(meta, "caisson/peer-kind")?.as_deref() {
        None => {}
        Some("direct") => context.peer_kind = Some(PeerKind::Direct),
        Some("group") => context.peer_kind = Some(PeerKind::Group),
        Some(_) => return Err(ErrorData::invalid_params("`_meta`: `caisson/peer-kind` is `direct` or `group`", None)),
    }
    Ok(())
}

fn text(meta: &RequestMetaObject, key: &str) -> Result<Option<String>, ErrorData> {
    match meta.get(key) {
        None => Ok(None),
        Some(serde_json::Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(ErrorData::invalid_params(format!("`_meta`: `{key}` is not a string"), None)),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use caisson_call::{Role, TenantId};
    use serde_json::json;

    fn source(role: Role) -> Source {
        let tenant = TenantId::new("acme").unwrap();
        let principal = Principal { tenant, role, token_id: "t1".into(), agent: None, user: None };
        Source::Fixed(Box::new(principal), CallContext { session: Some("s0".into()), ..CallContext::default() })
    }

    fn meta(value: serde_json::Value) -> RequestMetaObject {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn an_http_request_without_a_principal_is_nobodys() {
        assert!(Source::Http.take(&mut Extensions::new(), &RequestMetaObject::new()).is_err());
    }

    #[test]
    fn an_agents_token_may_not_name_another() {
        let source = source(Role::Agent);
        for key in ["caisson/agent", "caisson/user"] {
            let error = source.take(&mut Extensions::new(), &meta(json!({ key: "bert" }))).unwrap_err();
            assert!(error.message.contains("`bert`"), "{}", error.message);
        }
        assert!(source.take(&mut Extensions::new(), &meta(json!({"caisson/session": 3}))).is_err());
        assert!(source.take(&mut Extensions::new(), &meta(json!({"caisson/peer-kind": "crowd"}))).is_err());
    }

    #[test]
    fn what_is_asserted_replaces_what_holds_for_the_stream() {
        let asserted = meta(
            json!({"caisson/session": "s1", "caisson/agent": "bert", "caisson/peer-kind": "group", "progressToken": 1}),
        );
        let (asked, context) = source(Role::Operator).take(&mut Extensions::new(), &asserted).unwrap();
        assert_eq!(asked.principal.agent.as_deref(), Some("bert"));
        assert_eq!((context.session.as_deref(), context.peer_kind), (Some("s1"), Some(PeerKind::Group)));
        let (_, context) = source(Role::Agent).take(&mut Extensions::new(), &meta(json!({}))).unwrap();
        assert_eq!(context.session.as_deref(), Some("s0"));
    }
}
