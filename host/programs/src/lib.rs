//! Programs that run with credentials: what is registered, who was granted it, which command lines of it may run, and what a run
//! is given.
//!
//! The order of things is that of the types: a [`Draft`] from outside becomes [`Settings`] and a [`Program`], programs with the
//! grants and credentials of one caller a [`Roster`], a command line judged by it [`Cleared`], and that alone a [`Launch`].
//!
//! May depend on: parsers and the command scanner. Must not know: wasmtime, the network, SQL, files. No I/O: whoever runs a
//! launch writes its files and starts it.

mod adapter;
mod draft;
mod env;
mod fault;
mod pattern;
mod preset;
mod program;
mod secret;
mod words;

pub use draft::Draft;
pub use env::{Env, EnvDraft, EnvEntry, EnvView, Kind};
pub use fault::Fault;
pub use pattern::{Pattern, PatternText};
pub use preset::{Preset, Variable, preset, presets};
pub use program::{Program, ProgramId, Settings};
pub use secret::Secret;
