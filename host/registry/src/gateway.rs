//! The one object that doors and the command line talk to.

use crate::admission::Admission;
use crate::catalog::{Catalog, Plugin, Roster};
use crate::config::GatewayConfig;
use crate::outputs::CallerOutputs;
use crate::rails::{Store, StoreError};
use crate::rate::Rate;
use crate::steps::cache::Results;
use crate::steps::{find, offered};
use crate::{AdminError, Change, ToolView, pipeline};
use arc_swap::ArcSwap;
use caisson_audit::Audit;
use caisson_call::{Call, CallContext, CallId, Outcome, Principal, Refused, TenantId};
use caisson_engine::{Egress, Engine, Executor, Prepared};
use caisson_policy::Policy;
use caisson_scrub::{CleanResult, Scrubber};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a call ended, for its caller.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Identifier of the call.
    pub id: CallId,
    /// The word for how it ended.
    pub outcome: Outcome,
    /// The tool's answer (an error of the tool's own included), or why there is none.
    pub body: Result<CleanResult, Refused>,
    /// Elapsed time.
    pub wall: Duration,
    /// Thread time of the guest.
    pub cpu: Duration,
}

/// What a gateway is made of.
pub struct Parts {
    /// Operator's settings.
    pub config: GatewayConfig,
    /// Runs components.
    pub engine: Engine,
    /// Keeps state.
    pub store: Arc<dyn Store>,
    /// Keeps the record of what happened.
    pub audit: Audit,
    /// Takes secrets out.
    pub scrubber: Scrubber,
    /// How HTTP leaves.
    pub egress: Arc<Egress>,
    /// How commands run.
    pub executor: Arc<Executor>,
    /// Allow and deny lists.
    pub policy: Policy,
}

pub(crate) struct Inner {
    pub(crate) config: GatewayConfig,
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) audit: Audit,
    pub(crate) scrubber: Arc<Scrubber>,
    pub(crate) egress: Arc<Egress>,
    pub(crate) executor: Arc<Executor>,
    pub(crate) policy: Policy,
    pub(crate) rate: Rate,
    pub(crate) admission: Admission,
    pub(crate) results: Results,
    pub(crate) catalog: ArcSwap<Catalog>,
    /// Changes of what is installed happen one at a time, each on the catalog that the one before left.
    pub(crate) changing: tokio::sync::Mutex<()>,
    pub(crate) changes: tokio::sync::broadcast::Sender<Change>,
    /// Told when a person answered a question.
    pub(crate) answered: tokio::sync::Notify,
    /// Principals by the digest of their token, each with the time until which it is believed.
    tokens: quick_cache::sync::Cache<[u8; 32], (Instant, Principal)>,
}

/// The registry, the engine and the rails together. Cheap to clone.
#[derive(Clone)]
pub struct Gateway {
    pub(crate) inner: Arc<Inner>,
}

/// How long a token that was looked up is trusted without asking the store again: a revoked one works this much longer at most.
const TOKEN_TRUST: Duration = Duration::from_secs(1);

impl Inner {
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalog.load_full()
    }

    pub(crate) fn roster(&self, tenant: &TenantId) -> Arc<Roster> {
        self.catalog.load().roster(tenant, self.config.ceiling.as_ref())
    }

    /// Machine code of a plugin: mapped at the first call where it was not yet.
    pub(crate) async fn prepared(&self, plugin: &Plugin) -> Result<Prepared, Refused> {
        if let Some(prepared) = plugin.prepared.get() {
            return Ok(prepared.clone());
        }
        let digest = &plugin.record.digest;
        let unavailable = |error: String| {
            tracing::error!(plugin = plugin.record.name, error, "a plugin cannot be prepared");
            Refused::Unavailable { what: format!("the plugin `{}`", plugin.record.name) }
        };
        let prepared = match self.engine.cached(digest).map_err(|e| unavailable(e.to_string()))? {
            Some(prepared) => prepared,
            None => {
                let bytes = self.store.artefact(digest).await.map_err(|e| unavailable(e.to_string()))?;
                let bytes = bytes.ok_or_else(|| unavailable("its component is missing from the store".into()))?;
                self.engine.prepare(digest, bytes, &|_| ()).await.map_err(|e| unavailable(e.to_string()))?
            }
        };
        Ok(plugin.prepared.get_or_init(|| prepared).clone())
    }
}

impl Gateway {
    /// Puts the parts together and reads what is installed.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub async fn new(parts: Parts) -> Result<Self, StoreError> {
        let Parts { config, engine, store, audit, scrubber, egress, executor, policy } = parts;
        let inner = Inner {
            rate: Rate::new(config.rate_per_hour),
            admission: Admission::new(config.workers, config.queue),
            results: Results::new(),
            catalog: ArcSwap::from_pointee(Catalog::default()),
            changing: tokio::sync::Mutex::new(()),
            changes: tokio::sync::broadcast::channel(256).0,
            answered: tokio::sync::Notify::new(),
            tokens: quick_cache::sync::Cache::new(10_000),
            scrubber: Arc::new(scrubber),
            config,
            engine,
            store,
            audit,
            egress,
            executor,
            policy,
        };
        let gateway = Self { inner: Arc::new(inner) };
        gateway.reload().await?;
        Ok(gateway)
    }

    /// Runs one call through every step. Dropping the future cancels the call and frees its instance at once.
    pub async fn call(&self, call: Call) -> Answer {
        pipeline::call(&self.inner, call).await
    }

    /// The tools that this request is offered, sorted by name.
    ///
    /// # Errors
    /// Where the store cannot answer.
    pub async fn tools(&self, who: &Principal, _context: &CallContext) -> Result<Arc<[ToolView]>, AdminError> {
        let roster = self.inner.roster(&who.tenant);
        Ok(offered::offered_entries(&self.inner, &roster)
            .map(|entry| ToolView::of(&entry.plugin, &entry.tool))
            .collect())
    }

    /// One offered tool by name or alias; otherwise `unknown-tool` or `not-offered`.
    ///
    /// # Errors
    /// [`Refused`] as a call of it would be.
    pub async fn tool(&self, who: &Principal, _context: &CallContext, name: &str) -> Result<ToolView, Refused> {
        let roster = self.inner.roster(&who.tenant);
        let canonical = caisson_policy::canonical(name);
        let nearest = || find::nearest(&self.inner, &roster, canonical);
        let Some(entry) = roster.get(canonical) else {
            return Err(Refused::UnknownTool { name: find::shown(name), nearest: nearest() });
        };
        match offered::why_not(&self.inner, entry) {
            None => Ok(ToolView::of(&entry.plugin, &entry.tool)),
            Some(rule) => Err(Refused::NotOffered { name: find::shown(name), rule, nearest: nearest() }),
        }
    }

    /// Most bytes a component may have.
    #[must_use]
    pub fn max_component_bytes(&self) -> u64 {
        self.inner.config.max_component_bytes
    }

    /// Who a bearer token stands for; `None` for one that is unknown or revoked, or where the store cannot answer.
    pub async fn authenticate(&self, token: &str) -> Option<Principal> {
        // Keyed by a digest, so that the cache holds no token.
        let key = *blake3::hash(token.as_bytes()).as_bytes();
        if let Some((until, principal)) = self.inner.tokens.get(&key)
            && Instant::now() < until
        {
            return Some(principal);
        }
        match self.inner.store.token(token).await {
            Ok(principal) => {
                let principal = principal?;
                self.inner.tokens.insert(key, (Instant::now() + TOKEN_TRUST, principal.clone()));
                Some(principal)
            }
            Err(error) => {
                tracing::error!(%error, "a token cannot be looked up");
                None
            }
        }
    }

    /// A piece of a kept output (`offset` and `limit` in bytes), with its media type and whole size.
    ///
    /// # Errors
    /// Not found; another principal's reference is not found either.
    pub async fn kept(
        &self,
        who: &Principal,
        reference: &str,
        offset: u64,
        limit: u64,
    ) -> Result<(Vec<u8>, String, u64), AdminError> {
        let outputs = CallerOutputs::of(&self.inner.store, &self.inner.scrubber, who, "");
        let kept = outputs.find(reference).await.ok_or_else(|| AdminError::NotFound {
            what: "output",
            name: find::shown(reference),
            hint: "; outputs are kept for an hour, so call the tool again".into(),
        })?;
        let size = kept.bytes.len();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(size);
        let end = start.saturating_add(usize::try_from(limit).unwrap_or(usize::MAX)).min(size);
        Ok((kept.bytes.get(start..end).unwrap_or_default().to_vec(), kept.content_type, size as u64))
    }

    /// Told whenever the tools of a tenant may have changed.
    #[must_use]
    pub fn changes(&self) -> tokio::sync::broadcast::Receiver<Change> {
        self.inner.changes.subscribe()
    }

    /// Whether calls can be served; otherwise what is missing.
    ///
    /// # Errors
    /// Host text for the operator.
    pub async fn ready(&self) -> Result<(), String> {
        self.inner.store.ping().await.map_err(|e| e.to_string())
    }

    /// Writes what the audit still holds; called when the gateway stops.
    pub async fn flush(&self) {
        self.inner.audit.flush().await;
    }
}
