//! The rail that `store` implements, and the records that travel on it.

use async_trait::async_trait;
use caisson_call::{Principal, TenantId};
use caisson_contract::{Capabilities, SecretBinding, ToolSpec};
use caisson_engine::Remembered;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// Why the store could not answer. The text is for the log; callers see `unavailable`.
#[derive(Debug, thiserror::Error)]
#[error("the store failed: {0}")]
pub struct StoreError(pub String);

/// One installed version of a plugin. Built-in plugins belong to no tenant and serve all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PluginRecord {
    /// Whose; `None` is built in.
    pub tenant: Option<TenantId>,
    /// From the manifest.
    pub name: String,
    /// BLAKE3 of the component, hex: names its artefact.
    pub digest: String,
    /// The manifest, as TOML text.
    pub manifest: String,
    /// What `list-tools` said at install.
    pub tools: Vec<ToolSpec>,
    /// [`caisson_contract::pin`] of them.
    pub pin: String,
    /// Imported interfaces.
    pub imports: Vec<String>,
    /// Bytes of the component.
    pub size_bytes: u64,
    /// Milliseconds since 1970.
    pub installed_ms: i64,
    /// Token that installed it.
    pub installed_by: String,
}

/// What a tenant granted a plugin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrantRecord {
    /// Who granted.
    pub tenant: TenantId,
    /// To which plugin, by name.
    pub plugin: String,
    /// What.
    pub capabilities: Capabilities,
    /// Digest of the tools it was granted for.
    pub pin: String,
    /// Milliseconds since 1970.
    pub granted_ms: i64,
    /// Token that granted.
    pub granted_by: String,
}

/// Settings of one plugin or tool in one tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingsRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Plugin or tool name.
    pub name: String,
    /// A JSON object.
    pub value: serde_json::Value,
}

/// A stored secret, without its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecretRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Name.
    pub name: String,
    /// Where it may go.
    pub bindings: Vec<SecretBinding>,
}

/// A large result, kept for an hour.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRecord {
    /// The reference, unguessable.
    pub reference: String,
    /// Whose.
    pub tenant: TenantId,
    /// Agent and user of the principal that it belongs to; another one's reference does not exist.
    pub agent: Option<String>,
    /// Likewise.
    pub user: Option<String>,
    /// Tool that made it.
    pub tool: String,
    /// Media type.
    pub content_type: String,
    /// Lines.
    pub lines: u64,
    /// The bytes, scrubbed.
    pub bytes: Vec<u8>,
    /// Milliseconds since 1970.
    pub expires_ms: i64,
}

/// How far a question to a person is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// Nobody answered yet.
    Pending,
    /// A person said yes, and the command has not run yet.
    Approved,
    /// A person said no.
    Denied,
    /// The approval was used up: the command ran.
    Used,
    /// Nobody answered in time, or what was approved was not called again in time.
    Expired,
}

impl ApprovalState {
    /// The word used in answers and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Used => "used",
            Self::Expired => "expired",
        }
    }
}

/// Who asks for an approval, and so whom it serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// Whose.
    pub tenant: TenantId,
    /// The token that called; it cannot answer its own question.
    pub token_id: String,
    /// Agent of the call.
    pub agent: Option<String>,
    /// User of the call.
    pub user: Option<String>,
    /// Plugin.
    pub plugin: String,
    /// Tool.
    pub tool: String,
}

/// A command that waits, or waited, for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    /// Identifier; UUID v7, so that it sorts by time.
    pub id: String,
    /// Who asks.
    pub asker: Asker,
    /// Digest of all that the approval is bound to: principal, component, arguments and what would run.
    pub fingerprint: String,
    /// The command, escaped and scrubbed.
    pub command: String,
    /// Where it starts.
    pub directory: String,
    /// The rule that asks.
    pub rule: String,
    /// What the rule says.
    pub why: String,
    /// The files that its programs' names stand for.
    pub programs: Vec<PathBuf>,
    /// What an approval for good would be about; empty where it can only be given once.
    pub remember: Vec<Remembered>,
    /// Milliseconds since 1970.
    pub asked_ms: i64,
}

/// A question with what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalStatus {
    /// The question.
    pub record: ApprovalRecord,
    /// How far it is.
    pub state: ApprovalState,
    /// Until when it can be answered, or used once it is approved; milliseconds since 1970.
    pub expires_ms: i64,
    /// The token that answered.
    pub decided_by: Option<String>,
}

/// What a new question finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It was approved before; that approval is used up now.
    Taken {
        /// Identifier.
        id: String,
    },
    /// It was denied a short time ago.
    Denied {
        /// Identifier.
        id: String,
    },
    /// It waits, newly or since an earlier call.
    Pending {
        /// Identifier.
        id: String,
        /// Until when it can be answered.
        expires_ms: i64,
    },
    /// Too many wait already.
    Full,
}

/// On which terms a question is taken. Times are milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct AskTerms {
    /// Now.
    pub now_ms: i64,
    /// Until when a new question can be answered.
    pub expires_ms: i64,
    /// A denial since then still holds.
    pub denied_since_ms: i64,
    /// Questions that were over before then are dropped.
    pub forget_before_ms: i64,
    /// Most questions of one token that wait.
    pub most_of_token: i64,
    /// Most questions of one tenant that wait.
    pub most_of_tenant: i64,
}

/// A program with the shape of its arguments that was approved for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedRecord {
    /// Identifier.
    pub id: String,
    /// Whose.
    pub tenant: TenantId,
    /// For which agent.
    pub agent: Option<String>,
    /// For which user.
    pub user: Option<String>,
    /// For which plugin.
    pub plugin: String,
    /// What.
    pub what: Remembered,
    /// The approval that it was given with.
    pub approval: String,
    /// Milliseconds since 1970.
    pub approved_ms: i64,
    /// Token that approved.
    pub approved_by: String,
}

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes, this one time.
    Once,
    /// Yes, now and for every command of the same shape.
    Always,
    /// No.
    Deny,
}

/// An answer to a question, as it is kept.
#[derive(Clone, Debug)]
pub struct ApprovalDecision {
    /// The question.
    pub id: String,
    /// Whether it may run.
    pub approved: bool,
    /// What is approved for good with it.
    pub remembered: Vec<RememberedRecord>,
    /// The token that answers.
    pub by: String,
    /// Now, milliseconds since 1970.
    pub now_ms: i64,
    /// Until when an approval can be used.
    pub expires_ms: i64,
}

/// A registered program without its variables. The settings are text, so that one which cannot be read any more is still known by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Identifier.
    pub id: String,
    /// The name by which it is called; one of a name in a tenant.
    pub name: String,
    /// JSON of [`caisson_programs::Settings`].
    pub settings: String,
}

/// A program granted to an agent, or taken from it, without its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramGrantRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Identifier of the program.
    pub program: String,
    /// The agent.
    pub agent: String,
    /// JSON of [`caisson_programs::GrantSettings`].
    pub settings: String,
}

/// Whose a credential for a program is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProgramHolder {
    /// Every user of an agent.
    Agent(String),
    /// One user.
    User(String),
}

impl ProgramHolder {
    /// The word used in paths and in the database, and the name.
    #[must_use]
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Agent(name) => ("agent", name),
            Self::User(name) => ("user", name),
        }
    }

    /// The holder of a word and a name.
    #[must_use]
    pub fn from_parts(kind: &str, name: &str) -> Option<Self> {
        match kind {
            "agent" => Some(Self::Agent(name.to_owned())),
            "user" => Some(Self::User(name.to_owned())),
            _ => None,
        }
    }
}

/// A credential for a program, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramCredentialRecord {
    /// Whose tenant.
    pub tenant: TenantId,
    /// Identifier of the program.
    pub program: String,
    /// Whose.
    pub holder: ProgramHolder,
    /// Its type and where it goes: one of each for a program and holder.
    pub slot: String,
}

/// Whose a sealed text about programs is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SealedOf {
    /// The variables of a program, by its identifier.
    Program(String),
    /// The variables of a grant: program and agent.
    Grant(String, String),
    /// A credential: program, holder and slot.
    Credential(String, ProgramHolder, String),
}

/// All that a tenant keeps sealed about programs, opened; nothing where one does not open: it was changed, moved, or sealed with another key.
pub type ProgramSecrets = BTreeMap<SealedOf, Option<Zeroizing<String>>>;

/// What the registry needs kept. An acknowledged write survives `kill -9`.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Keeps the bytes of a component under their digest; doing it twice is harmless.
    async fn put_artefact(&self, digest: &str, bytes: &[u8]) -> Result<(), StoreError>;
    /// The bytes of a component.
    async fn artefact(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Every installed plugin.
    async fn plugins(&self) -> Result<Vec<PluginRecord>, StoreError>;
    /// Installs, or replaces the version of the same tenant and name.
    async fn put_plugin(&self, plugin: &PluginRecord) -> Result<(), StoreError>;
    /// Removes a plugin with its grants; false where there was none.
    async fn remove_plugin(&self, tenant: Option<&TenantId>, name: &str) -> Result<bool, StoreError>;

    /// Every grant.
    async fn grants(&self) -> Result<Vec<GrantRecord>, StoreError>;
    /// Grants, or replaces a grant.
    async fn put_grant(&self, grant: &GrantRecord) -> Result<(), StoreError>;
    /// Takes a grant back; false where there was none.
    async fn remove_grant(&self, tenant: &TenantId, plugin: &str) -> Result<bool, StoreError>;

    /// Every tenant's settings.
    async fn settings(&self) -> Result<Vec<SettingsRecord>, StoreError>;
    /// Replaces settings whole.
    async fn put_settings(&self, settings: &SettingsRecord) -> Result<(), StoreError>;

    /// Every secret, without values.
    async fn secrets(&self) -> Result<Vec<SecretRecord>, StoreError>;
    /// Stores a secret encrypted.
    async fn put_secret(&self, secret: &SecretRecord, value: &str) -> Result<(), StoreError>;
    /// Decrypts a secret.
    async fn reveal_secret(&self, tenant: &TenantId, name: &str) -> Result<Option<Zeroizing<String>>, StoreError>;
    /// Removes a secret; false where there was none.
    async fn remove_secret(&self, tenant: &TenantId, name: &str) -> Result<bool, StoreError>;

    /// Stores a bearer token by its keyed hash (the token itself is never stored).
    async fn put_token(&self, token: &str, principal: &Principal) -> Result<(), StoreError>;
    /// Who a bearer token stands for.
    async fn token(&self, token: &str) -> Result<Option<Principal>, StoreError>;
    /// Revokes a token by its public identifier; false where there was none.
    async fn remove_token(&self, token_id: &str) -> Result<bool, StoreError>;

    /// Keeps a large result.
    async fn put_kept(&self, kept: &KeptRecord) -> Result<(), StoreError>;
    /// A large result that has not expired.
    async fn kept(&self, reference: &str) -> Result<Option<KeptRecord>, StoreError>;

    /// Asks, in one step: uses up an approval of the same fingerprint, or finds that it was denied or waits already, or keeps the question.
    async fn ask_approval(&self, approval: &ApprovalRecord, terms: &AskTerms) -> Result<Asked, StoreError>;
    /// How far a question is; one that is approved is used up by this and by nothing else.
    async fn take_approval(&self, id: &str, now_ms: i64) -> Result<ApprovalState, StoreError>;
    /// One question of a tenant.
    async fn approval(&self, tenant: &TenantId, id: &str, now_ms: i64) -> Result<Option<ApprovalStatus>, StoreError>;
    /// The questions of a tenant that are kept, oldest first.
    async fn approvals(&self, tenant: &TenantId, now_ms: i64) -> Result<Vec<ApprovalStatus>, StoreError>;
    /// Answers a question that waits, keeping what is approved for good in the same step; false where it waits no longer.
    async fn decide_approval(&self, decision: &ApprovalDecision) -> Result<bool, StoreError>;
    /// What a tenant approved for good, oldest first.
    async fn remembered(&self, tenant: &TenantId) -> Result<Vec<RememberedRecord>, StoreError>;
    /// Forgets it, and with it the approval that it was given with, where that is not used up; false where there was none.
    async fn forget(&self, tenant: &TenantId, id: &str) -> Result<bool, StoreError>;

    /// Every registered program.
    async fn programs(&self) -> Result<Vec<ProgramRecord>, StoreError>;
    /// Registers a program, or replaces it; `env` is stored encrypted.
    async fn put_program(&self, program: &ProgramRecord, env: &str) -> Result<(), StoreError>;
    /// Removes a program with its grants and credentials; false where there was none.
    async fn remove_program(&self, tenant: &TenantId, id: &str) -> Result<bool, StoreError>;
    /// Every grant of a program.
    async fn program_grants(&self) -> Result<Vec<ProgramGrantRecord>, StoreError>;
    /// Grants a program, or replaces a grant; `env` is stored encrypted.
    async fn put_program_grant(&self, grant: &ProgramGrantRecord, env: &str) -> Result<(), StoreError>;
    /// Removes a grant of a program; false where there was none.
    async fn remove_program_grant(&self, tenant: &TenantId, program: &str, agent: &str) -> Result<bool, StoreError>;
    /// Every credential for a program.
    async fn program_credentials(&self) -> Result<Vec<ProgramCredentialRecord>, StoreError>;
    /// Stores a credential encrypted, or replaces it.
    async fn put_program_credential(
        &self,
        credential: &ProgramCredentialRecord,
        secret: &str,
    ) -> Result<(), StoreError>;
    /// Removes all credentials of a holder for a program; false where there was none.
    async fn remove_program_credentials(
        &self,
        tenant: &TenantId,
        program: &str,
        holder: &ProgramHolder,
    ) -> Result<bool, StoreError>;
    /// Decrypts all that a tenant keeps about programs.
    async fn reveal_programs(&self, tenant: &TenantId) -> Result<ProgramSecrets, StoreError>;

    /// Whether the store answers.
    async fn ping(&self) -> Result<(), StoreError>;
}
