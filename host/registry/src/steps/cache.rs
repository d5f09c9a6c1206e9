//! Read-only results that a tool declares cacheable.

use super::capabilities::Permitted;
use crate::gateway::Inner;
use caisson_call::{Call, CallContext, Principal, TenantId};
use caisson_contract::Effect;
use caisson_scrub::CleanResult;
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Results kept, over all tenants.
const ENTRIES: usize = 1_000;

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

/// One part of a key, with its length, so that parts cannot run into each other.
fn part_of(hasher: &mut blake3::Hasher, part: &[u8]) {
    hasher.update(&(part.len() as u64).to_le_bytes());
    hasher.update(part);
}

/// All that is known of the caller: a field more here makes a key of its own, and one that is forgotten does not compile.
fn who(call: &Call, hasher: &mut blake3::Hasher) {
    let Principal { tenant, role, token_id, agent, user } = &call.principal;
    let CallContext { session, channel, chat, peer_kind, team, project, time_zone, origin } = &call.context;
    part_of(hasher, tenant.as_str().as_bytes());
    part_of(hasher, token_id.as_bytes());
    hasher.update(&[*role as u8, *origin as u8, peer_kind.map_or(u8::MAX, |kind| kind as u8)]);
    for named in [agent, user, session, channel, chat, team, project, time_zone] {
        match named {
            Some(name) => part_of(hasher, name.as_bytes()),
            // No name is as long as this.
            None => {
                hasher.update(&u64::MAX.to_le_bytes());
            }
        }
    }
}

/// A kept result, or where to keep the new one; nothing for a tool whose results are not kept.
pub(crate) fn look_up(inner: &Inner, permitted: &Permitted) -> (Option<CleanResult>, Option<(Key, Duration)>) {
    let Permitted { found, arguments, .. } = permitted;
    let (Some(seconds), Effect::ReadOnly) = (found.tool.spec.cache_seconds, found.tool.spec.effect) else {
        return (None, None);
    };
    let call = &found.call;
    let mut hasher = blake3::Hasher::new();
    let generation = inner.results.generation(&call.principal.tenant).to_le_bytes();
    who(call, &mut hasher);
    for part in [&generation[..], &found.standing.mark, found.tool.name.as_bytes(), arguments.as_bytes()] {
        part_of(&mut hasher, part);
    }
    let key = *hasher.finalize().as_bytes();
    let hit = inner.results.entries.get(&key).filter(|(until, _)| *until > Instant::now()).map(|(_, result)| result);
    (hit, Some((Key(key), Duration::from_secs(seconds.min(MAX_SECONDS).into()))))
}
