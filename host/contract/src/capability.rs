//! Capabilities. One set of types says what a plugin declares, what a tenant grants and what the operator allows at most;
//! an absent or empty list is deny.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Read, or read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Open for reading, list, stat.
    Read,
    /// Everything that does not leave the mount.
    ReadWrite,
}

/// The one mount there is in this version.
pub const MOUNT: &str = "/workspace";

/// What may be done beneath one mount. As text it is also the access alone, `"read"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FilesRuleText", rename_all = "kebab-case")]
pub struct FilesRule {
    /// Read, or read and write.
    pub access: Access,
    /// Globs relative to the mount, `/` as separator, `**` across folders; `None` is the whole mount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
}

/// Both ways to write a [`FilesRule`].
#[derive(Deserialize)]
#[serde(untagged)]
enum FilesRuleText {
    Short(Access),
    Long(FilesRuleTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FilesRuleTable {
    access: Access,
    #[serde(default)]
    paths: Option<Vec<String>>,
}

impl From<FilesRuleText> for FilesRule {
    fn from(text: FilesRuleText) -> Self {
        match text {
            FilesRuleText::Short(access) => Self { access, paths: None },
            FilesRuleText::Long(FilesRuleTable { access, paths }) => Self { access, paths },
        }
    }
}

/// Which hosts an HTTP rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Hosts {
    /// Exact names (lower case, IDNA-encoded) or `*.example.com`, which does not match `example.com` itself. `*` alone is any
    /// host; the address check still holds.
    List(Vec<String>),
    /// The word `"settings"`: those that the tenant's settings of the plugin name. Replaced by `policy` before a gate sees it.
    Named(String),
}

/// One rule of `[[capabilities.http]]`. Every part must match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HttpRule {
    /// Where to.
    pub hosts: Hosts,
    /// Never these, same patterns; wins over `hosts`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_hosts: Vec<String>,
    /// Upper case; `None` is GET and HEAD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<String>>,
    /// Globs on the path (never the query), as sent; `None` is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    /// `None` is the scheme's own port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<Vec<u16>>,
    /// `https` and `http`; `None` is `https`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schemes: Option<Vec<String>>,
    /// True where methods other than GET and HEAD only read (a search by POST), so that a read-only tool may use them.
    #[serde(default)]
    pub reads: bool,
    /// Names of `[credentials.…]` that are put into these requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<String>,
}

/// Which programs may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ExecRule {
    /// Program names.
    pub programs: Vec<String>,
    /// A whole shell, through the command scanner.
    pub shell: bool,
    /// Commands may reach what `[[capabilities.http]]` allows, through the gateway's proxy and in no other way.
    pub network: bool,
}

/// One `host:port` that may be connected to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SocketRule {
    /// Exact host name.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

/// Everything that can be declared, granted or allowed at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Capabilities {
    /// Mount (`/workspace`) to rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FilesRule>,
    /// Any one rule that matches allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpRule>,
    /// TCP.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tcp: Vec<SocketRule>,
    /// Programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecRule>,
    /// Collection to access.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub documents: BTreeMap<String, Access>,
    /// `wasi:keyvalue` bucket to access.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub keyvalue: BTreeMap<String, Access>,
    /// Names of tools that may be called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Kinds of `caisson:host/runtime` requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runtime: Vec<String>,
    /// `caisson:host/schedule`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub schedule: bool,
    /// `caisson:host/pages`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pages: bool,
    /// `caisson:host/data`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub data: bool,
    /// `caisson:host/outputs`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outputs: bool,
}

/// How a secret is put into a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Inject {
    /// A header, with what stands before the secret.
    #[serde(untagged)]
    Header {
        /// Header name.
        header: String,
        /// Such as `Bearer `.
        #[serde(default)]
        prefix: String,
    },
    /// A query parameter.
    #[serde(untagged)]
    Query {
        /// Parameter name.
        query: String,
    },
    /// Basic authentication with this user name and the secret as password.
    #[serde(untagged)]
    Basic {
        /// User name.
        basic: String,
    },
    /// An environment variable of a child process (exec only).
    #[serde(untagged)]
    Env {
        /// Variable name.
        env: String,
    },
}

/// One `[credentials.NAME]` of a manifest: where the plugin would like the secret to go. It can only narrow what the tenant
/// bound the secret to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Credential {
    /// Exact host names.
    pub hosts: Vec<String>,
    /// How it is put in.
    pub inject: Inject,
    /// What the person who grants it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Where the tenant allows a stored secret to go: exactly this host, scheme and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SecretBinding {
    /// Exact host name, lower case.
    pub host: String,
    /// `https` or `http`.
    pub scheme: String,
    /// Port.
    pub port: u16,
}
