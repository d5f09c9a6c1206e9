//! What a guest holds of the host, given back when it lets go.

use caisson_call::{Budget, Ledger, OverBudget};
use std::sync::Arc;

/// Charged for each descriptor and stream. The kernel's memory for one is some hundred bytes, but a process has only so
/// many descriptors and all tenants share them: at 16 MiB of host memory a call can hold about 500.
pub(crate) const DESCRIPTOR_BYTES: u64 = 32 << 10;

/// A charge on host memory that ends with the thing it was made for.
pub(crate) struct Held {
    ledger: Arc<Ledger>,
    bytes: u64,
}

impl Held {
    pub(crate) fn new(ledger: &Arc<Ledger>, bytes: u64) -> Result<Self, OverBudget> {
        ledger.charge(Budget::HostMemory, bytes)?;
        Ok(Self { ledger: Arc::clone(ledger), bytes })
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.ledger.release(Budget::HostMemory, self.bytes);
    }
}
