//! Secrets out of everything that leaves. The only station that may open a [`RawResult`], and the only one that can make a
//! [`CleanResult`].
//!
//! Text is cleaned in one pass over a set of literal anchors; a small parser looks at what stands around each anchor. Every
//! parser either looks at a bounded number of bytes or redacts what it has read, so the time is linear in the text, whatever
//! the text is. Secrets are taken out of what leaves, never out of what a tool writes: a script that a tool writes must not
//! change on its way to the disk.
//!
//! May depend on: `caisson-call`, pattern matchers. Must not know: wasmtime, the network, SQL, files. No I/O.

mod anchor;
mod assign;
mod cache;
mod code;
mod finder;
mod forms;
mod hex;
mod json;
mod key;
mod option;
mod pass;
mod provider;
mod result;
mod scrubber;
mod secrets;
mod span;
mod stream;
mod tail;
mod token;
mod url;
mod value;
mod wide;

pub use cache::SecretCache;
pub use provider::{PROVIDERS, Provider};
pub use result::{CleanError, CleanResult};
pub use scrubber::{Explained, REDACTED, Scrubber};
pub use secrets::{Ignored, Secrets};
pub use stream::Stream;
pub use tail::Alphabet;

#[cfg(doc)]
use caisson_call::RawResult;
