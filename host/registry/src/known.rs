//! The secrets of one call, which must be in nothing that it says.

use caisson_scrub::{Scrubber, Secrets};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// What was put into a call so far. Whoever hands on what the call says asks anew each time, since a program that runs with credentials adds its
/// own while the call runs.
#[derive(Clone, Default)]
pub(crate) struct Known(Arc<Mutex<Secrets>>);

impl Known {
    pub(crate) fn new(secrets: Secrets) -> Self {
        Self(Arc::new(Mutex::new(secrets)))
    }

    /// All of them now.
    pub(crate) fn now(&self) -> Secrets {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn add(&self, more: &Secrets) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known = known.and(more);
    }

    /// A text without them.
    pub(crate) fn clean<'t>(&self, scrubber: &Scrubber, text: &'t str) -> Cow<'t, str> {
        scrubber.clean_text_with(text, &self.now())
    }
}
