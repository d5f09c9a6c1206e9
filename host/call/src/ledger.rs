//! What one call may spend, what it has spent, and what its gates refused.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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
    /// The approval that it waits for; a person who gives it allows it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
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
    /// Commands started.
    Processes,
}

impl Budget {
    /// Every kind, in the order of [`Limits::of`].
    pub const ALL: [Self; 10] = [
        Self::HostMemory,
        Self::HttpRequests,
        Self::HttpBytes,
        Self::FileBytes,
        Self::FileOperations,
        Self::LogBytes,
        Self::OutputBytes,
        Self::RandomBytes,
        Self::ProgressMessages,
        Self::Processes,
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
            Self::Processes => "processes",
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
                100,      // commands
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
    notes: Mutex<Vec<String>>,
    outside: Mutex<OutsideTime>,
}

/// Time that the call spent waiting for commands, which have deadlines of their own.
#[derive(Debug, Default)]
struct OutsideTime {
    /// Commands under way.
    running: usize,
    /// Since when there is one.
    since: Option<Instant>,
    /// Time with at least one, of those that are over.
    past: Duration,
}

/// Stops the call's wall clock for as long as it lives.
#[derive(Debug)]
pub struct Outside(Arc<Ledger>);

impl Drop for Outside {
    fn drop(&mut self) {
        let mut outside = self.0.outside.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        outside.running = outside.running.saturating_sub(1);
        if outside.running == 0
            && let Some(since) = outside.since.take()
        {
            outside.past += since.elapsed();
        }
    }
}

/// Notes beyond this many in one call are not kept.
const NOTES_KEPT: usize = 100;

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
            notes: Mutex::default(),
            outside: Mutex::default(),
        }
    }

    /// Stops the wall clock until the answer is dropped: what the call waits for has a deadline of its own.
    #[must_use]
    pub fn outside(ledger: &Arc<Self>) -> Outside {
        let mut outside = ledger.outside.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        outside.running += 1;
        outside.since.get_or_insert_with(Instant::now);
        Outside(Arc::clone(ledger))
    }

    /// Elapsed time that does not count as the call's own.
    #[must_use]
    pub fn spent_outside(&self) -> Duration {
        let outside = self.outside.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        outside.past + outside.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Notes for the audit what a gate did for the call, as host text: a command that was run.
    pub fn note(&self, what: String) {
        let mut notes = self.notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if notes.len() < NOTES_KEPT {
            notes.push(what);
        }
    }

    /// Takes the notes out, oldest first.
    #[must_use]
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
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
    fn the_wall_clock_stands_still_while_any_command_runs() {
        let ledger = Arc::new(Ledger::new(Limits::default()));
        assert_eq!(ledger.spent_outside(), Duration::ZERO);
        let (first, second) = (Ledger::outside(&ledger), Ledger::outside(&ledger));
        drop(first);
        let before = ledger.spent_outside();
        while ledger.spent_outside() == before {
            std::hint::spin_loop();
        }
        drop(second);
        let after = ledger.spent_outside();
        assert!(after > before);
        assert_eq!(ledger.spent_outside(), after);
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
                approval: None,
            });
        }
        assert_eq!(ledger.take_denials().len(), DENIALS_KEPT);
        assert!(ledger.take_denials().is_empty());
    }
}
