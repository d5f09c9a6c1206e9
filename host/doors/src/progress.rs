//! Progress on its way from a call to a reader that may be slow.

use caisson_call::{Progress, ProgressSink};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Steps that wait for a slow reader. Further ones are dropped: the next one says more.
const WAITING: usize = 64;

/// A sink that never blocks the call, and where its steps come out. The steps end once the call has.
pub(crate) fn queue() -> (ProgressSink, mpsc::Receiver<Progress>) {
    let (sender, steps) = mpsc::channel(WAITING);
    let sink = Arc::new(move |step| {
        // A full queue drops the step.
        let _ = sender.try_send(step);
    });
    (sink, steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_takes_nothing_costs_a_bounded_queue() {
        let (sink, mut steps) = queue();
        for done in 0..1000 {
            sink(Progress { done: f64::from(done), total: None, message: None });
        }
        drop(sink);
        let mut taken = 0;
        while steps.try_recv().is_ok() {
            taken += 1;
        }
        assert_eq!(taken, WAITING);
    }
}
