//! Matchers of tenants, kept until their secrets change.

use crate::Secrets;
use caisson_call::TenantId;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// So many tenants at most; past it the one that was not used for longest goes, and is built again when it comes back.
const MOST_TENANTS: usize = 1024;

/// The known values of each tenant, built once an epoch: a number that grows whenever the tenant's secrets change. What is kept
/// for one tenant is never given to another.
#[derive(Default)]
pub struct SecretCache(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    tenants: HashMap<TenantId, Entry>,
    uses: u64,
}

struct Entry {
    epoch: u64,
    secrets: Secrets,
    used: u64,
}

impl SecretCache {
    /// Those of this very epoch, where they are kept.
    #[must_use]
    pub fn get(&self, tenant: &TenantId, epoch: u64) -> Option<Secrets> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let uses = kept.uses;
        let entry = kept.tenants.get_mut(tenant).filter(|entry| entry.epoch == epoch)?;
        entry.used = uses;
        Some(entry.secrets.clone())
    }

    /// Keeps what was built from an epoch's values, unless a later epoch is kept.
    pub fn put(&self, tenant: &TenantId, epoch: u64, secrets: &Secrets) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        if kept.tenants.get(tenant).is_some_and(|entry| entry.epoch > epoch) {
            return;
        }
        let entry = Entry { epoch, secrets: secrets.clone(), used: kept.uses };
        kept.tenants.insert(tenant.clone(), entry);
        if kept.tenants.len() > MOST_TENANTS
            && let Some(oldest) =
                kept.tenants.iter().min_by_key(|(_, entry)| entry.used).map(|(tenant, _)| tenant.clone())
        {
            kept.tenants.remove(&oldest);
        }
    }

    /// Those of this epoch, built from `values` where they are not kept.
    #[must_use]
    pub fn get_or<S: AsRef<str>, I: IntoIterator<Item = S>>(
        &self,
        tenant: &TenantId,
        epoch: u64,
        values: impl FnOnce() -> I,
    ) -> Secrets {
        self.get(tenant, epoch).unwrap_or_else(|| {
            let secrets = Secrets::new(values());
            self.put(tenant, epoch, &secrets);
            secrets
        })
    }

    /// Forgets a tenant.
    pub fn forget(&self, tenant: &TenantId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).tenants.remove(tenant);
    }
}

impl std::fmt::Debug for SecretCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretCache")
    }
}
