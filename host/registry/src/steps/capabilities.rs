//! Declared ∩ granted ∩ ceiling ∩ effect: the permit.

use super::arguments::Checked;
use super::find::Found;
use caisson_call::Refused;
use caisson_policy::Permit;

/// A call with a permit. Only [`capabilities`] makes one.
pub(crate) struct Permitted {
    pub(super) found: Found,
    pub(super) arguments: String,
    pub(super) permit: Permit,
}

pub(crate) fn capabilities(checked: Checked) -> Result<Permitted, Refused> {
    let Checked { found, arguments } = checked;
    match found.standing.permits.get(&found.tool.spec.effect) {
        Some(Ok(permit)) => Ok(Permitted { permit: permit.clone(), found, arguments }),
        Some(Err(denial)) => Err(Refused::Denied(denial.clone())),
        None => Err(Refused::Unavailable { what: "a permit for the tool's effect".into() }),
    }
}
