//! Who calls.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A tenant's name: `[a-z0-9][a-z0-9-]{0,62}`. It becomes a folder name and a SQL value, so it is checked once, here.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// Checks a tenant's name.
    ///
    /// # Errors
    /// Says which characters a tenant's name may have.
    pub fn new(name: &str) -> Result<Self, String> {
        let mut bytes = name.bytes();
        let first_ok = bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let rest_ok = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if first_ok && rest_ok && name.len() <= 63 {
            Ok(Self(name.into()))
        } else {
            Err(format!(
                "`{}` is not a tenant name: use 1 to 63 characters a-z, 0-9 and `-`, not starting with `-`",
                name.escape_default()
            ))
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TenantId {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        Self::new(&name)
    }
}

impl From<TenantId> for String {
    fn from(id: TenantId) -> Self {
        id.0.to_string()
    }
}

impl std::fmt::Display for TenantId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a token may do; each role includes what the ones after it may.
///
/// `Owner` runs the installation; `TenantAdmin` installs, grants and configures within one tenant; `Operator` calls tools
/// and acts for any agent or user of the tenant; `Agent` calls tools as the one agent (and user) that the token is bound to;
/// `Viewer` only lists and describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Lists and describes.
    Viewer,
    /// Calls tools as itself.
    Agent,
    /// Calls tools, and may name the agent and user it acts for.
    Operator,
    /// Installs, grants, configures within its tenant.
    TenantAdmin,
    /// Everything, in every tenant.
    Owner,
}

impl Role {
    /// The word, as in tokens and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Agent => "agent",
            Self::Operator => "operator",
            Self::TenantAdmin => "tenant-admin",
            Self::Owner => "owner",
        }
    }
}

/// Who a token stands for. Made by a door from a token, never from anything else in a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Principal {
    /// The tenant on whose behalf the call is made.
    pub tenant: TenantId,
    /// The role of the token.
    pub role: Role,
    /// Public identifier of the token (never its secret), for audit and rate limits.
    pub token_id: String,
    /// The agent, where the token is bound to one or its role may act for one.
    pub agent: Option<String>,
    /// The end user, likewise.
    pub user: Option<String>,
}
