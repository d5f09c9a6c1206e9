//! Bounded workers and queue per tenant; mutating calls of one session one at a time.

use caisson_call::{Refused, TenantId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// A tenant's place in the gateway.
struct Lane {
    workers: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// Caps blocking file operations.
    blocking: Arc<Semaphore>,
    /// Caps calls that wait for a person, each in a worker.
    asking: Arc<Semaphore>,
}

/// Blocking file operations that one tenant may have under way.
const BLOCKING: usize = 16;

/// Admits calls. Each tenant has its own workers, so a busy one queues behind itself; tokio's scheduler is fair between them.
pub(crate) struct Admission {
    workers: usize,
    queue: usize,
    lanes: Mutex<HashMap<TenantId, Arc<Lane>>>,
    sessions: Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>,
}

/// Held for as long as a call runs.
pub(crate) struct Admitted {
    _worker: OwnedSemaphorePermit,
    _session: Option<OwnedMutexGuard<()>>,
}

/// Counts a waiting call for as long as it waits, also if it is given up.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Admission {
    pub(crate) fn new(workers: usize, queue: usize) -> Self {
        Self { workers: workers.max(1), queue, lanes: Mutex::default(), sessions: Mutex::default() }
    }

    fn lane(&self, tenant: &TenantId) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(lane) = lanes.get(tenant) {
            return Arc::clone(lane);
        }
        let lane = Arc::new(Lane {
            workers: Arc::new(Semaphore::new(self.workers)),
            waiting: AtomicUsize::new(0),
            blocking: Arc::new(Semaphore::new(BLOCKING)),
            asking: Arc::new(Semaphore::new(self.workers / 2)),
        });
        lanes.insert(tenant.clone(), Arc::clone(&lane));
        lane
    }

    /// The cap on blocking file operations of a tenant.
    pub(crate) fn blocking(&self, tenant: &TenantId) -> Arc<Semaphore> {
        Arc::clone(&self.lane(tenant).blocking)
    }

    /// A place among the calls of a tenant that wait for a person: half of its workers stay free for the others. `None` where all are taken.
    pub(crate) fn may_wait(&self, tenant: &TenantId) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.lane(tenant).asking).try_acquire_owned().ok()
    }

    /// Waits for a worker, at most as long as the queue has room. `serial` names a session whose mutating calls run one at a time.
    pub(crate) async fn admit(&self, tenant: &TenantId, serial: Option<String>) -> Result<Admitted, Refused> {
        let lane = self.lane(tenant);
        let worker = match Arc::clone(&lane.workers).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let before = lane.waiting.fetch_add(1, Ordering::AcqRel);
                let waiting = Waiting(&lane.waiting);
                if before >= self.queue {
                    return Err(Refused::Overloaded { retry_after: Duration::from_secs(1) });
                }
                let permit = Arc::clone(&lane.workers).acquire_owned().await;
                drop(waiting);
                permit.map_err(|_| Refused::Unavailable { what: "the gateway is shutting down, so a worker".into() })?
            }
        };
        let session = match serial {
            Some(session) => Some(self.session(session).lock_owned().await),
            None => None,
        };
        Ok(Admitted { _worker: worker, _session: session })
    }

    fn session(&self, session: String) -> Arc<tokio::sync::Mutex<()>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(lock) = sessions.get(&session).and_then(Weak::upgrade) {
            return lock;
        }
        // Locks of sessions with no call under way are dropped here, so that the map holds what runs and little more.
        if sessions.len() >= 1024 {
            sessions.retain(|_, lock| lock.strong_count() > 0);
        }
        let lock = Arc::default();
        sessions.insert(session, Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use std::task::Poll;

    fn tenants() -> (TenantId, TenantId) {
        (TenantId::new("a").unwrap(), TenantId::new("b").unwrap())
    }

    #[tokio::test]
    async fn past_workers_and_queue_a_tenant_is_overloaded_and_its_neighbour_is_not() {
        let (a, b) = tenants();
        let admission = Admission::new(1, 1);
        let running = admission.admit(&a, None).await.unwrap();
        let mut queued = Box::pin(admission.admit(&a, None));
        assert!(matches!(futures_poll(queued.as_mut()).await, Poll::Pending));
        assert!(matches!(admission.admit(&a, None).await, Err(Refused::Overloaded { .. })));
        admission.admit(&b, None).await.unwrap();
        drop(running);
        queued.await.unwrap();
    }

    #[tokio::test]
    async fn a_caller_who_gives_up_leaves_the_queue() {
        let (a, _b) = tenants();
        let admission = Admission::new(1, 1);
        let _running = admission.admit(&a, None).await.unwrap();
        for _ in 0..3 {
            let mut queued = Box::pin(admission.admit(&a, None));
            assert!(matches!(futures_poll(queued.as_mut()).await, Poll::Pending));
        }
    }

    #[tokio::test]
    async fn mutating_calls_of_one_session_take_turns() {
        let (a, _b) = tenants();
        let admission = Admission::new(8, 8);
        let first = admission.admit(&a, Some("s".into())).await.unwrap();
        let mut second = Box::pin(admission.admit(&a, Some("s".into())));
        assert!(matches!(futures_poll(second.as_mut()).await, Poll::Pending));
        admission.admit(&a, Some("other".into())).await.unwrap();
        drop(first);
        second.await.unwrap();
    }

    async fn futures_poll<F: Future>(mut future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
    }
}
