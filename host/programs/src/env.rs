//! Variables that a program is given, some secret and some not.

use crate::Secret;
use crate::fault::{Fault, Key, below, object, shown};
use caisson_guard::shell::{Setting, scan};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Variables of one program; nobody needs more, and each is in the memory of every run.
const MOST_ENTRIES: usize = 50;

/// Bytes of a value: kernels bound the whole environment, and no token is longer.
const MOST_VALUE: usize = 4_096;

/// Bytes of a value that becomes a file: a service account with its key, a cluster's configuration.
const MOST_FILE: usize = 64 * 1024;

/// Characters of a secret, at least: a shorter one stands in many texts and cannot be taken out of them.
const LEAST_SECRET: usize = 6;

/// What stands for a secret that was not given out, and what keeps the stored one when it comes back.
const MASK: &str = "***";

/// Whether a value may be seen again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Never shown again, only replaced; taken out of everything that the program writes.
    Sensitive,
    /// Shown to whoever administers it: an address, a region, a limit. Encrypted at rest all the same.
    Value,
}

/// One variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvEntry {
    /// Whether it may be seen again.
    pub kind: Kind,
    /// What the program gets.
    pub value: Secret,
}

/// Variables by name, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env(BTreeMap<String, EnvEntry>);

/// A variable as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EnvView {
    /// Whether it may be seen again.
    pub kind: Kind,
    /// The value, or `***` for one that may not be seen again.
    pub value: String,
}

impl Env {
    /// The variables by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &EnvEntry)> {
        self.0.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&EnvEntry> {
        self.0.get(name)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These, and over them those.
    #[must_use]
    pub fn overlaid(&self, over: &Self) -> Self {
        let mut all = self.0.clone();
        all.extend(over.0.iter().map(|(name, entry)| (name.clone(), entry.clone())));
        Self(all)
    }

    /// What the API may show.
    #[must_use]
    pub fn view(&self) -> BTreeMap<String, EnvView> {
        let show = |entry: &EnvEntry| match entry.kind {
            Kind::Sensitive => MASK.to_owned(),
            Kind::Value => entry.value.expose().to_owned(),
        };
        self.0.iter().map(|(name, entry)| (name.clone(), EnvView { kind: entry.kind, value: show(entry) })).collect()
    }

    /// All of it as JSON, to be encrypted and by [`Env::from_stored`] read again.
    #[must_use]
    pub fn to_stored(&self) -> Secret {
        let map: serde_json::Map<String, Value> = self
            .0
            .iter()
            .map(|(name, entry)| {
                let kind = if entry.kind == Kind::Value { "value" } else { "sensitive" };
                (name.clone(), serde_json::json!({ "kind": kind, "value": entry.value.expose() }))
            })
            .collect();
        Secret::new(Value::Object(map).to_string())
    }

    /// Reads what was decrypted, the older form without kinds (`{"TOKEN": "…"}`) too.
    ///
    /// # Errors
    /// It is neither form, or would not be accepted today; the program must not run then.
    pub fn from_stored(text: &Secret, at: &str) -> Result<Self, Vec<Fault>> {
        let value: Value =
            serde_json::from_str(text.expose()).map_err(|_| vec![Fault::new(at, "the stored text is not JSON")])?;
        EnvDraft::read(&value, at)?.onto(None, at)
    }

    /// Checks names and values; the values of `files` become files.
    pub(crate) fn check(&self, files: &BTreeSet<String>, at: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.0.len() > MOST_ENTRIES {
            faults.push(Fault::new(at, format!("there may be at most {MOST_ENTRIES} variables")));
        }
        for (name, entry) in &self.0 {
            let at = below(at, &shown(name));
            let value = check_value(entry, files.contains(name));
            faults.extend(check_name(name).err().into_iter().chain(value.err()).map(|why| Fault::new(at.clone(), why)));
        }
        faults
    }
}

/// Names that no program may be given by configuration: the base of its environment, and what changes which code other programs
/// load or whom they trust. The scanner's own rule knows more of them.
const KEPT: [&str; 19] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "IFS",
    "TMPDIR",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "SSH_AUTH_SOCK",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "FTP_PROXY",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
];

/// Beginnings of such names.
const KEPT_PREFIXES: [&str; 7] = ["LD_", "DYLD_", "CAISSON_", "GOCLAW_", "NPM_CONFIG_", "SSL_CERT_", "GIT_CONFIG"];

/// Checks the name of a variable.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let mut bytes = name.bytes();
    let plain = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    // `TF_TOKEN_app_terraform_io` has the name of a host in it, so small letters may follow.
    let fits = bytes.next().is_some_and(plain) && bytes.all(|byte| plain(byte) || byte.is_ascii_alphanumeric());
    if !fits || name.len() > 128 {
        return Err(
            "a variable's name has at most 128 characters A-Z, a-z, 0-9 and `_`, and begins with A-Z or `_`".into()
        );
    }
    let upper = name.to_ascii_uppercase();
    let kept = KEPT.contains(&upper.as_str()) || KEPT_PREFIXES.iter().any(|prefix| upper.starts_with(prefix));
    // A value that is not known counts as the worst, so that only the name decides.
    let loads = !scan(&format!("{name}=\"$x\" true"), &Setting::default()).allows();
    if kept || loads {
        return Err(
            "the variable decides which code programs load or whom they trust, and cannot be set; leave it out".into(),
        );
    }
    Ok(())
}

fn check_value(entry: &EnvEntry, file: bool) -> Result<(), String> {
    let text = entry.value.expose();
    if text.contains('\0') || (!file && text.contains(['\r', '\n'])) {
        return Err(
            "the value has a line break or a byte of zero; a value of many lines is a file, named in `file_env`".into(),
        );
    }
    let most = if file { MOST_FILE } else { MOST_VALUE };
    if text.len() > most {
        return Err(format!("the value is longer than {most} bytes"));
    }
    if entry.kind == Kind::Sensitive && text.chars().count() < LEAST_SECRET {
        return Err(format!(
            "a secret of fewer than {LEAST_SECRET} characters cannot be taken out of what the program writes; use a longer one, or the kind `value` where it is no secret"
        ));
    }
    Ok(())
}

/// Variables as somebody wants them saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvDraft(BTreeMap<String, EnvEntry>);

const ENTRY_KEYS: [Key; 2] = [("kind", "`sensitive` or `value`"), ("value", "a text")];

impl EnvDraft {
    /// Reads `{"NAME": {"kind": "sensitive", "value": "…"}}`, and the older `{"NAME": "…"}`, which is sensitive.
    ///
    /// # Errors
    /// Every entry that is neither.
    pub fn read(value: &Value, at: &str) -> Result<Self, Vec<Fault>> {
        let Value::Object(map) = value else {
            return Err(vec![Fault::new(at, "an object of variables is needed, as in `{\"NAME\": \"value\"}`")]);
        };
        let mut entries = BTreeMap::new();
        let mut faults = Vec::new();
        for (name, value) in map {
            match entry(value, &below(at, &shown(name))) {
                Ok(entry) => drop(entries.insert(name.clone(), entry)),
                Err(found) => faults.extend(found),
            }
        }
        if faults.is_empty() { Ok(Self(entries)) } else { Err(faults) }
    }

    /// What is to be stored in place of `old`: a secret that is given empty or masked stays as it was, and what is not named is
    /// dropped.
    ///
    /// # Errors
    /// A secret without a value, where there is none to keep.
    pub fn onto(self, old: Option<&Env>, at: &str) -> Result<Env, Vec<Fault>> {
        let mut env = BTreeMap::new();
        let mut faults = Vec::new();
        for (name, entry) in self.0 {
            let given = !matches!(entry.value.expose(), "" | MASK);
            // A secret never becomes a value by keeping it: that would show it.
            let kept = old.and_then(|old| old.get(&name)).filter(|_| entry.kind == Kind::Sensitive);
            let empty = entry.kind == Kind::Value && entry.value.expose().is_empty();
            match kept {
                _ if given || empty => drop(env.insert(name, entry)),
                Some(kept) => drop(env.insert(name, EnvEntry { value: kept.value.clone(), ..entry })),
                None => faults.push(Fault::new(below(at, &shown(&name)), "there is no value to keep; give one")),
            }
        }
        if faults.is_empty() { Ok(Env(env)) } else { Err(faults) }
    }
}

fn entry(value: &Value, at: &str) -> Result<EnvEntry, Vec<Fault>> {
    if let Some(value) = scalar(value) {
        return Ok(EnvEntry { kind: Kind::Sensitive, value });
    }
    if !value.is_object() {
        return Err(vec![Fault::new(at, "a text, or an object of `kind` and `value`, is needed")]);
    }
    let map = object(value, at, &ENTRY_KEYS)?;
    let kind = match map.get("kind").map(Value::as_str) {
        None | Some(Some("sensitive")) => Ok(Kind::Sensitive),
        Some(Some("value")) => Ok(Kind::Value),
        Some(_) => Err(vec![Fault::new(below(at, "kind"), "`sensitive` or `value` is needed")]),
    };
    let value = map.get("value").map_or_else(|| Some(Secret::new("")), scalar);
    let value = value.ok_or_else(|| vec![Fault::new(below(at, "value"), "a text is needed")]);
    Ok(EnvEntry { kind: kind?, value: value? })
}

/// Numbers and truth values were written bare into older settings.
fn scalar(value: &Value) -> Option<Secret> {
    match value {
        Value::String(text) => Some(Secret::new(text.as_str())),
        Value::Number(number) => Some(Secret::new(number.to_string())),
        Value::Bool(truth) => Some(Secret::new(truth.to_string())),
        _ => None,
    }
}
