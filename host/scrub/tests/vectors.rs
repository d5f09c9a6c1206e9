//! Inputs from elsewhere, where the environment names a folder of them: JSON lines with `input` and `expect`.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use caisson_scrub::{REDACTED, Scrubber};

#[test]
fn inputs_from_a_folder_are_answered_as_expected() {
    let Some(folder) = std::env::var_os("CAISSON_VECTORS") else { return };
    let lines = std::fs::read_to_string(std::path::Path::new(&folder).join("scrub.jsonl")).unwrap();
    let scrubber = Scrubber::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let input = case["input"].as_str().unwrap();
        let explained = scrubber.explain(input);
        let redacted = explained.text.contains(REDACTED);
        assert_eq!(redacted, case["expect"] == "redact", "{line}\n{explained:?}");
        assert_eq!(redacted, explained.text != input && !explained.classes.is_empty());
    }
}
