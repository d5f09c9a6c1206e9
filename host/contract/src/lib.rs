//! What a component says of itself and what it was granted: the manifest, the capability types that manifests, grants and
//! the operator's ceiling share, tool descriptions, the custom section and the version rule.
//!
//! May depend on: `caisson-call`, parsers. Must not know: wasmtime, the network, SQL, the file system. No I/O.

mod capability;
mod check;
mod component;
mod fault;
mod grant;
mod json;
mod layers;
mod limits;
mod manifest;
mod read;
mod tool;
mod value;
mod version;

pub use capability::{
    Access, Capabilities, Credential, ExecRule, FilesRule, Hosts, HttpRule, Inject, MOUNT, SecretBinding, SocketRule,
};
pub use check::{check_capabilities, check_tools};
pub use component::{
    ComponentInfo, MANIFEST_SECTION, SectionError, add_manifest_section, inspect_component, read_info,
    read_manifest_section,
};
pub use fault::ManifestFault;
pub use grant::{difference, exceeds};
pub use json::{MAX_JSON_DEPTH, duplicate_key_check, parse_json};
pub use layers::{Layer, LayerSource, Layers};
pub use limits::{parse_duration, parse_size};
pub use manifest::{LimitsRequest, Manifest, PluginHeader};
pub use read::MAX_MANIFEST_BYTES;
pub use tool::{Effect, ToolSpec, pin};
pub use value::{host_name, host_pattern};
pub use version::{AbiMismatch, HostInterfaces, HostPackage, check_versions, exports_tools};
