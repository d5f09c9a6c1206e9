//! What is recorded.

use caisson_call::{Denial, Outcome};
use serde::{Deserialize, Serialize};

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AuditEvent {
    /// A call ended.
    Call(Box<CallEvent>),
    /// Somebody changed what is installed, granted or set.
    Change(ChangeEvent),
    /// Events that could not be kept because the writer fell behind.
    Lost {
        /// How many.
        count: u64,
    },
}

/// How one call ended. Times in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CallEvent {
    /// Milliseconds since 1970 at which the call came in.
    pub at_ms: i64,
    /// Identifier of the call.
    pub call_id: String,
    /// Tenant.
    pub tenant: String,
    /// Agent.
    pub agent: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Public identifier of the token.
    pub token_id: String,
    /// Session.
    pub session: Option<String>,
    /// Name asked for.
    pub tool: String,
    /// Plugin that has it, where one does.
    pub plugin: Option<String>,
    /// Digest of the plugin's component.
    pub digest: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Rule that refused it, where one did.
    pub rule: Option<String>,
    /// What the gates refused during the call, also where the call went on.
    pub denials: Vec<Denial>,
    /// What the gates did for the call, such as commands that were run; secrets taken out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Elapsed.
    pub wall_us: u64,
    /// Thread time of the guest.
    pub cpu_us: u64,
    /// Bytes of the arguments.
    pub bytes_in: u64,
    /// Bytes of the answer's text.
    pub bytes_out: u64,
}

/// A change by a person or the gateway itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ChangeEvent {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// Such as `plugin.installed` or `grant.changed`.
    pub what: String,
    /// Name of the plugin, secret or other thing.
    pub name: String,
    /// Digest of the plugin's component; empty where there is none.
    pub digest: String,
    /// Tenant.
    pub tenant: String,
    /// Public identifier of the token.
    pub token_id: String,
}
