//! The targets of the fuzzers with bounded inputs, so that they hold on every change and are known to compile.
#![expect(clippy::panic, reason = "a test may panic")]

#[path = "../fuzz/targets.rs"]
mod targets;

use proptest::prelude::*;

/// Any bytes, of which some are pieces of commands.
fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_scanned(data in bytes(400)) {
        targets::scanner(&data);
    }

    #[test]
    fn mutated_commands_are_scanned(data in bytes(100)) {
        targets::mutated(&data);
    }

    #[test]
    fn a_denied_command_stays_denied_in_disguise(data in bytes(24)) {
        targets::disguised(&data);
    }

    #[test]
    fn any_path_is_judged(data in bytes(80), path in "[a-c./%25e*\\\\\n]{0,24}") {
        targets::path(&data);
        targets::path(path.as_bytes());
    }

    #[test]
    fn any_address_is_judged(data in bytes(80), host in "[a-z0-9.:%@\\[\\]\\\\①。/?#-]{0,24}") {
        targets::address(&data);
        targets::address(host.as_bytes());
    }
}
