//! Decisions about addresses, host names and URLs that the gates take before anything leaves: which addresses are special,
//! what a URL's host really is, whether a pattern covers it. And about shell commands before anything starts ([`shell`]).
//!
//! May depend on: parsers. Must not know: wasmtime, the network, the file system, other stations. No I/O, no panics on any
//! input, so everything here can be fuzzed.

mod address;
mod exceptions;
mod name;
mod path;
mod pattern;
mod rule;
pub mod shell;
mod target;

pub use address::{Class, Special, classify};
pub use exceptions::{Exceptions, Own};
pub use name::check_name;
pub use path::{glob_matches, hidden_step};
pub use pattern::host_matches;
pub use rule::{Refusal, Rule};
pub use target::{Host, Scheme, Target};
