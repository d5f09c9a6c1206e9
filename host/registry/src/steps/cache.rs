//! Read-only results that a tool declares cacheable.

use super::capabilities::Permitted;
use crate::gateway::Inner;
use caisson_call::TenantId;
use caisson_contract::Effect;
use caisson_scrub::CleanResult;
use moka::sync::Cache;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Results kept, over all tenants.
const ENTRIES: u64 = 1_000;

/// Longest that a result is served again, whatever the tool says.
const MAX_SECONDS: u32 = 3_600;

/// Cached results, and a generation per tenant: a mutating call moves it on and so drops all of the tenant's.
pub(crate) struct Results {
    entries: Cache<[u8; 32], (Instant, CleanResult)>,
    generations: Mutex<HashMap<TenantId, u64>>,
}

impl Results {
    pub(crate) fn new() -> Self {
        Self { entries: Cache::new(ENTRIES), generations: Mutex::default() }
    }

    fn generation(&self, tenant: &TenantId) -> u64 {
        self.generations.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(tenant).copied().unwrap_or(0)
    }

    /// Drops what a mutating call of the tenant may have made stale.
    pub(crate) fn stale(&self, tenant: &TenantId) {
        *self
            .generations
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .entry(tenant.clone())
            .or_default() += 1;
    }

    /// Keeps a result under the key that [`look_up`] made.
    pub(crate) fn keep(&self, key: Option<(Key, Duration)>, result: &CleanResult) {
        if let Some((key, life)) = key.filter(|_| result.error().is_none()) {
            self.entries.insert(key.0, (Instant::now() + life, result.clone()));
        }
    }
}

/// Everything that a result depends on, hashed.
pub(crate) struct Key([u8; 32]);

/// A kept result, or where to keep the new one; nothing for a tool whose results are not kept.
pub(crate) fn look_up(inner: &Inner, permitted: &Permitted) -> (Option<CleanResult>, Option<(Key, Duration)>) {
    let Permitted { found, arguments, .. } = permitted;
    let (Some(seconds), Effect::ReadOnly) = (found.tool.spec.cache_seconds, found.tool.spec.effect) else {
        return (None, None);
    };
    let call = &found.call;
    let mut hasher = blake3::Hasher::new();
    let who = format!("{:?}\u{0}{:?}", call.principal, call.context);
    let generation = inner.results.generation(&call.principal.tenant).to_le_bytes();
    // serde_json's map is ordered, so equal arguments have equal text.
    let arguments = arguments.to_string();
    for part in [who.as_bytes(), &generation, &found.standing.mark, found.tool.name.as_bytes(), arguments.as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let key = *hasher.finalize().as_bytes();
    let hit = inner.results.entries.get(&key).filter(|(until, _)| *until > Instant::now()).map(|(_, result)| result);
    (hit, Some((Key(key), Duration::from_secs(seconds.min(MAX_SECONDS).into()))))
}
