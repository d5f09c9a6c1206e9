//! What a component says of itself and what it was granted: the manifest, the capability types that manifests, grants and
//! the operator's ceiling share, tool descriptions, the custom section and the version rule.
//!
//! May depend on: `caisson-call`, parsers. Must not know: wasmtime, the network, SQL, the file system. No I/O.

mod capability;
mod layers;
mod manifest;
mod tool;

pub use capability::{
    Access, Capabilities, Credential, ExecRule, FilesRule, Hosts, HttpRule, Inject, SecretBinding, SocketRule,
};
pub use layers::{Layer, LayerSource, Layers};
pub use manifest::{LimitsRequest, Manifest, PluginHeader};
pub use tool::{Effect, ToolSpec, pin};
