//! What the registry shows to doors.

use caisson_contract::{Capabilities, Credential, Effect};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One tool that is offered to a caller.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    /// Canonical name.
    pub name: Arc<str>,
    /// For people.
    pub title: Option<Arc<str>>,
    /// For models.
    pub description: Arc<str>,
    /// JSON Schema 2020-12 of the arguments, an object at the root.
    pub parameters: Arc<serde_json::Value>,
    /// JSON Schema 2020-12 of the structured output.
    pub returns: Option<Arc<serde_json::Value>>,
    /// Enforced effect.
    pub effect: Effect,
    /// Calling twice is as good as calling once.
    pub idempotent: bool,
    /// Answers at once and delivers later.
    pub deferred: bool,
    /// Policy groups.
    pub groups: Arc<[String]>,
    /// The plugin it belongs to.
    pub plugin: Arc<str>,
    /// Version of the plugin.
    pub plugin_version: Arc<str>,
    /// Comes with the gateway.
    pub built_in: bool,
}

/// How far a plugin is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum PluginState {
    /// Machine code is being made.
    Compiling,
    /// Its tools are offered.
    Serving,
    /// Installed, but its tools are not offered until somebody decides.
    Held {
        /// Why, and what to do.
        reason: String,
    },
}

/// One installed plugin.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginView {
    /// Name from the manifest.
    pub name: String,
    /// Version from the manifest.
    pub version: String,
    /// BLAKE3 of the component, hex.
    pub digest: String,
    /// From the manifest.
    pub description: String,
    /// How far it is.
    #[serde(flatten)]
    pub state: PluginState,
    /// What it asks for.
    pub declared: Capabilities,
    /// Secrets it would like put in.
    pub credentials: BTreeMap<String, Credential>,
    /// What it was granted, `null` where nothing was.
    pub granted: Option<Capabilities>,
    /// Its tools.
    pub tools: Vec<ToolView>,
    /// Interfaces it imports, such as `wasi:http/outgoing-handler@0.2.12`.
    pub imports: Vec<String>,
    /// Comes with the gateway.
    pub built_in: bool,
    /// Bytes of the component.
    pub size_bytes: u64,
    /// Milliseconds since 1970.
    pub installed_ms: i64,
    /// Identifier of the token that installed it.
    pub installed_by: String,
}

/// What a tenant grants.
#[derive(Clone, Debug, Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum GrantRequest {
    /// All that the plugin declares, pinned to the tools that it has now.
    All {
        /// Must be true.
        all: bool,
    },
    /// Just this.
    Some(Box<Capabilities>),
}

/// A registered program, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramView {
    /// Identifier.
    pub id: String,
    /// The name by which it is called.
    #[serde(skip)]
    pub name: String,
    /// What is set about it; nothing where it cannot be read.
    #[serde(flatten)]
    pub settings: Option<caisson_programs::Settings>,
    /// Its variables, secret ones masked.
    pub env: BTreeMap<String, caisson_programs::EnvView>,
    /// Agents that have a grant, switched off or not.
    pub agents: Vec<String>,
    /// Why it cannot be read, where it cannot: it is refused by name then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// A grant of a program, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramGrantView {
    /// The agent.
    pub agent: String,
    /// What it says; what is left out is the program's.
    #[serde(flatten)]
    pub settings: caisson_programs::GrantSettings,
    /// Its variables, secret ones masked; where there are any, they stand in place of all of the program's.
    pub env: BTreeMap<String, caisson_programs::EnvView>,
    /// Why it cannot be read, where it cannot: the program is refused to the agent then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// A credential, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CredentialView {
    /// `env`, `token`, `ssh_key` or `pg_password`.
    pub credential_type: &'static str,
    /// Where it goes; empty for variables.
    pub host_scope: String,
    /// Its variables, secret ones masked.
    pub env: BTreeMap<String, caisson_programs::EnvView>,
}

impl CredentialView {
    pub(crate) fn of(kind: &caisson_programs::CredentialKind) -> Self {
        let env = match kind {
            caisson_programs::CredentialKind::Env(env) => env.view(),
            _ => BTreeMap::new(),
        };
        Self { credential_type: kind.name(), host_scope: kind.host_scope(), env }
    }
}

/// Why something about plugins, settings or secrets could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdminError {
    /// The role does not allow it.
    #[error("this needs the role `{needs}`; the token has `{has}`")]
    Forbidden {
        /// Least role that may.
        needs: &'static str,
        /// Role of the token.
        has: &'static str,
    },
    /// Nothing of that name.
    #[error("there is no {what} `{name}`{hint}")]
    NotFound {
        /// `plugin`, `tool`, `secret`, …
        what: &'static str,
        /// The name, escaped.
        name: String,
        /// Empty, or `; did you mean …`.
        hint: String,
    },
    /// It collides with what is there.
    #[error("{0}")]
    Conflict(String),
    /// The input is wrong; each entry says what, where and what to do.
    #[error("{}", .0.join("\n"))]
    Invalid(Vec<String>),
    /// More bytes than allowed.
    #[error("{what} is larger than {limit_bytes} bytes")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The limit.
        limit_bytes: u64,
    },
    /// The component was built against something this host lacks.
    #[error("the component wants `{wants}`; this host has `{has}`")]
    AbiMismatch {
        /// What the host has.
        has: String,
        /// What it wants.
        wants: String,
    },
    /// Not now.
    #[error("{0}")]
    Unavailable(String),
}

/// Something about a tenant's tools changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whose; `None` is everybody's.
    pub tenant: Option<caisson_call::TenantId>,
}
