//! A worker for the call.

use super::capabilities::Permitted;
use super::find::Found;
use crate::admission::Admitted;
use crate::gateway::Inner;
use caisson_call::Refused;
use caisson_contract::Effect;

/// A call that may run now. Only [`admission`] makes one.
pub(crate) struct Ready {
    pub(super) permitted: Permitted,
    pub(super) admitted: Option<Admitted>,
}

impl Ready {
    pub(crate) fn found(&self) -> &Found {
        &self.permitted.found
    }
}

pub(crate) async fn admission(inner: &Inner, permitted: Permitted) -> Result<Ready, Refused> {
    let call = &permitted.found.call;
    let serial = match (&call.context.session, permitted.found.tool.spec.effect) {
        (Some(session), Effect::Mutating) => Some(format!("{}\u{0}{session}", call.principal.tenant)),
        _ => None,
    };
    let admitted = inner.admission.admit(&call.principal.tenant, serial).await?;
    Ok(Ready { permitted, admitted: Some(admitted) })
}
