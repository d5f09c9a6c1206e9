//! The rail that `store` implements, and the records that travel on it.

use async_trait::async_trait;
use caisson_call::{Principal, TenantId};
use caisson_contract::{Capabilities, SecretBinding, ToolSpec};
use serde::{Deserialize, Serialize};
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
    /// Drops what expired before `now_ms`; how many.
    async fn prune_kept(&self, now_ms: i64) -> Result<u64, StoreError>;

    /// Whether the store answers.
    async fn ping(&self) -> Result<(), StoreError>;
}
