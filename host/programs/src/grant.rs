//! What an agent was granted.

use crate::fault::{Fault, Key, object, read};
use crate::pattern::{Pattern, PatternText, Verbose};
use crate::program::{check_seconds, check_text, patterns};
use crate::{Env, EnvDraft, Program, ProgramId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// What a grant says of a program, but for variables; what is left out is the program's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrantSettings {
    /// Whether it holds; one that is switched off takes a program from the agent that all others have.
    pub enabled: Option<bool>,
    /// In place of the program's.
    pub deny_args: Option<Vec<PatternText>>,
    /// In place of the program's.
    pub deny_verbose: Option<Vec<PatternText>>,
    /// In place of the program's.
    pub timeout_seconds: Option<u32>,
    /// In place of the program's.
    pub tips: Option<String>,
}

const KEYS: [Key; 7] = [
    ("enabled", "true or false"),
    ("deny_args", "a list of expressions, or of objects such as `{\"words\": \"repo delete\"}`,"),
    ("deny_verbose", "a list of expressions such as `--verbose`"),
    ("timeout_seconds", "a whole number from 1 to 3600"),
    ("tips", "a text"),
    ("env", "an object of variables"),
    // The older name of the same.
    ("encrypted_env", "an object of variables"),
];

impl GrantSettings {
    /// Reads the body of a request; the variables apart, since a secret in them may be one to keep.
    ///
    /// # Errors
    /// Every key that there is not, with the nearest that there is, and every value that does not belong there.
    pub fn read(body: &Value) -> Result<(Self, Option<EnvDraft>), Vec<Fault>> {
        let mut map = object(body, "", &KEYS)?.clone();
        let (new, old) = (map.remove("env"), map.remove("encrypted_env"));
        let env = new.or(old).filter(|env| !env.is_null());
        let env = env.map(|env| EnvDraft::read(&env, "env")).transpose()?;
        Ok((read(&map, "", &KEYS)?, env))
    }
}

/// A program granted to an agent, or taken from it.
#[derive(Clone, Debug)]
pub struct Grant {
    program: ProgramId,
    agent: String,
    settings: GrantSettings,
    env: Env,
    pub(crate) denied: Option<Arc<[Pattern]>>,
    pub(crate) verbose: Option<Arc<[Verbose]>>,
}

impl Grant {
    /// A grant of a program. Variables, where there are any, stand in place of all of the program's.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn new(program: &Program, agent: &str, settings: GrantSettings, env: Env) -> Result<Self, Vec<Fault>> {
        let mut faults = env.check(&program.settings().file_env, "env");
        let seconds = settings.timeout_seconds.map_or(Ok(()), check_seconds);
        faults.extend(seconds.err().map(|why| Fault::new("timeout_seconds", why)));
        let tips = settings.tips.as_deref().map_or(Ok(()), check_text);
        faults.extend(tips.err().map(|why| Fault::new("tips", why)));
        let denied = settings.deny_args.as_ref();
        let denied = denied.map(|texts| patterns(texts, "deny_args", Pattern::new, &mut faults));
        let verbose = settings.deny_verbose.as_ref();
        let verbose = verbose.map(|texts| patterns(texts, "deny_verbose", Verbose::new, &mut faults));
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self { program: program.id().clone(), agent: agent.to_owned(), settings, env, denied, verbose })
    }

    /// The same grant with other variables; its patterns are not compiled anew.
    ///
    /// # Errors
    /// All that is wrong with the variables.
    pub fn with_env(&self, program: &Program, env: Env) -> Result<Self, Vec<Fault>> {
        let faults = env.check(&program.settings().file_env, "env");
        if faults.is_empty() { Ok(Self { env, ..self.clone() }) } else { Err(faults) }
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &ProgramId {
        &self.program
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// What it says.
    #[must_use]
    pub fn settings(&self) -> &GrantSettings {
        &self.settings
    }

    /// Its variables.
    #[must_use]
    pub fn env(&self) -> &Env {
        &self.env
    }

    pub(crate) fn holds(&self) -> bool {
        self.settings.enabled.unwrap_or(true)
    }
}
