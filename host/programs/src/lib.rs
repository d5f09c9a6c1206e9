//! Programs that run with credentials: what is registered, who was granted it, which command lines of it may run, and what a run
//! is given.
//!
//! The order of things is that of the types: a [`Draft`] from outside becomes [`Settings`] and a [`Program`], programs with the
//! grants and credentials of one caller a [`Roster`], a command line judged by it [`Cleared`], and that alone a [`Launch`].
//!
//! May depend on: parsers and the command scanner. Must not know: wasmtime, the network, SQL, files. No I/O: whoever runs a
//! launch writes its files and starts it.

mod adapter;
mod credential;
mod decide;
mod draft;
mod env;
mod fault;
mod grant;
mod keywords;
mod pattern;
mod preset;
mod program;
mod refusal;
mod roster;
mod secret;
mod try_out;
mod words;

pub use adapter::{CredentialFile, Needs, Place, Proxied, adapters};
pub use credential::{Credential, CredentialKind, Holder, HostScope, Server};
pub use decide::{Asked, BASE, Cleared, Decision, Injected, Launch, decide};
pub use draft::Draft;
pub use env::{Env, EnvDraft, EnvEntry, EnvView, Kind};
pub use fault::Fault;
pub use grant::{Grant, GrantSettings};
pub use keywords::{KeywordRule, Let, check_commands};
pub use pattern::{Pattern, PatternText, WordsText};
pub use preset::{Preset, Variable, preset, presets};
pub use program::{Program, ProgramId, Settings};
pub use refusal::{Refusal, Rule};
pub use roster::{Caller, Roster};
pub use secret::Secret;
pub use try_out::{Tried, try_out};
