//! The registry line: find, offered, arguments, rate, hooks, capabilities, cache, admission, run, scrub, keep back, audit.
//!
//! May depend on: every station before it (`call`, `contract`, `policy`, `engine`, `scrub`) and `audit`. Must not know: HTTP, JSON-RPC, SQL. It
//! owns the trait that `store` implements, so that no station depends on sqlx.

mod gateway;
mod rails;
mod view;

pub use gateway::{Answer, Gateway};
pub use rails::{GrantRecord, KeptRecord, PluginRecord, SecretRecord, SettingsRecord, Store, StoreError};
pub use view::{AdminError, Change, GrantRequest, PluginState, PluginView, ToolView};
