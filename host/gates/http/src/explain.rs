//! What the gate would say about a URL, without connecting to it.

use crate::Egress;
use crate::decide::{decide, refused, subject};
use crate::error::Failure;
use caisson_contract::Layers;
use serde::Serialize;

/// Allow or deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The request would leave.
    Allow,
    /// It would not.
    Deny,
}

/// A decision with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Allow or deny.
    pub decision: Decision,
    /// Identifier of the rule that decided; `http.allowed` where none refused.
    pub rule: String,
    /// What was judged, without its query: `GET https://example.com:443/`, with what the rule found.
    pub detail: String,
    /// The smallest change that would allow it; empty where nothing would or where it is allowed.
    pub grant: String,
}

impl Egress {
    /// Judges a URL as a request would be, without connecting. Without `layers` only the URL and its address are judged,
    /// not grants. Names are resolved only if `resolve` is set; otherwise they are judged by name. A name that cannot be
    /// resolved is allowed as far as the gate is concerned, and the detail says that it could not be.
    pub async fn explain(&self, url: &str, method: &str, layers: Option<&Layers>, resolve: bool) -> Explanation {
        let allowed = match decide(method, url, layers, self.exceptions(), self.own()) {
            Ok(allowed) => allowed,
            Err(denial) => return Explanation::denied(denial),
        };
        let mut detail = subject(method, url);
        if resolve {
            match self.resolve(&allowed.target).await {
                Ok(addresses) => {
                    let list: Vec<String> = addresses.iter().map(|address| address.ip().to_string()).collect();
                    detail = format!("{detail} at {}", list.join(", "));
                }
                Err(Failure::Refused(refusal)) => return Explanation::denied(refused(method, url, &refusal)),
                Err(Failure::Failed(_)) => detail.push_str(" (the name could not be resolved)"),
            }
        }
        Explanation { decision: Decision::Allow, rule: "http.allowed".into(), detail, grant: String::new() }
    }
}

impl Explanation {
    fn denied(denial: caisson_call::Denial) -> Self {
        Self { decision: Decision::Deny, rule: denial.rule, detail: denial.subject, grant: denial.grant }
    }
}
