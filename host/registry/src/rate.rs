//! Calls in the last hour, per session. Bounded memory: a key costs some 300 bytes and the least used are dropped.

use quick_cache::sync::Cache;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const MINUTES: usize = 60;

/// Keys kept. Dropping the least used of them lets that one start anew, which is the lesser evil against unbounded memory.
const KEYS: usize = 100_000;

/// One bucket a minute; a call counts for 60 to 61 minutes, so the limit is never passed within any hour.
#[derive(Debug)]
struct Window {
    buckets: [u32; MINUTES],
    sum: u32,
    minute: u64,
}

impl Window {
    fn advance(&mut self, minute: u64) {
        let gone = minute.saturating_sub(self.minute).min(MINUTES as u64);
        for step in 1..=gone {
            let index = usize::try_from((self.minute + step) % MINUTES as u64).unwrap_or(0);
            if let Some(bucket) = self.buckets.get_mut(index) {
                self.sum -= std::mem::take(bucket);
            }
        }
        self.minute = self.minute.max(minute);
    }

    fn take(&mut self, minute: u64, limit: u32) -> Result<(), Duration> {
        self.advance(minute);
        if self.sum >= limit {
            return Err(self.until_one_leaves());
        }
        let index = usize::try_from(minute % MINUTES as u64).unwrap_or(0);
        if let Some(bucket) = self.buckets.get_mut(index) {
            *bucket += 1;
            self.sum += 1;
        }
        Ok(())
    }

    fn give_back(&mut self) {
        let index = usize::try_from(self.minute % MINUTES as u64).unwrap_or(0);
        if let Some(bucket) = self.buckets.get_mut(index).filter(|bucket| **bucket > 0) {
            *bucket -= 1;
            self.sum -= 1;
        }
    }

    fn until_one_leaves(&self) -> Duration {
        let oldest = (1..=MINUTES as u64).find(|ahead| {
            let index = usize::try_from((self.minute + ahead) % MINUTES as u64).unwrap_or(0);
            self.buckets.get(index).is_some_and(|count| *count > 0)
        });
        Duration::from_secs(60 * oldest.unwrap_or(MINUTES as u64))
    }
}

/// The limiter of one gateway.
pub(crate) struct Rate {
    began: Instant,
    calls: Cache<String, Arc<Mutex<Window>>>,
    refusals: Cache<String, Arc<Mutex<Window>>>,
    limit: u32,
}

/// Refusals have a bucket of their own, so that a caller who is always refused is stopped too, later.
const REFUSALS_PER_CALL: u32 = 4;

impl Rate {
    pub(crate) fn new(limit: u32) -> Self {
        Self { began: Instant::now(), calls: Cache::new(KEYS), refusals: Cache::new(KEYS), limit }
    }

    fn minute(&self) -> u64 {
        self.began.elapsed().as_secs() / 60
    }

    fn window(windows: &Cache<String, Arc<Mutex<Window>>>, key: &str, minute: u64) -> Arc<Mutex<Window>> {
        let new = || Ok::<_, Infallible>(Arc::new(Mutex::new(Window { buckets: [0; MINUTES], sum: 0, minute })));
        let Ok(window) = windows.get_or_insert_with(key, new);
        window
    }

    /// Counts a call, or says when the next has a chance.
    pub(crate) fn take(&self, key: &str) -> Result<(), Duration> {
        let minute = self.minute();
        Self::window(&self.calls, key, minute)
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take(minute, self.limit)
    }

    /// Takes back the count of a call that was refused, and counts the refusal instead.
    pub(crate) fn refused(&self, key: &str, counted: bool) {
        let minute = self.minute();
        if counted {
            Self::window(&self.calls, key, minute)
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .give_back();
        }
        let window = Self::window(&self.refusals, key, minute);
        let _ = window.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take(minute, self.refusals_limit());
    }

    fn refusals_limit(&self) -> u32 {
        self.limit.saturating_mul(REFUSALS_PER_CALL)
    }

    /// Whether the caller was not refused too often; otherwise when to come back.
    pub(crate) fn not_refused_out(&self, key: &str) -> Result<(), Duration> {
        let Some(window) = self.refusals.get(key) else { return Ok(()) };
        let mut window = window.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        window.advance(self.minute());
        if window.sum >= self.refusals_limit() { Err(window.until_one_leaves()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn window() -> Window {
        Window { buckets: [0; MINUTES], sum: 0, minute: 0 }
    }

    #[test]
    fn the_limit_holds_over_any_hour_and_says_when_to_come_back() {
        let mut w = window();
        w.take(0, 2).unwrap();
        w.take(30, 2).unwrap();
        assert_eq!(w.take(59, 2), Err(Duration::from_secs(60)));
        w.take(60, 2).unwrap();
        assert_eq!(w.take(61, 2), Err(Duration::from_secs(29 * 60)));
        w.take(1000, 2).unwrap();
        assert_eq!(w.sum, 1);
    }

    #[test]
    fn a_refused_call_is_not_counted() {
        let rate = Rate::new(1);
        rate.take("s").unwrap();
        assert!(rate.take("s").is_err());
        rate.refused("s", true);
        rate.take("s").unwrap();
    }

    #[test]
    fn refusals_run_out_too() {
        let rate = Rate::new(1);
        for _ in 0..REFUSALS_PER_CALL {
            rate.not_refused_out("s").unwrap();
            rate.refused("s", false);
        }
        assert!(rate.not_refused_out("s").is_err());
        rate.not_refused_out("another").unwrap();
    }
}
