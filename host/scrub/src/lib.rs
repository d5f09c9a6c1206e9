//! Secrets out of everything that leaves. The only station that may open a [`RawResult`], and the only one that can make a
//! [`CleanResult`].
//!
//! Text is cleaned in one pass over a set of literal anchors; a small parser looks at what stands around each anchor, at most
//! 512 bytes before and to the end of the line or 4 KiB after it (16 KiB for a private key, up to the next dashes). What is
//! longer goes on with its alphabet and is read once. So the time is linear in the text, whatever the text is, and a text that
//! comes in pieces ([`Stream`]) is answered as the whole would be. Secrets are taken out of what leaves, never out of what a tool writes: a script that a tool writes must not
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
