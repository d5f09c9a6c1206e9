//! How a program gets its credentials: what its arguments may be so that they stay where they belong, and the form in which it
//! takes them.

mod git;
mod passthrough;
mod psql;

use crate::fault::nearest;
use crate::{CredentialKind, Env, HostScope, Refusal, Rule, Secret};
use std::collections::{BTreeMap, BTreeSet};

/// The adapter of programs that take their credentials from variables.
pub(crate) const PASSTHROUGH: &str = "passthrough";

/// A way of giving credentials to a program. A new one is a file here and a line in [`ADAPTERS`].
pub(crate) trait Adapter: Sync + std::fmt::Debug {
    /// The name in settings.
    fn name(&self) -> &'static str;

    /// The types of credentials that it takes.
    fn takes(&self) -> &'static [&'static str];

    /// Whether these arguments need credentials. Where not, the command is an ordinary one and given none.
    fn should_inject(&self, _arguments: &[&str]) -> bool {
        true
    }

    /// Whether the program may be given standard input.
    fn takes_input(&self) -> bool {
        true
    }

    /// What a command with credentials needs of a network. Not known of a program that takes variables.
    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    /// Refuses arguments that could send the credentials elsewhere.
    fn check(&self, _arguments: &[&str], _credentials: &[CredentialKind]) -> Result<(), Refusal> {
        Ok(())
    }

    /// What the program is given.
    fn prepare(&self, material: &Material<'_>) -> Result<Injection, Refusal>;
}

/// What a program cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing that is known.
    Nothing,
    /// HTTP, which the proxy of commands speaks.
    Http,
    /// A protocol that no proxy of commands speaks.
    Other,
}

static ADAPTERS: [&dyn Adapter; 3] = [&passthrough::Passthrough, &git::Git, &psql::Psql];

pub(crate) fn find(name: &str) -> Option<&'static dyn Adapter> {
    ADAPTERS.into_iter().find(|adapter| adapter.name() == name)
}

/// The names of all adapters.
pub fn adapters() -> impl Iterator<Item = &'static str> {
    ADAPTERS.into_iter().map(Adapter::name)
}

/// The known adapter that is most alike.
pub(crate) fn nearest_name(name: &str) -> &'static str {
    nearest(name, adapters()).unwrap_or(PASSTHROUGH)
}

/// What an adapter works with.
pub(crate) struct Material<'m> {
    pub(crate) arguments: &'m [&'m str],
    pub(crate) env: &'m Env,
    /// Names of variables whose values become files.
    pub(crate) files: &'m BTreeSet<String>,
    pub(crate) credentials: &'m [CredentialKind],
    pub(crate) place: &'m Place,
}

/// Where a program will run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    files: String,
    proxy: Option<String>,
}

impl Place {
    /// `files` is the folder in which the program will find files of credentials, which only it can read. `proxy` is the
    /// address of the gateway's own proxy that puts credentials into requests (`http://127.0.0.1:PORT/KEY`), where there is one:
    /// a request for `PROXY/https/HOST/PATH` is sent on to `https://HOST/PATH` with the credential of that host.
    ///
    /// # Errors
    /// A folder or address that cannot be written into a program's settings without quotes.
    pub fn new(files: &str, proxy: Option<&str>) -> Result<Self, String> {
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_.:-".contains(&byte));
        if !files.starts_with('/') || files.ends_with('/') || !plain(files) || files.contains(':') {
            return Err("the folder for credentials must be an absolute path of plain characters".into());
        }
        if proxy.is_some_and(|proxy| !proxy.starts_with("http://") || proxy.ends_with('/') || !plain(proxy)) {
            return Err("the proxy must be an `http://` address of plain characters, without a slash at its end".into());
        }
        Ok(Self { files: files.to_owned(), proxy: proxy.map(str::to_owned) })
    }

    /// Where a file of this name will be.
    pub(crate) fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.files)
    }

    pub(crate) fn proxy(&self) -> Option<&str> {
        self.proxy.as_deref()
    }
}

/// A file that a program needs while it runs: made before it starts, readable by nobody else (mode 0600), removed when it has
/// ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialFile {
    /// Where, as the program sees it.
    pub path: String,
    /// What is in it.
    pub contents: Secret,
}

/// What a program is given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Injection {
    /// Arguments before its own.
    pub(crate) first: Vec<String>,
    pub(crate) env: BTreeMap<String, Secret>,
    pub(crate) files: Vec<CredentialFile>,
    /// Values to take out of what it writes.
    pub(crate) scrub: Vec<Secret>,
    /// Hosts that credentials were made for.
    pub(crate) hosts: Vec<HostScope>,
    /// Credentials that the proxy puts in, by host.
    pub(crate) proxied: Vec<Proxied>,
    /// Whether the program, and what it starts, can read a secret.
    pub(crate) exposes: bool,
}

/// A credential that the proxy puts into requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxied {
    /// The one host.
    pub scope: HostScope,
    /// The value of the header `Authorization`.
    pub authorization: Secret,
}

impl Injection {
    /// The program's variables, those of files as files.
    pub(crate) fn of_env(material: &Material<'_>) -> Self {
        let mut injection = Self::default();
        for (name, entry) in material.env.iter() {
            if entry.kind == crate::Kind::Sensitive {
                injection.scrub.push(entry.value.clone());
                injection.exposes = true;
            }
            let value = if material.files.contains(name) {
                // By the variable's name: it is checked to be a plain word.
                injection.file(material.place, name, entry.value.clone())
            } else {
                entry.value.clone()
            };
            injection.env.insert(name.to_owned(), value);
        }
        injection
    }

    /// Adds a file and gives its path.
    pub(crate) fn file(&mut self, place: &Place, name: &str, contents: Secret) -> Secret {
        let path = place.file(name);
        self.files.push(CredentialFile { path: path.clone(), contents });
        Secret::new(path)
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.env.insert(name.to_owned(), Secret::new(value));
    }
}

fn missing(about: &str, grant: &str) -> Refusal {
    Refusal::new(Rule::CredentialMissing, grant).about(about)
}
