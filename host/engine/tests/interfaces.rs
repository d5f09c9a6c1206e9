//! The interfaces that the linker serves, pinned: an umbrella function that brought its own file system would show here.
#![expect(clippy::panic, reason = "a test may panic")]

mod support;

use caisson_engine::PrepareError;
use support::Bench;

/// What each interface has of functions without a type of its own, or of resources.
const SERVED: &[(&str, &str)] = &[
    ("caisson:host/call@0.1.0", "\"remaining-ms\" (func (result u32))"),
    ("caisson:host/documents@0.1.0", "\"collection\" (type (sub resource))"),
    ("caisson:host/exec@0.1.0", "\"process\" (type (sub resource))"),
    ("caisson:host/outputs@0.1.0", "\"writer\" (type (sub resource))"),
    ("caisson:host/secrets@0.1.0", "\"exists\" (func (param \"name\" string) (result bool))"),
    ("caisson:host/settings@0.1.0", "\"get\" (func (result string))"),
    ("wasi:cli/environment@0.2.12", "\"initial-cwd\" (func (result (option string)))"),
    ("wasi:cli/exit@0.2.12", "\"exit\" (func (param \"status\" (result)))"),
    ("wasi:cli/terminal-input@0.2.12", "\"terminal-input\" (type (sub resource))"),
    ("wasi:cli/terminal-output@0.2.12", "\"terminal-output\" (type (sub resource))"),
    ("wasi:clocks/monotonic-clock@0.2.12", "\"now\" (func (result u64))"),
    ("wasi:filesystem/types@0.2.12", "\"descriptor\" (type (sub resource))"),
    ("wasi:http/types@0.2.12", "\"fields\" (type (sub resource))"),
    ("wasi:io/error@0.2.12", "\"error\" (type (sub resource))"),
    ("wasi:io/poll@0.2.12", "\"pollable\" (type (sub resource))"),
    ("wasi:io/streams@0.2.12", "\"output-stream\" (type (sub resource))"),
    ("wasi:random/insecure-seed@0.2.12", "\"insecure-seed\" (func (result (tuple u64 u64)))"),
    ("wasi:random/insecure@0.2.12", "\"get-insecure-random-u64\" (func (result u64))"),
    ("wasi:random/random@0.2.12", "\"get-random-u64\" (func (result u64))"),
    ("wasi:sockets/ip-name-lookup@0.2.12", "\"resolve-address-stream\" (type (sub resource))"),
    ("wasi:sockets/network@0.2.12", "\"network\" (type (sub resource))"),
    ("wasi:sockets/tcp@0.2.12", "\"tcp-socket\" (type (sub resource))"),
    ("wasi:sockets/udp@0.2.12", "\"udp-socket\" (type (sub resource))"),
];

/// Interfaces that other hosts serve, or that a later one will.
const ABSENT: &[(&str, &str)] = &[
    ("caisson:host/settings@0.2.0", "\"get\" (func (result string))"),
    ("wasi:cli/environment@0.3.0", "\"initial-cwd\" (func (result (option string)))"),
    ("wasi:clocks/monotonic-clock@0.3.0", "\"now\" (func (result u64))"),
    ("wasi:filesystem/types@0.3.0", "\"descriptor\" (type (sub resource))"),
    ("wasi:http/types@0.3.0", "\"fields\" (type (sub resource))"),
    ("wasi:keyvalue/store@0.2.0-draft", "\"bucket\" (type (sub resource))"),
    ("wasi:random/random@0.3.0", "\"get-random-u64\" (func (result u64))"),
    ("wasi:sockets/types@0.3.0", "\"tcp-socket\" (type (sub resource))"),
    ("wasi:threads/spawn@0.1.0", "\"thread-spawn\" (func (result u32))"),
];

/// Whether an import is served: then all that is missing is the plugin's own export.
async fn served(bench: &Bench, interface: &str, export: &str) -> bool {
    let text = format!("(component (import \"{interface}\" (instance (export {export}))))");
    let bytes = wat::parse_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    match bench.engine.prepare("00", bytes, &|_| {}).await {
        Err(PrepareError::Component(message)) if message.contains("an import of the component is not served") => false,
        Err(PrepareError::Component(message)) if message.contains("does not export `caisson:plugin/tools@0.1.0`") => {
            true
        }
        Err(error) => panic!("{interface}: {error}"),
        Ok(_) => panic!("{interface}: prepared"),
    }
}

#[tokio::test]
async fn what_has_no_gate_is_not_served() {
    let bench = Bench::new();
    for (interface, export) in ABSENT {
        assert!(!served(&bench, interface, export).await, "{interface}");
    }
}

#[tokio::test]
async fn what_has_a_gate_is_served_to_components_of_older_versions_too() {
    let bench = Bench::new();
    for (interface, export) in SERVED {
        assert!(served(&bench, interface, export).await, "{interface}");
        let older = interface.replace("@0.2.12", "@0.2.0");
        assert!(served(&bench, &older, export).await, "{older}");
    }
}
