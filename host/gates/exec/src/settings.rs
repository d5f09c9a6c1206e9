//! What a tenant's settings say about commands: `timeout_seconds` and the object `exec`.

use caisson_docker::Sandbox;
use caisson_guard::shell::{Allowlist, Ask, Mode, PathDeny, Setting, Switches};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// Seconds that a command gets where nothing says otherwise.
const DEFAULT_SECONDS: u64 = 60;

/// The longest that a command may get, seconds.
pub(crate) const MAX_SECONDS: u64 = 3_600;

/// Settings that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{at}`: {why}")]
pub struct SettingsError {
    /// Where, such as `exec.deny_groups`.
    pub at: String,
    /// What is wrong and what to write instead.
    pub why: String,
}

fn fault(at: impl Into<String>, why: impl Into<String>) -> SettingsError {
    SettingsError { at: at.into(), why: why.into() }
}

/// Which commands may run, for how long: one tenant's, for one agent.
#[derive(Clone, Debug)]
pub struct ExecSettings {
    pub(crate) switches: Switches,
    pub(crate) mode: Mode,
    pub(crate) ask: Ask,
    pub(crate) timeout: Duration,
    /// The container that commands run in; on the host, confined, where there is none.
    pub(crate) sandbox: Option<Sandbox>,
}

impl Default for ExecSettings {
    /// Every deny group denies and nobody is asked; 60 seconds.
    fn default() -> Self {
        Self {
            switches: Switches::all_on(),
            mode: Mode::DenyGroups,
            ask: Ask::Off,
            timeout: Duration::from_secs(DEFAULT_SECONDS),
            sandbox: None,
        }
    }
}

/// Keys of the object `exec`.
const KEYS: [&str; 6] = ["mode", "programs", "deny_groups", "ask", "sandbox_config", "agents"];

/// Keys of one entry of `exec.agents`.
const AGENT_KEYS: [&str; 3] = ["deny_groups", "ask", "sandbox_config"];

impl ExecSettings {
    /// Reads settings as they are used: a timeout that is out of range is brought into it, everything else must be right.
    ///
    /// # Errors
    /// The first fault. Nothing may run then: a rule that was misspelt is not a rule that was lifted.
    pub fn read(text: &str, agent: Option<&str>) -> Result<Self, SettingsError> {
        let value: Value = serde_json::from_str(text).map_err(|error| fault("settings", error.to_string()))?;
        let seconds = value.get("timeout_seconds").and_then(Value::as_i64).filter(|seconds| *seconds > 0);
        let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let exec = object(value.get("exec"), "exec")?;
        known(&exec, &KEYS, "exec")?;
        let (at, own) = own(&exec, agent)?;
        let sandbox = match sandbox(&own, &at)? {
            Some(own) => Some(own),
            None => sandbox(&exec, "exec")?,
        };
        let otherwise = || sandbox.as_ref().map_or(DEFAULT_SECONDS, |sandbox| sandbox.timeout().as_secs());
        Ok(Self {
            switches: switches(&exec, &own, &at)?,
            mode: mode(&exec)?,
            ask: match ask(&own, &at)? {
                Some(own) => own,
                None => ask(&exec, "exec")?.unwrap_or_default(),
            },
            timeout: Duration::from_secs(seconds.unwrap_or_else(otherwise).min(MAX_SECONDS)),
            sandbox,
        })
    }

    /// Checks settings before they are saved, for every agent that they name.
    ///
    /// # Errors
    /// The first fault; a timeout out of range is one too.
    pub fn check(value: &Value) -> Result<(), SettingsError> {
        if let Some(seconds) = value.get("timeout_seconds")
            && !seconds.as_u64().is_some_and(|seconds| (1..=MAX_SECONDS).contains(&seconds))
        {
            return Err(fault("timeout_seconds", format!("a whole number from 1 to {MAX_SECONDS} is needed")));
        }
        for key in value.as_object().into_iter().flat_map(Map::keys) {
            misplaced(key)?;
        }
        let text = value.to_string();
        Self::read(&text, None)?;
        let exec = object(value.get("exec"), "exec")?;
        for agent in object(exec.get("agents"), "exec.agents")?.keys() {
            Self::read(&text, Some(agent))?;
        }
        Ok(())
    }

    /// What the scanner judges by, for a command that starts in `directory` of the workspace and may name none of `denied`.
    pub(crate) fn setting(&self, directory: &str, denied: &[String]) -> Setting {
        let denied: Vec<&str> = denied.iter().map(String::as_str).collect();
        Setting {
            switches: self.switches,
            mode: self.mode.clone(),
            ask: self.ask,
            paths: PathDeny::new(directory, &denied, &[]),
            ..Setting::default()
        }
    }
}

/// A key that looks as if it were the gate's and is not: it would be saved and change nothing. Others are the plugin's own.
fn misplaced(key: &str) -> Result<(), SettingsError> {
    let own = ["exec", "timeout_seconds"];
    if own.contains(&key) {
        return Ok(());
    }
    let short: String = key.chars().take(64).collect();
    if KEYS.contains(&key) || key.starts_with("exec.") {
        return Err(fault(short, "this belongs into the object `exec`, as in `{\"exec\": {\"mode\": \"allowlist\"}}`"));
    }
    match own.iter().find(|own| own.starts_with(&short) || likeness(&short, own) >= 0.6) {
        Some(nearest) => Err(no_such_key(short.clone(), nearest)),
        None => Ok(()),
    }
}

fn no_such_key(at: String, nearest: &str) -> SettingsError {
    fault(at, format!("there is no such key; the nearest is `{nearest}`"))
}

fn likeness(key: &str, own: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(key, own)
}

fn object(value: Option<&Value>, at: &str) -> Result<Map<String, Value>, SettingsError> {
    match value {
        None => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map.clone()),
        Some(_) => Err(fault(at, "an object is needed")),
    }
}

fn known(map: &Map<String, Value>, keys: &[&str], at: &str) -> Result<(), SettingsError> {
    let Some(stranger) = map.keys().find(|key| !keys.contains(&key.as_str())) else { return Ok(()) };
    let stranger: String = stranger.chars().take(64).collect();
    let nearest = keys.iter().max_by(|a, b| likeness(&stranger, a).total_cmp(&likeness(&stranger, b)));
    Err(no_such_key(format!("{at}.{stranger}"), nearest.copied().unwrap_or_default()))
}

fn groups(map: &Map<String, Value>, at: &str) -> Result<BTreeMap<String, bool>, SettingsError> {
    let groups = object(map.get("deny_groups"), at)?;
    let read = |(name, denies): (String, Value)| match denies {
        Value::Bool(denies) => Ok((name, denies)),
        _ => Err(fault(format!("{at}.{name}"), "true (deny) or false (allow) is needed")),
    };
    groups.into_iter().map(read).collect()
}

/// What is set for one agent, and where it stands.
fn own(exec: &Map<String, Value>, agent: Option<&str>) -> Result<(String, Map<String, Value>), SettingsError> {
    let agents = object(exec.get("agents"), "exec.agents")?;
    let Some((agent, own)) = agent.and_then(|agent| Some((agent, agents.get(agent)?))) else {
        return Ok((String::new(), Map::new()));
    };
    let at = format!("exec.agents.{agent}");
    let own = object(Some(own), &at)?;
    known(&own, &AGENT_KEYS, &at)?;
    Ok((at, own))
}

fn switches(exec: &Map<String, Value>, own: &Map<String, Value>, at: &str) -> Result<Switches, SettingsError> {
    let for_all = groups(exec, "exec.deny_groups")?;
    let own = groups(own, &format!("{at}.deny_groups"))?;
    Switches::from_maps(&for_all, &own).map_err(|unknown| fault("exec.deny_groups", unknown.to_string()))
}

fn ask(map: &Map<String, Value>, at: &str) -> Result<Option<Ask>, SettingsError> {
    match map.get("ask").map(Value::as_str) {
        None => Ok(None),
        Some(Some("off")) => Ok(Some(Ask::Off)),
        Some(Some("on-miss")) => Ok(Some(Ask::OnMiss)),
        Some(Some("always")) => Ok(Some(Ask::Always)),
        Some(_) => Err(fault(format!("{at}.ask"), "`off`, `on-miss` or `always` is needed")),
    }
}

/// A container, whole: what is set for an agent takes the place of what is set for all.
fn sandbox(map: &Map<String, Value>, at: &str) -> Result<Option<Sandbox>, SettingsError> {
    let Some(value) = map.get("sandbox_config") else { return Ok(None) };
    let sandbox = serde_json::from_value(value.clone());
    sandbox.map(Some).map_err(|error| fault(format!("{at}.sandbox_config"), error.to_string()))
}

fn mode(exec: &Map<String, Value>) -> Result<Mode, SettingsError> {
    let programs = match exec.get("programs") {
        None => None,
        Some(Value::Array(entries)) => {
            let words: Option<Vec<&str>> = entries.iter().map(Value::as_str).collect();
            let words =
                words.ok_or_else(|| fault("exec.programs", "a list of texts such as `git status *` is needed"))?;
            Some(Allowlist::new(&words).map_err(|invalid| fault("exec.programs", invalid.to_string()))?)
        }
        Some(_) => return Err(fault("exec.programs", "a list of texts such as `git status *` is needed")),
    };
    match (exec.get("mode").map(Value::as_str), programs) {
        (None | Some(Some("deny-groups")), None) => Ok(Mode::DenyGroups),
        (Some(Some("allowlist")), programs) => Ok(Mode::Allowlist(programs.unwrap_or_default())),
        (None | Some(Some("deny-groups")), Some(_)) => {
            Err(fault("exec.programs", "a list of programs needs `\"mode\": \"allowlist\"` beside it"))
        }
        (Some(_), _) => Err(fault("exec.mode", "`deny-groups` or `allowlist` is needed")),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use caisson_guard::shell::Group;
    use serde_json::json;

    fn refused(value: &Value) -> String {
        ExecSettings::check(value).unwrap_err().to_string()
    }

    #[test]
    fn what_is_misspelt_is_named_with_the_nearest_and_lifts_nothing() {
        for (value, words) in [
            (
                json!({ "exec": { "deny_group": {} } }),
                "`exec.deny_group`: there is no such key; the nearest is `deny_groups`",
            ),
            (json!({ "exec": { "deny_groups": { "packge_install": false } } }), "`package_install`"),
            (json!({ "exec": { "deny_groups": { "package_install": "no" } } }), "true (deny) or false (allow)"),
            (json!({ "exec": { "agents": { "a": { "deny_groups": { "all": false } } } } }), "is not a deny group"),
            (json!({ "exec": { "agents": { "a": { "mode": "allowlist" } } } }), "the nearest is `deny_groups`"),
            (json!({ "exec": { "mode": "allow" } }), "`exec.mode`"),
            (json!({ "exec": { "ask": "never" } }), "`exec.ask`: `off`, `on-miss` or `always`"),
            (json!({ "exec": { "ask": false } }), "`exec.ask`"),
            (json!({ "exec": { "sandbox_config": null } }), "`exec.sandbox_config`"),
            (json!({ "exec": { "sandbox_config": { "image": "a", "network": "host" } } }), "unknown field `network`"),
            (
                json!({ "exec": { "agents": { "a": { "sandbox_config": {} } } } }),
                "`exec.agents.a.sandbox_config`: missing",
            ),
            (json!({ "exec": { "agents": { "a": { "ask": "sometimes" } } } }), "`exec.agents.a.ask`"),
            (json!({ "exec": { "programs": ["git"] } }), "\"mode\": \"allowlist\""),
            (json!({ "exec": { "mode": "allowlist", "programs": ["$x"] } }), "no entry of an allowlist"),
            (json!({ "exec": [] }), "an object"),
            (json!({ "mode": "allowlist", "programs": ["ls"] }), "belongs into the object `exec`"),
            (json!({ "exec.deny_groups": {} }), "belongs into the object `exec`"),
            (json!({ "execc": {} }), "the nearest is `exec`"),
            (json!({ "timeout": 5 }), "the nearest is `timeout_seconds`"),
            (json!({ "timeout_seconds": 0 }), "from 1 to 3600"),
            (json!({ "timeout_seconds": 3601 }), "from 1 to 3600"),
            (json!({ "timeout_seconds": 1.5 }), "from 1 to 3600"),
        ] {
            assert!(refused(&value).contains(words), "{value}: {}", refused(&value));
        }
    }

    #[test]
    fn the_agents_own_switch_wins_and_the_rest_holds() {
        let text = json!({ "timeout_seconds": 5, "exec": {
            "deny_groups": { "package_install": false, "env_dump": false },
            "agents": { "builder": { "deny_groups": { "env_dump": true } } },
        } });
        ExecSettings::check(&text).unwrap();
        ExecSettings::check(&json!({ "greeting": "hello" })).unwrap();
        let text = text.to_string();
        let other = ExecSettings::read(&text, Some("writer")).unwrap();
        assert!(!other.switches.denies(Group::EnvDump) && other.switches.denies(Group::Persistence));
        let builder = ExecSettings::read(&text, Some("builder")).unwrap();
        assert!(builder.switches.denies(Group::EnvDump) && !builder.switches.denies(Group::PackageInstall));
        assert_eq!(builder.timeout, Duration::from_secs(5));
    }

    #[test]
    fn an_agents_own_container_takes_the_place_of_the_one_for_all() {
        assert_eq!(ExecSettings::read("{}", None).unwrap().sandbox, None);
        let own = json!({ "b": { "sandbox_config": { "image": "own", "timeout_sec": 20 } }, "c": {} });
        let value = json!({ "exec": { "sandbox_config": { "image": "all", "memory_mb": 64 }, "agents": own } });
        for (agent, image, seconds) in [(None, "all", 300), (Some("b"), "own", 20), (Some("c"), "all", 300)] {
            let read = ExecSettings::read(&value.to_string(), agent).unwrap();
            assert_eq!(read.sandbox.as_ref().map(Sandbox::image), Some(image), "{agent:?}");
            assert_eq!(read.timeout.as_secs(), seconds, "{agent:?}");
        }
        let mut set = value;
        set["timeout_seconds"] = json!(7);
        assert_eq!(ExecSettings::read(&set.to_string(), Some("b")).unwrap().timeout.as_secs(), 7);
    }

    #[test]
    fn nobody_is_asked_unless_it_is_set_and_the_agents_own_word_wins() {
        assert_eq!(ExecSettings::read("{}", None).unwrap().ask, Ask::Off);
        let text = json!({ "exec": { "ask": "always", "agents": { "a": { "ask": "off" }, "b": {} } } }).to_string();
        for (agent, expected) in [(None, Ask::Always), (Some("a"), Ask::Off), (Some("b"), Ask::Always)] {
            assert_eq!(ExecSettings::read(&text, agent).unwrap().ask, expected, "{agent:?}");
        }
    }

    #[test]
    fn a_timeout_out_of_range_is_brought_into_it_when_it_is_used() {
        let timeout = |value: Value| ExecSettings::read(&value.to_string(), None).unwrap().timeout.as_secs();
        assert_eq!(timeout(json!({})), 60);
        assert_eq!(timeout(json!({ "timeout_seconds": -5 })), 60);
        assert_eq!(timeout(json!({ "timeout_seconds": "many" })), 60);
        assert_eq!(timeout(json!({ "timeout_seconds": 100_000 })), 3_600);
    }
}
