//! CPU time, memory, and the lane for slow calls.

use crate::config::{MAX_CORE_INSTANCES, MAX_MEMORIES, MAX_TABLES};
use rustix::time::{ClockId, clock_gettime};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::{EngineWeak, ResourceLimiter, UpdateDeadline};

/// How often a running guest can be preempted. Ticks meter nothing: a deadline is relative to the current epoch.
const TICK: Duration = Duration::from_millis(1);

/// CPU time that any call has before it must take the slow lane. A small tool takes 0.1 ms; a spinner meets this at once.
const FAST_NANOS: u64 = 2_000_000;

/// A table element in host memory, bytes.
const TABLE_ELEMENT: u64 = 16;

/// Advances the engine's epoch for as long as the engine lives.
pub(crate) struct Ticker {
    stop: Arc<AtomicBool>,
}

impl Ticker {
    pub(crate) fn start(engine: EngineWeak) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let body = move || {
            while !stopped.load(Ordering::Relaxed) {
                std::thread::sleep(TICK);
                let Some(engine) = engine.upgrade() else { break };
                engine.increment_epoch();
            }
        };
        if let Err(error) = std::thread::Builder::new().name("epoch".into()).spawn(body) {
            tracing::error!(%error, "no thread for the epoch: guests cannot be preempted");
        }
        Self { stop }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Ends a call whose CPU time is spent.
#[derive(Debug, thiserror::Error)]
#[error("the call's CPU time is spent")]
pub(crate) struct OutOfCpu;

/// The CPU time of one call: thread time of each poll of its future.
pub(crate) struct CpuMeter {
    limit: u64,
    spent: AtomicU64,
    /// Thread time at which the current poll began.
    poll_began: AtomicU64,
    lane: Arc<Semaphore>,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

fn thread_nanos() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(now.tv_sec)
        .unwrap_or(0)
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

impl CpuMeter {
    pub(crate) fn new(limit: Duration, lane: Arc<Semaphore>) -> Self {
        Self {
            limit: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
            spent: AtomicU64::new(0),
            poll_began: AtomicU64::new(0),
            lane,
            permit: Mutex::new(None),
        }
    }

    pub(crate) fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent.load(Ordering::Relaxed))
    }

    fn hold(&self, permit: Option<OwnedSemaphorePermit>) {
        *self.permit.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = permit;
    }

    /// What happens at a tick while the guest runs.
    pub(crate) fn tick(self: &Arc<Self>) -> wasmtime::Result<UpdateDeadline> {
        let in_poll = thread_nanos().saturating_sub(self.poll_began.load(Ordering::Relaxed));
        let spent = self.spent.load(Ordering::Relaxed).saturating_add(in_poll);
        if spent > self.limit {
            return Err(OutOfCpu.into());
        }
        if spent < FAST_NANOS {
            return Ok(UpdateDeadline::Continue(1));
        }
        // Given back and asked for again at every tick: the semaphore is first come, first served, so slow calls take turns.
        self.hold(None);
        let meter = Arc::clone(self);
        Ok(UpdateDeadline::YieldCustom(
            1,
            Box::pin(async move {
                tokio::task::yield_now().await;
                if let Ok(permit) = Arc::clone(&meter.lane).acquire_owned().await {
                    meter.hold(Some(permit));
                }
            }),
        ))
    }
}

/// Charges each poll of a call's future to its meter.
pub(crate) struct Metered<F> {
    future: Pin<Box<F>>,
    meter: Arc<CpuMeter>,
}

impl<F> Metered<F> {
    pub(crate) fn new(future: F, meter: Arc<CpuMeter>) -> Self {
        Self { future: Box::pin(future), meter }
    }
}

impl<F: Future> Future for Metered<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let began = thread_nanos();
        self.meter.poll_began.store(began, Ordering::Relaxed);
        let polled = self.future.as_mut().poll(context);
        self.meter.spent.fetch_add(thread_nanos().saturating_sub(began), Ordering::Relaxed);
        // A call that waits for something must not keep the lane from one that could run.
        self.meter.hold(None);
        polled
    }
}

/// Sums the memories and tables of a call, and remembers that it refused: the guest would only show `unreachable`.
pub(crate) struct Limiter {
    limit: u64,
    used: u64,
    refused: bool,
}

impl Limiter {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, used: 0, refused: false }
    }

    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    fn grow(&mut self, by: u64) -> bool {
        match self.used.checked_add(by).filter(|sum| *sum <= self.limit) {
            Some(sum) => self.used = sum,
            None => self.refused = true,
        }
        !self.refused
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.grow(desired.saturating_sub(current) as u64))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.grow((desired.saturating_sub(current) as u64).saturating_mul(TABLE_ELEMENT)))
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        // The pool's own ceiling refused.
        self.refused = true;
        Ok(())
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.refused = true;
        Ok(())
    }

    fn instances(&self) -> usize {
        MAX_CORE_INSTANCES as usize
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES as usize
    }

    fn tables(&self) -> usize {
        MAX_TABLES as usize
    }
}
