//! What somebody wants saved about a program.

use crate::fault::{Fault, Key, object, read};
use crate::pattern::PatternText;
use crate::preset::preset;
use crate::program::DEFAULT_SECONDS;
use crate::{Env, EnvDraft, Program, Settings};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A program as it is to be made or changed; what is left out is the preset's, the default, or stays as it was.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Draft {
    /// A preset, for what is not said here.
    pub preset: Option<String>,
    /// See [`Settings::binary_name`].
    pub binary_name: Option<String>,
    /// See [`Settings::binary_path`].
    pub binary_path: Option<String>,
    /// See [`Settings::description`].
    pub description: Option<String>,
    /// See [`Settings::deny_args`].
    pub deny_args: Option<Vec<PatternText>>,
    /// See [`Settings::deny_verbose`].
    pub deny_verbose: Option<Vec<PatternText>>,
    /// See [`Settings::timeout_seconds`].
    pub timeout_seconds: Option<u32>,
    /// See [`Settings::tips`].
    pub tips: Option<String>,
    /// See [`Settings::is_global`].
    pub is_global: Option<bool>,
    /// See [`Settings::enabled`].
    pub enabled: Option<bool>,
    /// See [`Settings::adapter_name`].
    pub adapter_name: Option<String>,
    /// See [`Settings::required_env`].
    pub required_env: Option<BTreeSet<String>>,
    /// See [`Settings::file_env`].
    pub file_env: Option<BTreeSet<String>>,
    /// See [`Settings::accepted_exposure`]; empty takes it back.
    pub accepted_exposure: Option<String>,
    /// The variables.
    #[serde(skip)]
    pub env: Option<EnvDraft>,
}

const KEYS: [Key; 16] = [
    ("preset", "the name of a preset"),
    ("binary_name", "a text such as `gh`"),
    ("binary_path", "a text such as `/usr/bin/gh`"),
    ("description", "a text"),
    ("env", "an object of variables"),
    // The older name of the same.
    ("encrypted_env", "an object of variables"),
    ("deny_args", "a list of expressions, or of objects such as `{\"words\": \"repo delete\"}`,"),
    ("deny_verbose", "a list of expressions such as `--verbose`"),
    ("timeout_seconds", "a whole number from 1 to 3600"),
    ("tips", "a text"),
    ("is_global", "true or false"),
    ("enabled", "true or false"),
    ("adapter_name", "the name of an adapter"),
    ("required_env", "a list of names of variables"),
    ("file_env", "a list of names of variables"),
    ("accepted_exposure", "a sentence"),
];

impl Draft {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// Every key that there is not, with the nearest that there is, and every value that does not belong there.
    pub fn read(body: &Value) -> Result<Self, Vec<Fault>> {
        let mut map = object(body, "", &KEYS)?.clone();
        let (new, old) = (map.remove("env"), map.remove("encrypted_env"));
        if new.is_some() && old.is_some() {
            return Err(vec![Fault::new("encrypted_env", "this is the older name of `env`; give one of them")]);
        }
        let draft: Result<Self, Vec<Fault>> = read(&map, "", &KEYS);
        let env = new.or(old).map(|env| EnvDraft::read(&env, "env")).transpose();
        match (draft, env) {
            (Ok(draft), Ok(env)) => Ok(Self { env, ..draft }),
            (draft, env) => Err(draft.err().into_iter().chain(env.err()).flatten().collect()),
        }
    }

    /// A new program's settings. `found` tells where a program of a name lies, for a draft that does not say it.
    ///
    /// # Errors
    /// What is missing; the rest is [`Program::new`]'s to judge.
    pub fn create(self, found: impl FnOnce(&str) -> Option<String>) -> Result<(Settings, Env), Vec<Fault>> {
        let preset = self.preset.as_deref().map(preset).transpose().map_err(|fault| vec![fault])?;
        let name = self.binary_name.or_else(|| preset.map(|preset| preset.name.to_owned()));
        let name =
            name.ok_or_else(|| vec![Fault::new("binary_name", "a name such as `gh`, or a preset, is needed")])?;
        let path = self.binary_path.or_else(|| found(&name));
        let path = path.ok_or_else(|| {
            vec![Fault::new(
                "binary_path",
                "no program of this name is installed; name its file, such as `/usr/bin/gh`",
            )]
        })?;
        let texts =
            |given: Option<Vec<PatternText>>, preset: Option<Vec<PatternText>>| given.or(preset).unwrap_or_default();
        let settings = Settings {
            binary_name: name,
            binary_path: path,
            description: self.description.or(preset.map(|one| one.description.to_owned())).unwrap_or_default(),
            deny_args: texts(self.deny_args, preset.map(crate::Preset::deny_args)),
            deny_verbose: texts(self.deny_verbose, preset.map(crate::Preset::deny_verbose)),
            timeout_seconds: self.timeout_seconds.or(preset.map(|one| one.timeout_seconds)).unwrap_or(DEFAULT_SECONDS),
            tips: self.tips.or(preset.map(|one| one.tips.to_owned())).unwrap_or_default(),
            // A program with credentials is granted to agents one by one unless somebody says otherwise.
            is_global: self.is_global.unwrap_or(false),
            enabled: self.enabled.unwrap_or(true),
            adapter_name: self
                .adapter_name
                .or(preset.map(|one| one.adapter.to_owned()))
                .unwrap_or_else(|| crate::adapter::PASSTHROUGH.to_owned()),
            required_env: self.required_env.or(preset.map(crate::Preset::required)).unwrap_or_default(),
            file_env: self.file_env.or(preset.map(crate::Preset::files)).unwrap_or_default(),
            accepted_exposure: self.accepted_exposure.filter(|words| !words.is_empty()),
        };
        let env = self.env.unwrap_or_default().onto(None, "env")?;
        Ok((settings, env))
    }

    /// A program's settings with these changes.
    ///
    /// # Errors
    /// A name or preset, which only a new program can be given, and secrets to be kept that there are not.
    pub fn change(self, program: &Program) -> Result<(Settings, Env), Vec<Fault>> {
        let old = program.settings();
        if self.preset.is_some() {
            return Err(vec![Fault::new("preset", "a preset is for a new program; set what should change")]);
        }
        if self.binary_name.is_some_and(|name| name != old.binary_name) {
            return Err(vec![Fault::new(
                "binary_name",
                "the name stays; register another program and remove this one",
            )]);
        }
        let or = |new: Option<String>, old: &str| new.unwrap_or_else(|| old.to_owned());
        let settings = Settings {
            binary_name: old.binary_name.clone(),
            binary_path: or(self.binary_path, &old.binary_path),
            description: or(self.description, &old.description),
            deny_args: self.deny_args.unwrap_or_else(|| old.deny_args.clone()),
            deny_verbose: self.deny_verbose.unwrap_or_else(|| old.deny_verbose.clone()),
            timeout_seconds: self.timeout_seconds.unwrap_or(old.timeout_seconds),
            tips: or(self.tips, &old.tips),
            is_global: self.is_global.unwrap_or(old.is_global),
            enabled: self.enabled.unwrap_or(old.enabled),
            adapter_name: or(self.adapter_name, &old.adapter_name),
            required_env: self.required_env.unwrap_or_else(|| old.required_env.clone()),
            file_env: self.file_env.unwrap_or_else(|| old.file_env.clone()),
            accepted_exposure: match self.accepted_exposure {
                Some(words) => Some(words).filter(|words| !words.is_empty()),
                None => old.accepted_exposure.clone(),
            },
        };
        let env = match self.env {
            Some(env) => env.onto(Some(program.env()), "env")?,
            None => program.env().clone(),
        };
        Ok((settings, env))
    }
}
