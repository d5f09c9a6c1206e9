//! Who asks: a bearer token becomes a principal, and the request's own claims are held to the token's role.

use crate::Doors;
use crate::problem::Problem;
use axum::extract::FromRequestParts;
use caisson_call::{Principal, Role};
use http::{HeaderMap, header, request::Parts};

/// The principal that the request's token stands for.
pub(crate) struct Caller(pub Principal);

impl FromRequestParts<Doors> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, doors: &Doors) -> Result<Self, Problem> {
        authenticate(&parts.headers, doors).await.map(Self)
    }
}

/// Reads the token and asks the gateway whose it is.
pub(crate) async fn authenticate(headers: &HeaderMap, doors: &Doors) -> Result<Principal, Problem> {
    let token = bearer(headers)?;
    doors.gateway.authenticate(token).await.ok_or_else(|| {
        Problem::unauthorized(
            "the bearer token is unknown or was revoked; use one that the gateway printed or made for you",
        )
    })
}

/// The token of `Authorization: Bearer …`.
fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let missing =
        || Problem::unauthorized("send the header `Authorization: Bearer TOKEN` with a token of this gateway");
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or_else(missing)?;
    if values.next().is_some() {
        return Err(Problem::unauthorized("send one `Authorization` header, not several"));
    }
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(missing)?;
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(missing());
    }
    Ok(token)
}

/// Holds the agent and user that a request names to what its token may name.
///
/// # Errors
/// A sentence that says what to do, where the token is bound to somebody else or its role may not act for others.
pub fn act_for(principal: &mut Principal, agent: Option<String>, user: Option<String>) -> Result<(), String> {
    let role = principal.role;
    claim(&mut principal.agent, agent, role, "agent")?;
    claim(&mut principal.user, user, role, "user")
}

fn claim(bound: &mut Option<String>, named: Option<String>, role: Role, what: &str) -> Result<(), String> {
    let Some(named) = named else { return Ok(()) };
    if bound.as_ref() == Some(&named) {
        return Ok(());
    }
    if role < Role::Operator {
        return Err(format!(
            "this token may not act for the {what} `{}`; leave the {what} out, or use a token with the role `operator`",
            crate::origin::shown(&named)
        ));
    }
    *bound = Some(named);
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use caisson_call::TenantId;

    fn principal(role: Role, agent: Option<&str>) -> Principal {
        Principal {
            tenant: TenantId::new("acme").unwrap(),
            role,
            token_id: "t1".into(),
            agent: agent.map(Into::into),
            user: None,
        }
    }

    #[test]
    fn only_an_operator_may_name_somebody_else() {
        for role in [Role::Viewer, Role::Agent] {
            let mut who = principal(role, Some("anna"));
            assert!(act_for(&mut who, Some("bert".into()), None).unwrap_err().contains("`bert`"));
            assert!(act_for(&mut who, None, Some("carl".into())).unwrap_err().contains("`operator`"));
            assert_eq!(who, principal(role, Some("anna")));
            act_for(&mut who, Some("anna".into()), None).unwrap();
        }
        for role in [Role::Operator, Role::TenantAdmin, Role::Owner] {
            let mut who = principal(role, None);
            act_for(&mut who, Some("bert".into()), Some("carl".into())).unwrap();
            assert_eq!((who.agent.as_deref(), who.user.as_deref()), (Some("bert"), Some("carl")));
        }
    }

    #[test]
    fn a_token_is_read_from_one_bearer_header_only() {
        let mut headers = HeaderMap::new();
        assert!(bearer(&headers).is_err());
        for wrong in ["", "Bearer", "Bearer ", "Basic abc", "abc"] {
            headers.insert(header::AUTHORIZATION, wrong.parse().unwrap());
            let problem = bearer(&headers).unwrap_err();
            assert_eq!(problem.status, 401);
            assert!(!problem.detail.contains("abc"));
        }
        headers.insert(header::AUTHORIZATION, "bearer abc".parse().unwrap());
        assert_eq!(bearer(&headers).unwrap(), "abc");
        headers.append(header::AUTHORIZATION, "Bearer def".parse().unwrap());
        assert!(bearer(&headers).is_err());
    }
}
