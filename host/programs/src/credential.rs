//! Credentials of agents, channels and users, beside the variables of the program itself.

use crate::adapter::Adapter;
use crate::fault::{Fault, Key, object, shown};
use crate::{Env, EnvDraft, Program, ProgramId, Secret};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use caisson_guard::{Scheme, Target};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt;

/// Whose a credential is. The later one of these wins over the earlier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// Every user of an agent.
    Agent(String),
    /// Every user in a place of a channel.
    Channel {
        /// The channel.
        instance: String,
        /// The place in it.
        scope: String,
    },
    /// One user.
    User(String),
}

/// A credential for a program.
#[derive(Clone, Debug)]
pub struct Credential {
    /// The program.
    pub program: ProgramId,
    /// Whose it is.
    pub holder: Holder,
    /// What it is.
    pub kind: CredentialKind,
}

/// What a credential is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// Variables.
    Env(Env),
    /// A token that is sent to one host over HTTP.
    Token {
        /// The host.
        scope: HostScope,
        /// The name that goes with it.
        user: String,
        /// The token.
        token: Secret,
    },
    /// A private key, without a passphrase, that is used with one host.
    SshKey {
        /// The host.
        scope: HostScope,
        /// The key, in PEM or OpenSSH's own form.
        key: Secret,
    },
    /// A password for one database server.
    Password {
        /// The server.
        server: Server,
        /// The password.
        password: Secret,
    },
}

/// A database of a server, and whom to be there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Server {
    /// Host.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Database; `*` for any.
    pub database: String,
    /// User.
    pub user: String,
}

/// The one host that a credential goes to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostScope {
    scheme: &'static str,
    host: String,
    /// None for the scheme's own.
    port: Option<u16>,
}

impl HostScope {
    /// Reads `github.com`, `git.example.com:8443` or, for a server without TLS, `http://127.0.0.1:3000`. Names are compared in
    /// lower case and IDNA-encoded.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let needed = || format!("`{}` is not a host, such as `github.com` or `git.example.com:8443`", shown(text));
        let target = Target::parse(&url).map_err(|_| needed())?;
        if target.path != "/" || url.contains(['?', '#', '*']) {
            return Err(needed());
        }
        let port = Some(target.port).filter(|port| *port != target.scheme.default_port());
        Ok(Self { scheme: target.scheme.as_str(), host: target.host.to_string(), port })
    }

    /// Whether an address has this scheme, host and port.
    #[must_use]
    pub fn covers(&self, target: &Target) -> bool {
        let default = target.scheme.default_port();
        self.scheme == target.scheme.as_str()
            && self.host == target.host.to_string()
            && self.port.unwrap_or(default) == target.port
    }

    /// The host alone.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// `scheme://host`, with the port where it is not the scheme's own.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority())
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// The host, with the port where it is not the scheme's own.
    #[must_use]
    pub fn authority(&self) -> String {
        self.port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host))
    }
}

impl fmt::Display for HostScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scheme == Scheme::Https.as_str() { f.write_str(&self.authority()) } else { f.write_str(&self.origin()) }
    }
}

const KEYS: [Key; 8] = [
    ("credential_type", "`env`, `token`, `ssh_key` or `pg_password`"),
    ("host_scope", "a host"),
    ("user", "a text"),
    ("database", "a text"),
    ("port", "a port"),
    ("secret", "a text"),
    ("env", "an object of variables"),
    // The older name of the same.
    ("encrypted_env", "an object of variables"),
];

impl CredentialKind {
    /// Reads the body of a request, or what was stored: `credential_type` and what belongs to it. The older types `pat` and
    /// `pg_password_file` are read too.
    ///
    /// # Errors
    /// All that is wrong; a secret is never repeated.
    pub fn read(body: &Value, old: Option<&Self>) -> Result<Self, Vec<Fault>> {
        let map = object(body, "", &KEYS)?;
        let kind = map.get("credential_type").map_or(Some("env"), Value::as_str);
        match kind {
            Some("env") => read_env(map, old),
            Some("token" | "pat") => {
                let scope = scope(map)?;
                let user = text(map, "user")?.unwrap_or_else(|| "x-access-token".to_owned());
                let kept = old.and_then(|old| if let Self::Token { token, .. } = old { Some(token) } else { None });
                let token = secret(map, kept)?;
                one(plain("user", &user).and(plain_secret(&token)))?;
                Ok(Self::Token { scope, user, token })
            }
            Some("ssh_key") => {
                let scope = scope(map)?;
                let kept = old.and_then(|old| if let Self::SshKey { key, .. } = old { Some(key) } else { None });
                let key = secret(map, kept)?;
                one(check_key(&key))?;
                Ok(Self::SshKey { scope, key })
            }
            Some("pg_password" | "pg_password_file") => {
                let kept =
                    old.and_then(|old| if let Self::Password { password, .. } = old { Some(password) } else { None });
                let password = secret(map, kept)?;
                one(plain_secret(&password))?;
                Ok(Self::Password { server: server(map)?, password })
            }
            _ => Err(vec![Fault::new("credential_type", format!("{} is needed", KEYS[0].1))]),
        }
    }

    /// All of it as JSON, to be encrypted; [`CredentialKind::read`] reads it again.
    #[must_use]
    pub fn to_stored(&self) -> Secret {
        let value = match self {
            Self::Env(env) => {
                return Secret::new(format!(r#"{{"credential_type":"env","env":{}}}"#, env.to_stored().expose()));
            }
            Self::Token { scope, user, token } => {
                json!({ "credential_type": "token", "host_scope": scope.to_string(), "user": user, "secret": token.expose() })
            }
            Self::SshKey { scope, key } => {
                json!({ "credential_type": "ssh_key", "host_scope": scope.to_string(), "secret": key.expose() })
            }
            Self::Password { server, password } => json!({
                "credential_type": "pg_password", "host_scope": server.host, "port": server.port,
                "database": server.database, "user": server.user, "secret": password.expose(),
            }),
        };
        Secret::new(value.to_string())
    }

    /// Its type, for the API and for adapters.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Env(_) => "env",
            Self::Token { .. } => "token",
            Self::SshKey { .. } => "ssh_key",
            Self::Password { .. } => "pg_password",
        }
    }

    /// Where it goes, as people write it; empty for variables, which go wherever the program sends them.
    #[must_use]
    pub fn host_scope(&self) -> String {
        match self {
            Self::Env(_) => String::new(),
            Self::Token { scope, .. } | Self::SshKey { scope, .. } => scope.to_string(),
            Self::Password { server, .. } => format!("{}:{}", server.host, server.port),
        }
    }

    /// Checks that a program can use it.
    ///
    /// # Errors
    /// The program's adapter takes others, or the variables are not right.
    pub fn check(&self, program: &Program) -> Result<(), Vec<Fault>> {
        let adapter = crate::adapter::find(&program.settings().adapter_name);
        let takes = adapter.map(Adapter::takes).unwrap_or_default();
        if !takes.contains(&self.name()) {
            let why = format!("the adapter of this program takes {}", takes.join(" and "));
            return Err(vec![Fault::new("credential_type", why)]);
        }
        let faults = match self {
            Self::Env(env) => env.check(&program.settings().file_env, "env"),
            _ => vec![],
        };
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

fn one(checked: Result<(), Fault>) -> Result<(), Vec<Fault>> {
    checked.map_err(|fault| vec![fault])
}

fn read_env(map: &Map<String, Value>, old: Option<&CredentialKind>) -> Result<CredentialKind, Vec<Fault>> {
    let value = map.get("env").or_else(|| map.get("encrypted_env"));
    let value = value.ok_or_else(|| vec![Fault::new("env", "an object of variables is needed")])?;
    let kept = old.and_then(|old| if let CredentialKind::Env(env) = old { Some(env) } else { None });
    EnvDraft::read(value, "env")?.onto(kept, "env").map(CredentialKind::Env)
}

fn text(map: &Map<String, Value>, key: &str) -> Result<Option<String>, Vec<Fault>> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(vec![Fault::new(key, "a text is needed")]),
    }
}

fn needed(map: &Map<String, Value>, key: &str) -> Result<String, Vec<Fault>> {
    text(map, key)?.ok_or_else(|| vec![Fault::new(key, "this is needed")])
}

/// Left out, it stays as it was.
fn secret(map: &Map<String, Value>, kept: Option<&Secret>) -> Result<Secret, Vec<Fault>> {
    let given = text(map, "secret")?.filter(|text| !text.is_empty()).map(Secret::new);
    given.or_else(|| kept.cloned()).ok_or_else(|| vec![Fault::new("secret", "there is no secret to keep; give one")])
}

fn scope(map: &Map<String, Value>) -> Result<HostScope, Vec<Fault>> {
    HostScope::parse(&needed(map, "host_scope")?).map_err(|why| vec![Fault::new("host_scope", why)])
}

fn plain(at: &str, text: &str) -> Result<(), Fault> {
    if text.is_empty() || text.len() > 4_096 || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Fault::new(at, "1 to 4096 characters without blanks and control characters are needed"));
    }
    Ok(())
}

fn plain_secret(secret: &Secret) -> Result<(), Fault> {
    plain("secret", secret.expose())?;
    if secret.expose().chars().count() < 6 {
        return Err(Fault::new(
            "secret",
            "a secret of fewer than 6 characters cannot be taken out of what the program writes",
        ));
    }
    Ok(())
}

fn server(map: &Map<String, Value>) -> Result<Server, Vec<Fault>> {
    let written = needed(map, "host_scope")?;
    let scope = HostScope::parse(&written).map_err(|why| vec![Fault::new("host_scope", why)])?;
    let port = match map.get("port") {
        None => scope.port.unwrap_or(5_432),
        Some(port) => port
            .as_u64()
            .and_then(|port| u16::try_from(port).ok())
            .filter(|port| *port > 0)
            .ok_or_else(|| vec![Fault::new("port", "a port from 1 to 65535 is needed")])?,
    };
    let server = Server {
        host: scope.host,
        port,
        database: text(map, "database")?.unwrap_or_else(|| "*".to_owned()),
        user: needed(map, "user")?,
    };
    // Both end up in connection settings, where these characters begin others.
    for (at, name) in [("database", &server.database), ("user", &server.user)] {
        one(plain(at, name))?;
        if name.contains(['=', ':', '/', '\\', '\'']) {
            return Err(vec![Fault::new(at, "a plain name, without `=`, `:`, `/`, quotes and backslashes, is needed")]);
        }
    }
    Ok(server)
}

/// A key that can be used without asking anybody: ssh would ask for its passphrase where nobody can answer.
fn check_key(key: &Secret) -> Result<(), Fault> {
    let text = key.expose().trim();
    let wrong = |why: &str| Err(Fault::new("secret", why));
    let kinds: BTreeSet<&str> = [
        "OPENSSH PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "DSA PRIVATE KEY",
        "PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
    ]
    .into();
    let head = text.lines().next().unwrap_or_default().trim();
    let kind = head.strip_prefix("-----BEGIN ").and_then(|rest| rest.strip_suffix("-----"));
    let Some(kind) = kind.filter(|kind| kinds.contains(kind)) else {
        return wrong("a private key in PEM form, from `-----BEGIN … PRIVATE KEY-----` on, is needed");
    };
    let end = format!("-----END {kind}-----");
    if text.len() > 16 * 1024 || !text.ends_with(&end) {
        return wrong("the key is cut off, or longer than 16384 bytes");
    }
    let encrypted = kind == "ENCRYPTED PRIVATE KEY"
        || text.lines().any(|line| line.starts_with("Proc-Type:") && line.contains("ENCRYPTED"));
    if encrypted || (kind == "OPENSSH PRIVATE KEY" && !is_open(text)) {
        return wrong("the key has a passphrase, which nobody could type; make one without (`ssh-keygen -p -N ''`)");
    }
    Ok(())
}

/// Whether a key in OpenSSH's own form names no cipher: a magic text, then the cipher's name with its length in front.
fn is_open(text: &str) -> bool {
    let body: String =
        text.lines().filter(|line| !line.starts_with("-----")).flat_map(|line| line.trim().chars()).collect();
    let magic = b"openssh-key-v1\0\0\0\0\x04none";
    STANDARD.decode(body).is_ok_and(|bytes| bytes.starts_with(magic))
}
