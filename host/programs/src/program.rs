//! A registered program.

use crate::Env;
use crate::fault::{Fault, shown};
use crate::pattern::{Pattern, PatternText, Verbose};
use caisson_call::TenantId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Seconds that a run gets where nothing says otherwise.
pub(crate) const DEFAULT_SECONDS: u32 = 30;

/// The longest that a run may get, seconds; the longest of any command.
pub(crate) const MOST_SECONDS: u32 = 3_600;

/// Patterns of one list: each is looked for in every run.
const MOST_PATTERNS: usize = 64;

/// Characters of a text for people or for the model.
const MOST_TEXT: usize = 2_000;

/// Identifies a registered program within its tenant, whatever it is called later.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProgramId(Arc<str>);

impl ProgramId {
    /// An identifier that the store gave out.
    #[must_use]
    pub fn new(id: &str) -> Self {
        Self(id.into())
    }

    /// The identifier as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProgramId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// All that is set about a program, but for its variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Its name, by which it is called.
    pub binary_name: String,
    /// The one file that is run for it, absolute and without detours.
    pub binary_path: String,
    /// What it is, for people.
    #[serde(default)]
    pub description: String,
    /// What its arguments may not be.
    #[serde(default)]
    pub deny_args: Vec<PatternText>,
    /// Options that make it write more than it should, such as its credentials.
    #[serde(default)]
    pub deny_verbose: Vec<PatternText>,
    /// How long a run may take, in seconds.
    pub timeout_seconds: u32,
    /// How to use it, for the model.
    #[serde(default)]
    pub tips: String,
    /// Whether every agent of the tenant has it, but for those whose grant is switched off.
    pub is_global: bool,
    /// Whether it may run at all.
    pub enabled: bool,
    /// How it gets its credentials; an adapter.
    pub adapter_name: String,
    /// Variables without which it does not run.
    #[serde(default)]
    pub required_env: BTreeSet<String>,
    /// Variables whose values become files; the program gets the path.
    #[serde(default)]
    pub file_env: BTreeSet<String>,
    /// The operator's own words on why credentials may be where the program, and what it starts, can read them. Without them
    /// only what the proxy puts in is given.
    #[serde(default)]
    pub accepted_exposure: Option<String>,
}

/// A registered program whose settings hold together.
#[derive(Clone, Debug)]
pub struct Program {
    id: ProgramId,
    tenant: TenantId,
    settings: Settings,
    env: Env,
    pub(crate) denied: Arc<[Pattern]>,
    pub(crate) verbose: Arc<[Verbose]>,
}

impl Program {
    /// A program, from the store or about to be stored.
    ///
    /// # Errors
    /// All that is wrong with it. What was stored and is no longer right must not run, and must not be forgotten either: see
    /// [`crate::Roster::broken`].
    pub fn new(id: ProgramId, tenant: TenantId, settings: Settings, env: Env) -> Result<Self, Vec<Fault>> {
        let mut faults = check(&settings);
        faults.extend(env.check(&settings.file_env, "env"));
        let denied = patterns(&settings.deny_args, "deny_args", Pattern::new, &mut faults);
        let verbose = patterns(&settings.deny_verbose, "deny_verbose", Verbose::new, &mut faults);
        if faults.is_empty() { Ok(Self { id, tenant, settings, env, denied, verbose }) } else { Err(faults) }
    }

    /// The same program with other variables; its patterns are not compiled anew.
    ///
    /// # Errors
    /// All that is wrong with the variables.
    pub fn with_env(&self, env: Env) -> Result<Self, Vec<Fault>> {
        let faults = env.check(&self.settings.file_env, "env");
        if faults.is_empty() { Ok(Self { env, ..self.clone() }) } else { Err(faults) }
    }

    /// Its identifier.
    #[must_use]
    pub fn id(&self) -> &ProgramId {
        &self.id
    }

    /// Whose it is.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// What is set about it.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Its variables.
    #[must_use]
    pub fn env(&self) -> &Env {
        &self.env
    }
}

/// Patterns of one list, compiled.
pub(crate) fn patterns<T>(
    texts: &[PatternText],
    at: &str,
    new: impl Fn(&PatternText, &str) -> Result<T, Fault>,
    faults: &mut Vec<Fault>,
) -> Arc<[T]> {
    if texts.len() > MOST_PATTERNS {
        faults.push(Fault::new(at, format!("there may be at most {MOST_PATTERNS} patterns")));
        return Arc::from([]);
    }
    let compiled = texts.iter().enumerate().filter_map(|(index, text)| match new(text, &format!("{at}[{index}]")) {
        Ok(pattern) => Some(pattern),
        Err(fault) => {
            faults.push(fault);
            None
        }
    });
    compiled.collect()
}

fn check(settings: &Settings) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut told = |at: &str, checked: Result<(), String>| {
        faults.extend(checked.err().map(|why| Fault::new(at, why)));
    };
    told("binary_name", check_binary(&settings.binary_name));
    told("binary_path", check_path(&settings.binary_path, &settings.binary_name));
    told("timeout_seconds", check_seconds(settings.timeout_seconds));
    told("description", check_text(&settings.description));
    told("tips", check_text(&settings.tips));
    told("adapter_name", check_adapter(&settings.adapter_name));
    let words = settings.accepted_exposure.as_deref();
    told("accepted_exposure", words.map_or(Ok(()), check_words));
    for (at, names) in [("required_env", &settings.required_env), ("file_env", &settings.file_env)] {
        for name in names {
            told(&format!("{at}.{}", shown(name)), crate::env::check_name(name));
        }
    }
    faults
}

/// Checks the name of a program.
fn check_binary(name: &str) -> Result<(), String> {
    let fits = (1..=64).contains(&name.len())
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte))
        && !name.ends_with(".exe");
    if fits {
        Ok(())
    } else {
        // One in capitals would be another program on some file systems and the same on others.
        Err("a program's name has 1 to 64 characters a-z, 0-9, `.`, `_` and `-`, and begins with a letter or digit"
            .into())
    }
}

/// Folders that others than the operator write to.
const OPEN_FOLDERS: [&str; 7] = ["/tmp", "/var/tmp", "/dev", "/proc", "/workspace", "/run", "/home"];

/// Checks where a program lies: exactly one file, where no agent can put another.
fn check_path(path: &str, name: &str) -> Result<(), String> {
    let steps = path.strip_prefix('/').ok_or("an absolute path is needed, such as `/usr/bin/gh`")?;
    if path.len() > 1_024 || path.chars().any(char::is_control) {
        return Err("a path of at most 1024 characters without control characters is needed".into());
    }
    if steps.split('/').any(|step| matches!(step, "" | "." | "..")) {
        return Err("a path without `.`, `..` and doubled slashes is needed".into());
    }
    let inside = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    if let Some(folder) = OPEN_FOLDERS.into_iter().find(|folder| inside(folder)) {
        return Err(format!("others write below `{folder}`; install the program where only the operator does"));
    }
    if steps.rsplit('/').next() != Some(name) {
        return Err("the file must have the name of the program".into());
    }
    Ok(())
}

pub(crate) fn check_seconds(seconds: u32) -> Result<(), String> {
    if (1..=MOST_SECONDS).contains(&seconds) {
        Ok(())
    } else {
        Err(format!("a whole number from 1 to {MOST_SECONDS} is needed"))
    }
}

pub(crate) fn check_text(text: &str) -> Result<(), String> {
    if text.chars().count() > MOST_TEXT || text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(format!("a text of at most {MOST_TEXT} characters without control characters is needed"));
    }
    Ok(())
}

/// Words, and not a switch: who accepts something says what.
fn check_words(text: &str) -> Result<(), String> {
    check_text(text)?;
    if text.split_whitespace().count() < 3 {
        return Err("say in a sentence why the program, and what it starts, may read the credentials".into());
    }
    Ok(())
}

fn check_adapter(name: &str) -> Result<(), String> {
    if crate::adapter::find(name).is_some() {
        return Ok(());
    }
    let nearest = crate::adapter::nearest_name(name);
    Err(format!("there is no adapter `{}`; the nearest is `{nearest}`", shown(name)))
}
