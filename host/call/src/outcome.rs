//! How a call ended. One closed enum that every door maps.

use crate::{Budget, Denial};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One thing wrong with the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// JSON Pointer (RFC 6901) into the arguments; empty for the whole.
    pub pointer: String,
    /// What is wrong, and what the schema asks for there.
    pub message: String,
}

/// Why a call has no result of its tool. Fixed codes and host text only: text from a guest lives in
/// [`RawResult`](crate::RawResult).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No such tool in this tenant, or none that this caller may know of.
    UnknownTool {
        /// The name asked for, shortened and escaped.
        name: String,
        /// The nearest of the tools that are offered, at most three.
        nearest: Vec<String>,
    },
    /// The tool exists but policy does not offer it to this request.
    NotOffered {
        /// The name asked for.
        name: String,
        /// The rule that decided.
        rule: String,
        /// The nearest of the tools that are offered, at most three.
        nearest: Vec<String>,
    },
    /// The arguments do not fit the tool's schema.
    InvalidArguments(Vec<Fault>),
    /// A gate refused what the tool needed.
    Denied(Denial),
    /// Waits for a person.
    NeedsApproval {
        /// Identifier of the approval.
        id: String,
    },
    /// Too many calls in the last hour.
    RateLimited {
        /// When the next call has a chance.
        retry_after: Duration,
    },
    /// Workers and queue are full.
    Overloaded {
        /// When the next call has a chance.
        retry_after: Duration,
    },
    /// The caller went away.
    Cancelled,
    /// The wall time was spent.
    Deadline,
    /// The CPU time was spent.
    OutOfCpu,
    /// Memories and tables together passed the limit.
    OutOfMemory,
    /// Some other budget was spent.
    OverBudget(Budget),
    /// The component trapped.
    Trapped {
        /// wasmtime's fixed name of the trap, such as `unreachable`.
        why: &'static str,
    },
    /// The component was built against a version of an interface that this host lacks.
    AbiMismatch {
        /// What the host has, such as `caisson:host@0.1.0`.
        has: String,
        /// What the component wants.
        wants: String,
    },
    /// Something changed underneath; calling again with fresh data may help.
    Conflict,
    /// Something the call needs is not there now.
    Unavailable {
        /// What, as host text.
        what: String,
    },
}

/// The closed set of outcomes, as a word that doors, audit and metrics share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The tool answered.
    Ok,
    /// The tool answered with an error of its own.
    ToolError,
    /// See [`Refused::UnknownTool`], and so on.
    UnknownTool,
    /// See [`Refused`].
    NotOffered,
    /// See [`Refused`].
    InvalidArguments,
    /// See [`Refused`].
    Denied,
    /// See [`Refused`].
    NeedsApproval,
    /// See [`Refused`].
    RateLimited,
    /// See [`Refused`].
    Overloaded,
    /// See [`Refused`].
    Cancelled,
    /// See [`Refused`].
    Deadline,
    /// See [`Refused`].
    OutOfCpu,
    /// See [`Refused`].
    OutOfMemory,
    /// See [`Refused`].
    OverBudget,
    /// See [`Refused`].
    Trapped,
    /// See [`Refused`].
    AbiMismatch,
    /// See [`Refused`].
    Conflict,
    /// See [`Refused`].
    Unavailable,
}

impl Outcome {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool-error",
            Self::UnknownTool => "unknown-tool",
            Self::NotOffered => "not-offered",
            Self::InvalidArguments => "invalid-arguments",
            Self::Denied => "denied",
            Self::NeedsApproval => "needs-approval",
            Self::RateLimited => "rate-limited",
            Self::Overloaded => "overloaded",
            Self::Cancelled => "cancelled",
            Self::Deadline => "deadline",
            Self::OutOfCpu => "out-of-cpu",
            Self::OutOfMemory => "out-of-memory",
            Self::OverBudget => "over-budget",
            Self::Trapped => "trapped",
            Self::AbiMismatch => "abi-mismatch",
            Self::Conflict => "conflict",
            Self::Unavailable => "unavailable",
        }
    }

    /// Exit status of the command line: 0 answered, 1 the tool's own error, 2 bad request, 3 refused by policy or a gate,
    /// 4 try again later, 5 a limit was hit, 6 the component is at fault.
    #[must_use]
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::ToolError => 1,
            Self::UnknownTool | Self::InvalidArguments => 2,
            Self::NotOffered | Self::Denied | Self::NeedsApproval => 3,
            Self::RateLimited | Self::Overloaded | Self::Cancelled | Self::Conflict | Self::Unavailable => 4,
            Self::Deadline | Self::OutOfCpu | Self::OutOfMemory | Self::OverBudget => 5,
            Self::Trapped | Self::AbiMismatch => 6,
        }
    }
}

impl Refused {
    /// The word for it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::UnknownTool { .. } => Outcome::UnknownTool,
            Self::NotOffered { .. } => Outcome::NotOffered,
            Self::InvalidArguments(_) => Outcome::InvalidArguments,
            Self::Denied(_) => Outcome::Denied,
            Self::NeedsApproval { .. } => Outcome::NeedsApproval,
            Self::RateLimited { .. } => Outcome::RateLimited,
            Self::Overloaded { .. } => Outcome::Overloaded,
            Self::Cancelled => Outcome::Cancelled,
            Self::Deadline => Outcome::Deadline,
            Self::OutOfCpu => Outcome::OutOfCpu,
            Self::OutOfMemory => Outcome::OutOfMemory,
            Self::OverBudget(_) => Outcome::OverBudget,
            Self::Trapped { .. } => Outcome::Trapped,
            Self::AbiMismatch { .. } => Outcome::AbiMismatch,
            Self::Conflict => Outcome::Conflict,
            Self::Unavailable { .. } => Outcome::Unavailable,
        }
    }

    /// What the caller, a person or a model, reads: what happened and what to do next.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::UnknownTool { name, nearest } => {
                format!("there is no tool `{name}`{}", nearest_hint(nearest))
            }
            Self::NotOffered { name, rule, nearest } => {
                format!("the tool `{name}` is not offered for this request (rule `{rule}`){}", nearest_hint(nearest))
            }
            Self::InvalidArguments(faults) => {
                let mut text = String::from("the arguments do not fit the tool's schema:");
                for fault in faults {
                    let at = if fault.pointer.is_empty() { "(the whole)" } else { &fault.pointer };
                    text.push_str(&format!("\n- {at}: {}", fault.message));
                }
                text
            }
            Self::Denied(denial) => {
                let mut text =
                    format!("{} was refused by rule `{}`: {}", denial.capability.as_str(), denial.rule, denial.subject);
                if !denial.grant.is_empty() {
                    text.push_str(&format!("; what would allow it: {}", denial.grant));
                }
                text
            }
            Self::NeedsApproval { id } => format!("waits for approval `{id}`; call again once it is approved"),
            Self::RateLimited { retry_after } => {
                format!("too many calls in the last hour; try again in {} s", retry_after.as_secs().max(1))
            }
            Self::Overloaded { retry_after } => {
                format!("all workers are busy and the queue is full; try again in {} s", retry_after.as_secs().max(1))
            }
            Self::Cancelled => "the call was cancelled by its caller".into(),
            Self::Deadline => "the call ran past its wall time (`limits.wall`); ask for less at once".into(),
            Self::OutOfCpu => "the call used up its CPU time (`limits.cpu`); ask for less at once".into(),
            Self::OutOfMemory => "the call used up its memory (`limits.memory`); ask for less at once".into(),
            Self::OverBudget(which) => {
                format!("the call used up its budget of {0} (`limits.{0}`); ask for less at once", which.as_str())
            }
            Self::Trapped { why } => {
                format!("the tool crashed ({why}); other arguments may work, otherwise its author must mend it")
            }
            Self::AbiMismatch { has, wants } => format!(
                "the component wants `{wants}`, this host has `{has}`; rebuild it against what the host has, or update the host"
            ),
            Self::Conflict => "something changed meanwhile; read it again and repeat the call".into(),
            Self::Unavailable { what } => format!("{what} is not available now; try again later"),
        }
    }
}

fn nearest_hint(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return String::new();
    }
    let names: Vec<String> = nearest.iter().map(|n| format!("`{n}`")).collect();
    format!("; the nearest that are offered: {}", names.join(", "))
}
