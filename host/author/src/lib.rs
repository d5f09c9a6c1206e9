//! What the command line does for plugin authors: `new` and `build`.
//!
//! May depend on: `caisson-contract`. Must not know: wasmtime, the network, the other stations of a call. Guests are compiled by
//! cargo, in a process of its own.

mod building;
mod error;
mod template;
mod toolchain;

pub use building::{BuildOptions, build_plugin, embed_manifest};
pub use error::AuthorError;
pub use template::{Lang, new_plugin};
pub use toolchain::toolchain;
