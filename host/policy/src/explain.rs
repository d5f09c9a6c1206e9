//! What a decision did, step by step, for `explain`.

use serde::{Deserialize, Serialize};

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It lets the request go on.
    Allow,
    /// It ends the request; no later step is asked.
    Deny,
    /// It narrows what the request may do.
    Narrow,
}

/// One step of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Step {
    /// Identifier of the rule, such as `policy.agent.deny` or `capability.granted`.
    pub rule: String,
    /// What it did.
    pub decision: Decision,
    /// The same for a person, in one sentence.
    pub what: String,
}

impl Step {
    pub(crate) fn new(rule: impl Into<String>, decision: Decision, what: impl Into<String>) -> Self {
        Self { rule: rule.into(), decision, what: what.into() }
    }
}
