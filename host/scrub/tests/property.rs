//! Any text.

mod common;

use caisson_scrub::{Scrubber, Secrets};
use common::fragments;
use proptest::prelude::*;

proptest! {
    #[test]
    fn no_text_panics_and_what_is_clean_stays(text in prop_oneof![any::<String>(), fragments()]) {
        let scrubber = Scrubber::new();
        let secrets = Secrets::new(["é12345", "token="]);
        let _ = scrubber.clean_text_with(&text, &secrets);
        let once = scrubber.clean_text(&text).into_owned();
        let twice = scrubber.clean_text(&once).into_owned();
        prop_assert!(twice.matches("[REDACTED]").count() >= once.matches("[REDACTED]").count().min(1));
    }

    #[test]
    fn a_known_value_never_leaves(before in any::<String>(), after in any::<String>(), value in "[a-zA-Z0-9/+=é ]{6,40}") {
        let text = format!("{before}{value}{after}");
        let cleaned = Scrubber::new().clean_text_with(&text, &Secrets::new([&value])).into_owned();
        prop_assert!(!cleaned.contains(&value) || "[REDACTED]".contains(&value));
    }
}
