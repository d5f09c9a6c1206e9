//! Changes of one tenant's tools.

use caisson_call::TenantId;
use caisson_registry::{Change, Gateway};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// The changes that concern one tenant.
pub(super) struct Changes {
    feed: Receiver<Change>,
    tenant: TenantId,
}

/// The changes of `tenant` from now on.
pub(super) fn of(gateway: &Gateway, tenant: TenantId) -> Changes {
    Changes { feed: gateway.changes(), tenant }
}

impl Changes {
    /// Waits for the next change; false at the end of the feed. Can be dropped and called again.
    pub(super) async fn next(&mut self) -> bool {
        loop {
            match self.feed.recv().await {
                Ok(Change { tenant: None }) => return true,
                Ok(Change { tenant: Some(tenant) }) if tenant == self.tenant => return true,
                Ok(_) => {}
                // Something was missed, and it may have been ours.
                Err(RecvError::Lagged(_)) => return true,
                Err(RecvError::Closed) => return false,
            }
        }
    }
}
