//! Allow and deny lists of a tenant and of an agent.

use crate::{Decision, Step, canonical};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Lists of one level. An entry is a tool's name or alias, `group:NAME`, `plugin:NAME`, or `*` for every tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Policy {
    /// Only these; `None` allows all, an empty list allows none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Never these, whatever any level allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

impl Policy {
    /// Whether this level offers a tool.
    ///
    /// # Errors
    /// The rule that decided: `policy.deny` with the entry, or `policy.not-allowed`.
    pub fn offered(&self, name: &str, plugin: &str, groups: &[String]) -> Result<(), String> {
        self.offered_at("policy", name, plugin, groups)
    }

    fn offered_at(&self, level: &str, name: &str, plugin: &str, groups: &[String]) -> Result<(), String> {
        self.denied_at(level, name, plugin, groups)?;
        match &self.allow {
            Some(allow) if !allow.iter().any(|entry| matches(entry, name, plugin, groups)) => {
                Err(format!("{level}.not-allowed"))
            }
            _ => Ok(()),
        }
    }

    fn denied_at(&self, level: &str, name: &str, plugin: &str, groups: &[String]) -> Result<(), String> {
        match self.deny.iter().find(|entry| matches(entry, name, plugin, groups)) {
            Some(entry) => Err(format!("{level}.deny {entry}")),
            None => Ok(()),
        }
    }
}

/// The policies that hold for one request, outermost first, each with the name of its level: `installation`, `tenant`,
/// `agent`. All of them must offer a tool; a denial at any level wins over every permission.
#[derive(Clone, Debug, Default)]
pub struct Layered {
    levels: Vec<(String, Policy)>,
}

impl Layered {
    /// Levels, outermost first.
    #[must_use]
    pub fn new(levels: Vec<(String, Policy)>) -> Self {
        Self { levels }
    }

    /// Whether a tool is offered.
    ///
    /// # Errors
    /// The rule that decided, such as `policy.tenant.deny group:fs` or `policy.agent.not-allowed`.
    pub fn offered(&self, name: &str, plugin: &str, groups: &[String]) -> Result<(), String> {
        // Denials of all levels are asked first, so that the answer names the one that no permission could lift.
        for (level, policy) in &self.levels {
            policy.denied_at(&format!("policy.{level}"), name, plugin, groups)?;
        }
        for (level, policy) in &self.levels {
            policy.offered_at(&format!("policy.{level}"), name, plugin, groups)?;
        }
        Ok(())
    }

    /// The same, with what each level said.
    #[must_use]
    pub fn explain(&self, name: &str, plugin: &str, groups: &[String]) -> Vec<Step> {
        let mut steps = Vec::new();
        for (level, policy) in &self.levels {
            let rule = format!("policy.{level}");
            match policy.offered_at(&rule, name, plugin, groups) {
                Ok(()) => steps.push(Step::new(rule, Decision::Allow, format!("the {level}'s policy offers `{name}`"))),
                Err(decided) => {
                    let what = format!("the {level}'s policy does not offer `{name}`; {}", remedy(&decided));
                    steps.push(Step::new(decided, Decision::Deny, what));
                }
            }
        }
        steps
    }
}

fn remedy(rule: &str) -> String {
    match rule.split_once(".deny ") {
        Some((_, entry)) => format!("it is denied by the entry `{entry}`, which would have to go from `deny`"),
        None => "its name, a group or its plugin would have to be in `allow`".into(),
    }
}

fn matches(entry: &str, name: &str, plugin: &str, groups: &[String]) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some(group) = entry.strip_prefix("group:") {
        return groups.iter().any(|g| g == group);
    }
    if let Some(wanted) = entry.strip_prefix("plugin:") {
        return wanted == plugin;
    }
    // Both sides: an alias in the list covers its tool, and a tool in the list covers a call by alias.
    canonical(entry) == canonical(name)
}

/// What a tenant has, to check lists against.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Names of tools.
    pub tools: BTreeSet<String>,
    /// Groups, without `group:`.
    pub groups: BTreeSet<String>,
    /// Names of plugins.
    pub plugins: BTreeSet<String>,
}

/// Checks a list before it is saved. An unknown name would quietly allow or deny nothing, so it is an error.
///
/// # Errors
/// One sentence for each unknown or malformed entry, with the nearest known one.
pub fn check_list(list: &[String], known: &Known) -> Result<(), Vec<String>> {
    let faults: Vec<String> = list.iter().filter_map(|entry| fault(entry, known)).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn fault(entry: &str, known: &Known) -> Option<String> {
    if entry == "*" {
        return None;
    }
    let (what, prefix, name, names) = match entry.split_once(':') {
        Some(("group", name)) => ("group", "group:", name, &known.groups),
        Some(("plugin", name)) => ("plugin", "plugin:", name, &known.plugins),
        Some((kind, _)) => {
            return Some(format!(
                "`{}` is no kind of entry: use a tool's name, `group:NAME`, `plugin:NAME` or `*`",
                shown(kind)
            ));
        }
        None => ("tool", "", canonical(entry), &known.tools),
    };
    if names.contains(name) {
        return None;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let hint = match crate::nearest(name, &names).first() {
        Some(near) => format!("; did you mean `{prefix}{near}`?"),
        None if names.is_empty() => format!("; there is no {what} yet"),
        None => format!("; `caisson list` shows every {what}"),
    };
    Some(format!("there is no {what} `{}`{hint}", shown(name)))
}

fn shown(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_default).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn list(entries: &[&str]) -> Vec<String> {
        entries.iter().map(|e| (*e).to_owned()).collect()
    }

    fn policy(allow: Option<&[&str]>, deny: &[&str]) -> Policy {
        Policy { allow: allow.map(list), deny: list(deny) }
    }

    #[test]
    fn deny_wins_over_allow_at_every_level_and_for_aliases_groups_and_plugins() {
        let groups = list(&["fs", "runtime"]);
        for deny in ["exec", "bash", "group:runtime", "plugin:shell", "*"] {
            let denied = policy(Some(&["exec", "*"]), &[deny]);
            assert_eq!(denied.offered("exec", "shell", &groups), Err(format!("policy.deny {deny}")), "{deny}");
            let layered = Layered::new(vec![("tenant".into(), policy(Some(&[]), &[])), ("agent".into(), denied)]);
            assert_eq!(layered.offered("exec", "shell", &groups), Err(format!("policy.agent.deny {deny}")));
        }
        assert_eq!(policy(None, &["exec"]).offered("bash", "shell", &groups), Err("policy.deny exec".into()));
        assert!(policy(None, &["mcp_server__tool"]).offered("mcp_server__tool", "mcp", &[]).is_err());
    }

    #[test]
    fn an_empty_allow_list_offers_nothing_and_an_absent_one_everything() {
        assert_eq!(policy(Some(&[]), &[]).offered("calc", "text", &[]), Err("policy.not-allowed".into()));
        assert_eq!(policy(None, &[]).offered("calc", "text", &[]), Ok(()));
    }

    #[test]
    fn every_level_must_allow() {
        let tenant = ("tenant".to_owned(), policy(Some(&["plugin:text"]), &[]));
        let agent = ("agent".to_owned(), policy(Some(&["calc"]), &[]));
        let layered = Layered::new(vec![tenant, agent]);
        assert_eq!(layered.offered("regex", "text", &[]), Err("policy.agent.not-allowed".into()));
        assert_eq!(layered.offered("calc", "other", &[]), Err("policy.tenant.not-allowed".into()));
        assert_eq!(layered.offered("calc", "text", &[]), Ok(()));
        let steps = layered.explain("regex", "text", &[]);
        assert_eq!(steps.iter().map(|s| s.decision).collect::<Vec<_>>(), [Decision::Allow, Decision::Deny]);
    }

    #[test]
    fn an_unknown_entry_is_refused_with_the_nearest() {
        let known = Known {
            tools: list(&["read_file", "exec"]).into_iter().collect(),
            groups: list(&["fs"]).into_iter().collect(),
            plugins: BTreeSet::new(),
        };
        let faults =
            check_list(&list(&["raed_file", "group:typo", "plugin:x", "tool:exec", "bash", "group:fs", "*"]), &known);
        let faults = faults.unwrap_err();
        assert_eq!(faults.len(), 4, "{faults:?}");
        assert_eq!(faults.first().unwrap(), "there is no tool `raed_file`; did you mean `read_file`?");
        assert!(faults.get(2).unwrap().contains("there is no plugin yet"), "{faults:?}");
        assert_eq!(check_list(&list(&["read_file", "bash", "group:fs", "*"]), &known), Ok(()));
    }
}
