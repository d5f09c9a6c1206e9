//! What `list-tools` says.

use serde::{Deserialize, Serialize};

/// How a tool touches the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Changes nothing; the gates hold it to that.
    ReadOnly,
    /// May use all that it was granted.
    Mutating,
}

/// One tool as a model sees it; the Rust side of `caisson:plugin/plugin-types.tool`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ToolSpec {
    /// `[a-z][a-z0-9_]{0,63}`, unique in the plugin.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For models.
    pub description: String,
    /// JSON Schema 2020-12 with an object at the root, as text.
    pub parameters: String,
    /// JSON Schema 2020-12 of the structured output, as text.
    pub returns: Option<String>,
    /// How it touches the world.
    pub effect: Effect,
    /// Answers at once and delivers later.
    pub deferred: bool,
    /// Calling twice is as good as calling once.
    pub idempotent: bool,
    /// Seconds that a read-only result may be served again.
    pub cache_seconds: Option<u32>,
    /// Policy groups without the `group:` prefix.
    pub groups: Vec<String>,
    /// A JSON object of later additions.
    pub extra: Option<String>,
}

/// Digest of everything about a plugin's tools that a person or a policy relied on when it was granted: names, effects,
/// schemas, descriptions. BLAKE3, hex. Two lists in another order have the same pin.
#[must_use]
pub fn pin(tools: &[ToolSpec]) -> String {
    let mut sorted: Vec<&ToolSpec> = tools.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut hasher = blake3::Hasher::new();
    for tool in sorted {
        // Serialising the whole record covers every present and later field; the length keeps records apart.
        let text = serde_json::to_string(tool).unwrap_or_default();
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
