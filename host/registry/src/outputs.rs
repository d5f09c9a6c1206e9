//! Kept outputs of one caller, for the gate.

use crate::known::Known;
use crate::{KeptRecord, Store};
use async_trait::async_trait;
use caisson_call::{Principal, TenantId};
use caisson_engine::{KeptOutputs, KeptPiece, KeptSummary};
use caisson_scrub::Scrubber;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// How long a kept output lives, milliseconds.
const LIFE_MS: i64 = 3_600_000;

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|d| i64::try_from(d.as_millis()).ok()).unwrap_or(0)
}

/// Writes and reads for exactly one principal, so that a reference of another's does not exist.
pub(crate) struct CallerOutputs {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) scrubber: Arc<Scrubber>,
    pub(crate) tenant: TenantId,
    pub(crate) agent: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) tool: String,
    /// What was put into this call, and so must not be kept either.
    pub(crate) known: Known,
}

impl CallerOutputs {
    pub(crate) fn of(store: &Arc<dyn Store>, scrubber: &Arc<Scrubber>, who: &Principal, tool: &str) -> Self {
        Self {
            store: Arc::clone(store),
            scrubber: Arc::clone(scrubber),
            tenant: who.tenant.clone(),
            agent: who.agent.clone(),
            user: who.user.clone(),
            tool: tool.to_owned(),
            known: Known::default(),
        }
    }

    /// The same, for a call that these secrets were put into.
    pub(crate) fn without(self, known: &Known) -> Self {
        Self { known: known.clone(), ..self }
    }

    /// Keeps text that is scrubbed already.
    pub(crate) async fn keep_clean(&self, content_type: &str, bytes: Vec<u8>) -> Result<String, String> {
        let record = KeptRecord {
            reference: uuid::Uuid::new_v4().simple().to_string(),
            tenant: self.tenant.clone(),
            agent: self.agent.clone(),
            user: self.user.clone(),
            tool: self.tool.clone(),
            content_type: content_type.to_owned(),
            lines: lines(&bytes),
            bytes,
            expires_ms: now_ms() + LIFE_MS,
        };
        self.store.put_kept(&record).await.map_err(|e| e.to_string())?;
        Ok(record.reference)
    }

    /// A kept output of this caller.
    pub(crate) async fn find(&self, reference: &str) -> Option<KeptRecord> {
        let kept = match self.store.kept(reference).await {
            Ok(kept) => kept?,
            Err(error) => {
                tracing::warn!(%error, "a kept output cannot be read");
                return None;
            }
        };
        let own = kept.tenant == self.tenant && kept.agent == self.agent && kept.user == self.user;
        (own && kept.expires_ms > now_ms()).then_some(kept)
    }
}

fn lines(bytes: &[u8]) -> u64 {
    let breaks = bytes.iter().filter(|b| **b == b'\n').count() as u64;
    breaks + u64::from(bytes.last().is_some_and(|b| *b != b'\n'))
}

#[async_trait]
impl KeptOutputs for CallerOutputs {
    async fn keep(&self, content_type: String, bytes: Vec<u8>) -> Result<String, String> {
        // Byte by byte, whatever the bytes are: one that is no text must not carry a secret past the scrubber.
        let mut stream = self.scrubber.stream(&self.known.now());
        let mut clean = stream.push(&bytes);
        clean.extend(stream.finish());
        self.keep_clean(&content_type, clean).await
    }

    async fn describe(&self, reference: &str) -> Option<KeptSummary> {
        let kept = self.find(reference).await?;
        Some(KeptSummary {
            tool: kept.tool,
            content_type: kept.content_type,
            lines: kept.lines,
            bytes: kept.bytes.len() as u64,
        })
    }

    async fn read(&self, reference: &str, offset: u64, limit: u32) -> Option<KeptPiece> {
        let kept = self.find(reference).await?;
        let start = usize::try_from(offset).ok()?.min(kept.bytes.len());
        let end = start.saturating_add(limit as usize).min(kept.bytes.len());
        kept.bytes.get(start..end).map(<[u8]>::to_vec)
    }
}
