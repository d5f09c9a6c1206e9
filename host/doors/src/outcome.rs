//! What an outcome is called in HTTP. The one table of it.

use caisson_call::Outcome;
use http::StatusCode;

/// HTTP's side of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The status.
    pub status: StatusCode,
    /// The kind, for people.
    pub title: &'static str,
}

/// HTTP's side of every outcome.
///
/// | outcome | status | why this one |
/// | --- | --- | --- |
/// | ok, tool-error | 200 | the tool answered; an error of its own is an answer |
/// | unknown-tool | 404 | |
/// | not-offered, denied | 403 | the same request will be refused until somebody changes policy or a grant |
/// | invalid-arguments | 422 | well-formed JSON that does not fit |
/// | needs-approval, conflict | 409 | the same request may pass once the state has changed |
/// | rate-limited | 429 | with `Retry-After` |
/// | overloaded, unavailable | 503 | nothing is wrong with the request; `Retry-After` where it is known |
/// | cancelled | 499 | nobody is there to read it; the word that web servers use in their logs |
/// | deadline | 504 | |
/// | out-of-cpu, out-of-memory, over-budget | 422 | the request asks for more than a call may spend; a smaller one may pass |
/// | trapped, abi-mismatch | 502 | what stands behind the gateway is at fault |
#[must_use]
pub fn meaning(outcome: Outcome) -> Meaning {
    let (status, title) = match outcome {
        Outcome::Ok => (200, "The tool answered"),
        Outcome::ToolError => (200, "The tool failed"),
        Outcome::UnknownTool => (404, "Unknown tool"),
        Outcome::NotOffered => (403, "Tool not offered"),
        Outcome::InvalidArguments => (422, "Invalid arguments"),
        Outcome::Denied => (403, "Denied by a gate"),
        Outcome::NeedsApproval => (409, "Needs approval"),
        Outcome::RateLimited => (429, "Too many calls"),
        Outcome::Overloaded => (503, "Overloaded"),
        Outcome::Cancelled => (499, "Cancelled by the caller"),
        Outcome::Deadline => (504, "Past its wall time"),
        Outcome::OutOfCpu => (422, "Out of CPU time"),
        Outcome::OutOfMemory => (422, "Out of memory"),
        Outcome::OverBudget => (422, "Over budget"),
        Outcome::Trapped => (502, "The component trapped"),
        Outcome::AbiMismatch => (502, "Built for another host"),
        Outcome::Conflict => (409, "Conflict"),
        Outcome::Unavailable => (503, "Not available now"),
    };
    Meaning { status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), title }
}
