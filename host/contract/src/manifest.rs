//! The manifest, `caisson.toml`.

use crate::{Capabilities, Credential};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `[plugin]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PluginHeader {
    /// `[a-z][a-z0-9-]{0,63}`.
    pub name: String,
    /// Semantic version.
    pub version: semver::Version,
    /// One line for people.
    #[serde(default)]
    pub description: String,
}

/// `[limits]`: what the plugin asks for; the operator's ceiling bounds it at install.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct LimitsRequest {
    /// Size, such as `64 MiB`.
    pub memory: Option<String>,
    /// Duration, such as `500 ms`.
    pub cpu: Option<String>,
    /// Duration, such as `30 s`.
    pub wall: Option<String>,
    /// Duration.
    pub grace: Option<String>,
    /// Count.
    pub http_requests: Option<u64>,
    /// Size.
    pub http_bytes: Option<String>,
    /// Size.
    pub file_bytes: Option<String>,
    /// Count.
    pub file_operations: Option<u64>,
    /// Size.
    pub log_bytes: Option<String>,
    /// Size.
    pub output_bytes: Option<String>,
    /// Size of host memory.
    pub host_memory: Option<String>,
    /// Count of commands.
    pub processes: Option<u64>,
}

/// A whole manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Manifest {
    /// Who it is.
    pub plugin: PluginHeader,
    /// What it asks for.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// Secrets it would like put in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, Credential>,
    /// What it may spend.
    #[serde(default)]
    pub limits: LimitsRequest,
}
