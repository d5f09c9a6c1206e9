//! The registry line: who, find, offered, arguments, rate, hooks, capabilities, cache, admission, run, scrub, keep back, audit; and
//! what is installed, granted and set.
//!
//! May depend on: `call`, `contract`, `policy`, `programs`, `engine`, `scrub`, `audit`. Must not know: HTTP, JSON-RPC, SQL. It owns the trait that `store`
//! implements, so that no station depends on sqlx.

mod admission;
mod approvals;
mod catalog;
mod config;
mod gateway;
mod known;
mod manage;
mod outputs;
mod pipeline;
mod programs;
mod rails;
mod rate;
mod registering;
mod steps;
mod view;

pub use caisson_engine::Remembered;
pub use caisson_programs::{Preset, Tried, presets};
pub use config::GatewayConfig;
pub use gateway::{Answer, Gateway, Parts};
pub use rails::{
    ApprovalDecision, ApprovalRecord, ApprovalState, ApprovalStatus, AskTerms, Asked, Asker, GrantRecord, KeptRecord,
    PluginRecord, ProgramCredentialRecord, ProgramGrantRecord, ProgramHolder, ProgramRecord, ProgramSecrets,
    RememberedRecord, SealedOf, SecretRecord, SettingsRecord, Store, StoreError, Verdict,
};
pub use view::{
    AdminError, Change, CredentialView, GrantRequest, PluginState, PluginView, ProgramGrantView, ProgramView, ToolView,
};
