//! Errors of the HTTP API: RFC 9457 problems.

use axum::response::{IntoResponse, Response};
use caisson_call::{CallId, Fault, Refused};
use caisson_registry::AdminError;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// One thing wrong with the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FaultBody {
    /// JSON Pointer (RFC 6901) into the arguments; empty for the whole.
    pub pointer: String,
    /// What is wrong, and what the schema asks for there.
    pub message: String,
}

/// An error, as RFC 9457 `application/problem+json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// `urn:caisson:outcome:…` for a call that was refused, `urn:caisson:problem:…` otherwise. Fixed identifiers.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind, for people.
    pub title: &'static str,
    /// HTTP status.
    pub status: u16,
    /// What happened and what to do next.
    pub detail: String,
    /// The word for how the call ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    /// Identifier of the call, or of the failure in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What the gate guards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<&'static str>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The smallest change that would allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// The nearest of the tools that are offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// What is wrong with the arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultBody>,
    /// Milliseconds until a next try has a chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Identifier of the approval that is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// The budget that was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<&'static str>,
    /// What the host has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has: Option<String>,
    /// What the component wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants: Option<String>,
}

impl Problem {
    /// A problem of the door itself; `name` is a fixed identifier.
    pub(crate) fn new(status: StatusCode, name: &str, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:caisson:problem:{name}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            ..Self::default()
        }
    }

    /// The request is not one that this API understands.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", "Bad request", detail)
    }

    /// The token may not do it.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "Not allowed", detail)
    }

    /// No token, or one that stands for nobody. The token is never repeated.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "A bearer token is needed", detail)
    }

    /// A body past its limit.
    pub(crate) fn too_large(what: &str, limit: u64) -> Self {
        let detail = format!("{what} is larger than {limit} bytes; send less, or ask the operator to raise the limit");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Too large", detail)
    }

    /// The host failed; `id` finds the reason in the log.
    pub(crate) fn internal(id: &str) -> Self {
        let detail = format!("the gateway failed at this request; its log says why under `{id}`");
        let mut problem = Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Internal error", detail);
        problem.call_id = Some(id.to_owned());
        problem
    }

    /// A refusal by the registry line.
    #[must_use]
    pub fn refused(refused: &Refused, id: Option<&CallId>) -> Self {
        let outcome = refused.outcome();
        let meaning = crate::outcome::meaning(outcome);
        let mut problem = Self {
            kind: format!("urn:caisson:outcome:{}", outcome.as_str()),
            title: meaning.title,
            status: meaning.status.as_u16(),
            detail: refused.message(),
            outcome: Some(outcome.as_str()),
            call_id: id.map(|id| id.0.to_string()),
            ..Self::default()
        };
        problem.add_fields(refused);
        problem
    }

    fn add_fields(&mut self, refused: &Refused) {
        match refused {
            Refused::UnknownTool { name, nearest } => {
                self.subject = Some(name.clone());
                self.nearest.clone_from(nearest);
            }
            Refused::NotOffered { name, rule, nearest } => {
                self.subject = Some(name.clone());
                self.rule = Some(rule.clone());
                self.nearest.clone_from(nearest);
            }
            Refused::InvalidArguments(faults) => self.faults = faults.iter().map(FaultBody::from).collect(),
            Refused::Denied(denial) => {
                self.capability = Some(denial.capability.as_str());
                self.rule = Some(denial.rule.clone());
                self.subject = Some(denial.subject.clone());
                self.grant = Some(denial.grant.clone()).filter(|grant| !grant.is_empty());
            }
            Refused::NeedsApproval { id } => self.approval_id = Some(id.clone()),
            Refused::RateLimited { retry_after } | Refused::Overloaded { retry_after } => {
                self.retry_after_ms = Some(milliseconds(*retry_after));
            }
            Refused::OverBudget(budget) => self.budget = Some(budget.as_str()),
            Refused::Trapped { why } => self.subject = Some((*why).to_owned()),
            Refused::AbiMismatch { has, wants } => {
                self.has = Some(has.clone());
                self.wants = Some(wants.clone());
            }
            Refused::Unavailable { what } => self.subject = Some(what.clone()),
            Refused::Cancelled | Refused::Deadline | Refused::OutOfCpu | Refused::OutOfMemory | Refused::Conflict => {}
        }
    }
}

/// Whole milliseconds, as far as they fit.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl From<&Fault> for FaultBody {
    fn from(fault: &Fault) -> Self {
        Self { pointer: fault.pointer.clone(), message: fault.message.clone() }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        Self::refused(&refused, None)
    }
}

impl From<AdminError> for Problem {
    fn from(error: AdminError) -> Self {
        let detail = error.to_string();
        match error {
            AdminError::Forbidden { needs, .. } => {
                let mut problem = Self::forbidden(detail);
                problem.grant = Some(format!("a token with the role `{needs}`"));
                problem
            }
            AdminError::NotFound { name, .. } => {
                let mut problem = Self::new(StatusCode::NOT_FOUND, "not-found", "Not found", detail);
                problem.subject = Some(name);
                problem
            }
            AdminError::Conflict(_) => Self::new(StatusCode::CONFLICT, "conflict", "Conflict", detail),
            AdminError::Invalid(lines) => {
                let mut problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", "Invalid input", detail);
                problem.faults =
                    lines.into_iter().map(|message| FaultBody { pointer: String::new(), message }).collect();
                problem
            }
            AdminError::TooLarge { what, limit_bytes } => Self::too_large(what, limit_bytes),
            AdminError::AbiMismatch { has, wants } => {
                let mut problem =
                    Self::new(StatusCode::UNPROCESSABLE_ENTITY, "abi-mismatch", "Built for another host", detail);
                problem.has = Some(has);
                problem.wants = Some(wants);
                problem
            }
            AdminError::Unavailable(_) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "Not available now", detail)
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(wait) = self.retry_after_ms {
            // The header counts whole seconds; rounding up never invites a client too early.
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.div_ceil(1000).max(1)));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"caisson\""));
        }
        response
    }
}
