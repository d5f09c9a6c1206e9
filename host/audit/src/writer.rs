//! From the stations to the sink, without holding a call up.

use crate::chain::{GENESIS, Head, Record, link};
use crate::event::AuditEvent;
use async_trait::async_trait;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Events that may wait for the writer: a slow sync of the disk under a busy gateway; some 500 bytes each, so about a megabyte.
const QUEUE: usize = 2_048;

/// Records written at once.
const BATCH: usize = 512;

/// How long events are gathered before they are written together: a transaction for every call would cost more than the call. So much of the
/// newest past a killed process does not record.
const GATHER: Duration = Duration::from_millis(25);

/// Pause after the sink failed.
const RETRY: Duration = Duration::from_secs(1);

/// How long a flush waits: a gateway that stops must stop also where the disk is full.
const FLUSH: Duration = Duration::from_secs(10);

/// The sink could not keep records.
#[derive(Debug, thiserror::Error)]
#[error("audit records could not be kept: {0}")]
pub struct SinkError(pub String);

/// Where records are kept.
#[async_trait]
pub trait AuditSink: Send + Sync + 'static {
    /// Number and digest of the newest record; `None` for an empty chain.
    async fn newest(&self) -> Result<Option<(u64, String)>, SinkError>;
    /// Keeps records and replaces the head, all or none. A number that is taken (two programs on one chain) is an error.
    async fn append(&self, records: &[Record], head: &Head) -> Result<(), SinkError>;
}

enum Message {
    Event(AuditEvent),
    Flush(oneshot::Sender<()>),
}

/// Takes events. Cheap to clone; [`record`](Self::record) never waits.
#[derive(Clone)]
pub struct Audit {
    queue: mpsc::Sender<Message>,
    lost: Arc<AtomicU64>,
}

impl Audit {
    /// Starts the writer. `key` authenticates checkpoints and must not be in the sink.
    #[must_use]
    pub fn start(sink: Arc<dyn AuditSink>, key: [u8; 32]) -> Self {
        let (queue, events) = mpsc::channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        tokio::spawn(Writer { sink, key, events, lost: Arc::clone(&lost), tail: None }.run());
        Self { queue, lost }
    }

    /// Records an event. One that finds the queue full is counted, and the count is recorded as soon as there is room: nothing is lost without a
    /// trace.
    pub fn record(&self, event: AuditEvent) {
        if self.queue.try_send(Message::Event(event)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything recorded so far is kept, ten seconds at most.
    pub async fn flush(&self) {
        if !self.flush_within(FLUSH).await {
            tracing::error!("the newest audit records could not be kept in time");
        }
    }

    async fn flush_within(&self, most: Duration) -> bool {
        let (done, wait) = oneshot::channel();
        let flushed = async { self.queue.send(Message::Flush(done)).await.is_ok() && wait.await.is_ok() };
        tokio::time::timeout(most, flushed).await.unwrap_or(false)
    }
}

struct Writer {
    sink: Arc<dyn AuditSink>,
    key: [u8; 32],
    events: mpsc::Receiver<Message>,
    lost: Arc<AtomicU64>,
    /// Number and digest of the newest record that is kept.
    tail: Option<(u64, String)>,
}

impl Writer {
    async fn run(mut self) {
        let mut messages = Vec::with_capacity(BATCH);
        while self.events.recv_many(&mut messages, BATCH).await > 0 {
            if messages.len() < BATCH && !messages.iter().any(|message| matches!(message, Message::Flush(_))) {
                // Slept through rather than received one by one, so that a call does not wake the writer.
                tokio::time::sleep(GATHER).await;
                while messages.len() < BATCH
                    && let Ok(message) = self.events.try_recv()
                {
                    messages.push(message);
                }
            }
            let mut events = Vec::new();
            let mut waiting = Vec::new();
            for message in messages.drain(..) {
                match message {
                    Message::Event(event) => events.push(event),
                    Message::Flush(done) => waiting.push(done),
                }
            }
            let lost = self.lost.swap(0, Ordering::Relaxed);
            if lost > 0 {
                events.push(AuditEvent::Lost { count: lost });
            }
            self.keep(&events).await;
            for done in waiting {
                let _ = done.send(());
            }
        }
    }

    /// Keeps a batch, trying again until it is kept; meanwhile the queue fills, and what finds it full is counted.
    async fn keep(&mut self, events: &[AuditEvent]) {
        while !events.is_empty() {
            match self.try_keep(events).await {
                Ok(()) => return,
                Err(error) => {
                    tracing::error!(%error, "the audit falls behind; trying again");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    async fn try_keep(&mut self, events: &[AuditEvent]) -> Result<(), SinkError> {
        let (mut number, mut digest) = match self.tail.take() {
            Some(tail) => tail,
            None => self.sink.newest().await?.unwrap_or((0, GENESIS.to_owned())),
        };
        let mut records = Vec::with_capacity(events.len());
        for event in events {
            number += 1;
            let record = link(number, &digest, event, &self.key);
            digest.clone_from(&record.digest);
            records.push(record);
        }
        self.sink.append(&records, &Head::new(number, &digest, &self.key)).await?;
        self.tail = Some((number, digest));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]
    use super::*;
    use crate::chain::verify;
    use std::sync::Mutex;
    use tokio::sync::Semaphore;

    /// Keeps records in memory, a batch for each permit.
    struct Slow {
        permits: Semaphore,
        kept: Mutex<(Vec<Record>, Option<Head>)>,
    }

    #[async_trait]
    impl AuditSink for Slow {
        async fn newest(&self) -> Result<Option<(u64, String)>, SinkError> {
            Ok(self.kept.lock().unwrap().0.last().map(|r| (r.number, r.digest.clone())))
        }
        async fn append(&self, records: &[Record], head: &Head) -> Result<(), SinkError> {
            self.permits.acquire().await.unwrap().forget();
            let mut kept = self.kept.lock().unwrap();
            kept.0.extend_from_slice(records);
            kept.1 = Some(head.clone());
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_stuck_sink_holds_nobody_up_and_what_is_lost_is_counted() {
        let sink = Arc::new(Slow { permits: Semaphore::new(0), kept: Mutex::default() });
        let audit = Audit::start(Arc::clone(&sink) as _, [1; 32]);
        let sent = (QUEUE + BATCH + 1_000) as u64;
        for _ in 0..sent {
            audit.record(AuditEvent::Lost { count: 0 });
        }
        sink.permits.add_permits(1_000);
        audit.flush().await;
        audit.record(AuditEvent::Lost { count: 0 });
        audit.flush().await;
        let (records, head) = &*sink.kept.lock().unwrap();
        let kept = records.iter().filter(|r| r.event.contains("\"count\":0")).count() as u64;
        let counted: u64 = records
            .iter()
            .map(|r| match serde_json::from_str(&r.event).unwrap() {
                AuditEvent::Lost { count } => count,
                _ => 0,
            })
            .sum();
        assert!(counted > 0);
        assert_eq!(kept + counted, sent + 1);
        assert_eq!(verify(records, &[1; 32], head.as_ref()), Ok(records.len() as u64));
    }

    #[tokio::test]
    async fn a_gateway_stops_although_its_sink_is_stuck() {
        let sink = Arc::new(Slow { permits: Semaphore::new(0), kept: Mutex::default() });
        let audit = Audit::start(sink, [1; 32]);
        audit.record(AuditEvent::Lost { count: 0 });
        assert!(!audit.flush_within(Duration::ZERO).await);
    }

    /// Refuses the first batch and lets somebody else write in between, as a second program on the same chain does.
    struct Shared(Mutex<(Vec<Record>, Option<Head>)>);

    #[async_trait]
    impl AuditSink for Shared {
        async fn newest(&self) -> Result<Option<(u64, String)>, SinkError> {
            Ok(self.0.lock().unwrap().0.last().map(|r| (r.number, r.digest.clone())))
        }
        async fn append(&self, records: &[Record], head: &Head) -> Result<(), SinkError> {
            let mut kept = self.0.lock().unwrap();
            if kept.0.is_empty() {
                let other = link(1, GENESIS, &AuditEvent::Lost { count: 7 }, &[1; 32]);
                kept.0.push(other);
            }
            if records[0].number != kept.0.len() as u64 + 1 {
                return Err(SinkError("the number is taken".into()));
            }
            kept.0.extend_from_slice(records);
            kept.1 = Some(head.clone());
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_batch_whose_place_is_taken_is_linked_again() {
        let sink = Arc::new(Shared(Mutex::default()));
        let audit = Audit::start(Arc::clone(&sink) as _, [1; 32]);
        audit.record(AuditEvent::Lost { count: 1 });
        audit.flush().await;
        let (records, head) = &*sink.0.lock().unwrap();
        assert_eq!(verify(records, &[1; 32], head.as_ref()), Ok(2));
    }
}
