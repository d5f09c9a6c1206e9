//! What one call may spend, what it has spent, and what its gates refused.

use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// What a gate guards. The words are those of the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// `wasi:filesystem`.
    Files,
    /// `wasi:http`.
    Http,
    /// `wasi:sockets`.
    Sockets,
    /// `caisson:host/exec`.
    Exec,
    /// `caisson:host/documents`.
    Documents,
    /// `caisson:host/secrets`.
    Secrets,
    /// `caisson:host/tools`.
    Tools,
    /// `caisson:host/outputs`.
    Outputs,
    /// `caisson:host/data`.
    Data,
    /// `caisson:host/schedule`.
    Schedule,
    /// `caisson:host/runtime`.
    Runtime,
    /// `caisson:host/pages`.
    Pages,
}

impl Capability {
    /// The word used in manifests, refusals and audit records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Http => "http",
            Self::Sockets => "sockets",
            Self::Exec => "exec",
            Self::Documents => "documents",
            Self::Secrets => "secrets",
            Self::Tools => "tools",
            Self::Outputs => "outputs",
            Self::Data => "data",
            Self::Schedule => "schedule",
            Self::Runtime => "runtime",
            Self::Pages => "pages",
        }
    }
}

/// One refusal by a gate. `rule` is a fixed identifier; `subject` and `grant` are host text about what was asked for
/// (a path, a host), shortened and escaped by the gate; never text that the guest could use to forge a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The gate.
    pub capability: Capability,
    /// Identifier of the rule that decided, such as `files.not-granted` or `http.address-special`.
    pub rule: String,
    /// What was asked for, such as `GET https://example.com/`.
    pub subject: String,
    /// The smallest change that would allow it, as a sentence or a manifest line; empty where nothing would.
    pub grant: String,
}

/// A kind of host work that a call may spend only so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Budget {
    /// Bytes of host memory held or copied for the guest.
    HostMemory,
    /// HTTP requests sent.
    HttpRequests,
    /// HTTP bytes sent and received.
    HttpBytes,
    /// Bytes read from and written to files.
    FileBytes,
    /// File operations that name a path.
    FileOperations,
    /// Bytes logged, standard output and error included.
    LogBytes,
    /// Bytes of the result and of kept outputs.
    OutputBytes,
    /// Random bytes drawn.
    RandomBytes,
    /// Progress messages sent.
    ProgressMessages,
}

impl Budget {
    /// Every kind, in the order of [`Limits::of`].
    pub const ALL: [Self; 9] = [
        Self::HostMemory,
        Self::HttpRequests,
        Self::HttpBytes,
        Self::FileBytes,
        Self::FileOperations,
        Self::LogBytes,
        Self::OutputBytes,
        Self::RandomBytes,
        Self::ProgressMessages,
    ];

    /// The word used in refusals and manifests' `[limits]`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HostMemory => "host-memory",
            Self::HttpRequests => "http-requests",
            Self::HttpBytes => "http-bytes",
            Self::FileBytes => "file-bytes",
            Self::FileOperations => "file-operations",
            Self::LogBytes => "log-bytes",
            Self::OutputBytes => "output-bytes",
            Self::RandomBytes => "random-bytes",
            Self::ProgressMessages => "progress-messages",
        }
    }
}

/// What one call may use. Bytes are bytes; `cpu` is thread time, `wall` is elapsed time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Summed over all linear memories and tables of the call.
    pub memory: u64,
    /// Thread time of the guest and of host work done on its task.
    pub cpu: Duration,
    /// From admission to the answer.
    pub wall: Duration,
    /// Time between the caller giving up and the instance being dropped.
    pub grace: Duration,
    /// One number for each of [`Budget::ALL`].
    pub of: [u64; Budget::ALL.len()],
}

impl Limits {
    /// The limit of one kind.
    #[must_use]
    pub fn get(&self, budget: Budget) -> u64 {
        self.of.get(budget as usize).copied().unwrap_or(0)
    }

    /// Sets the limit of one kind.
    pub fn set(&mut self, budget: Budget, limit: u64) {
        if let Some(slot) = self.of.get_mut(budget as usize) {
            *slot = limit;
        }
    }
}

impl Default for Limits {
    /// What a plugin gets that asks for nothing.
    fn default() -> Self {
        Self {
            memory: 64 << 20,
            cpu: Duration::from_millis(500),
            wall: Duration::from_secs(30),
            grace: Duration::ZERO,
            of: [
                16 << 20, // host memory
                10,       // http requests
                16 << 20, // http bytes
                64 << 20, // file bytes
                10_000,   // file operations
                64 << 10, // log bytes
                8 << 20,  // output bytes
                64 << 10, // random bytes
                1_000,    // progress messages
            ],
        }
    }
}

/// A call asked for more of a kind than it may spend. As an error it ends the call with `over-budget`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call's budget of {} is spent", .0.as_str())]
pub struct OverBudget(pub Budget);

/// The account of one call, shared by its gates.
#[derive(Debug)]
pub struct Ledger {
    limits: Limits,
    spent: [AtomicU64; Budget::ALL.len()],
    /// Index of the first budget that ran out, plus one.
    exhausted: AtomicU8,
    denials: Mutex<Vec<Denial>>,
}

/// Refusals beyond this many in one call are counted as calls go on, but not kept: a guest that probes in a loop must not
/// fill the host's memory.
const DENIALS_KEPT: usize = 32;

impl Ledger {
    /// A fresh account.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            spent: std::array::from_fn(|_| AtomicU64::new(0)),
            exhausted: AtomicU8::new(0),
            denials: Mutex::new(Vec::new()),
        }
    }

    /// What the call may spend.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Spends `amount`, or refuses it and remembers that it did.
    ///
    /// # Errors
    /// [`OverBudget`] where the limit would be passed; nothing is spent then.
    pub fn charge(&self, budget: Budget, amount: u64) -> Result<(), OverBudget> {
        let Some(spent) = self.spent.get(budget as usize) else {
            return Err(OverBudget(budget));
        };
        let limit = self.limits.get(budget);
        let fits = spent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
                now.checked_add(amount).filter(|sum| *sum <= limit)
            })
            .is_ok();
        if fits {
            return Ok(());
        }
        let _ = self.exhausted.compare_exchange(0, budget as u8 + 1, Ordering::Relaxed, Ordering::Relaxed);
        Err(OverBudget(budget))
    }

    /// Gives back what is no longer held (host memory).
    pub fn release(&self, budget: Budget, amount: u64) {
        if let Some(spent) = self.spent.get(budget as usize) {
            let _ = spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| Some(now.saturating_sub(amount)));
        }
    }

    /// Spent so far.
    #[must_use]
    pub fn spent(&self, budget: Budget) -> u64 {
        self.spent.get(budget as usize).map_or(0, |s| s.load(Ordering::Relaxed))
    }

    /// The first budget that ran out, if one did.
    #[must_use]
    pub fn exhausted(&self) -> Option<Budget> {
        let index = usize::from(self.exhausted.load(Ordering::Relaxed));
        Budget::ALL.get(index.wrapping_sub(1)).copied()
    }

    /// Records a refusal by a gate.
    pub fn refuse(&self, denial: Denial) {
        let mut denials = self.denials.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if denials.len() < DENIALS_KEPT && !denials.contains(&denial) {
            denials.push(denial);
        }
    }

    /// Takes the refusals out, oldest first.
    #[must_use]
    pub fn take_denials(&self) -> Vec<Denial> {
        std::mem::take(&mut *self.denials.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_charge_past_the_limit_is_refused_whole_and_remembered() {
        let mut limits = Limits::default();
        limits.set(Budget::HttpRequests, 2);
        let ledger = Ledger::new(limits);
        ledger.charge(Budget::HttpRequests, 2).unwrap();
        assert_eq!(ledger.exhausted(), None);
        assert_eq!(ledger.charge(Budget::HttpRequests, 1), Err(OverBudget(Budget::HttpRequests)));
        assert_eq!(ledger.charge(Budget::HttpRequests, u64::MAX), Err(OverBudget(Budget::HttpRequests)));
        assert_eq!(ledger.spent(Budget::HttpRequests), 2);
        assert_eq!(ledger.exhausted(), Some(Budget::HttpRequests));
    }

    #[test]
    fn a_probing_guest_cannot_fill_the_list_of_denials() {
        let ledger = Ledger::new(Limits::default());
        for n in 0..1000 {
            ledger.refuse(Denial {
                capability: Capability::Files,
                rule: "files.outside".into(),
                subject: n.to_string(),
                grant: String::new(),
            });
        }
        assert_eq!(ledger.take_denials().len(), DENIALS_KEPT);
        assert!(ledger.take_denials().is_empty());
    }
}
