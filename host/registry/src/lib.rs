//! The registry line: who, find, offered, arguments, rate, hooks, capabilities, cache, admission, run, scrub, keep back, audit; and
//! what is installed, granted and set.
//!
//! May depend on: `call`, `contract`, `policy`, `engine`, `scrub`, `audit`. Must not know: HTTP, JSON-RPC, SQL. It owns the trait that `store`
//! implements, so that no station depends on sqlx.

mod admission;
mod catalog;
mod config;
mod gateway;
mod manage;
mod outputs;
mod pipeline;
mod rails;
mod rate;
mod steps;
mod view;

pub use config::GatewayConfig;
pub use gateway::{Answer, Gateway, Parts};
pub use rails::{GrantRecord, KeptRecord, PluginRecord, SecretRecord, SettingsRecord, Store, StoreError};
pub use view::{AdminError, Change, GrantRequest, PluginState, PluginView, ToolView};
