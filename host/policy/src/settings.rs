//! `hosts = "settings"`: the hosts that a tenant's settings of the plugin name.

use caisson_contract::{Capabilities, Hosts, HttpRule, host_pattern};
use serde_json::Value;

/// What settings say about hosts. The default allows none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct NamedHosts {
    allowed: Vec<String>,
    blocked: Vec<String>,
}

/// Puts the named hosts in place of `"settings"` in every rule. `None`, and settings that do not say clearly which hosts are
/// meant, name no host.
pub(crate) fn resolve(capabilities: &Capabilities, settings: Option<&Value>) -> Capabilities {
    let mut resolved = capabilities.clone();
    if resolved.http.iter().any(|rule| matches!(rule.hosts, Hosts::Named(_))) {
        let named = settings.and_then(named_hosts).unwrap_or_default();
        for rule in &mut resolved.http {
            fill(rule, &named);
        }
    }
    resolved
}

fn fill(rule: &mut HttpRule, named: &NamedHosts) {
    match &rule.hosts {
        Hosts::List(_) => {}
        Hosts::Named(word) if word == "settings" => {
            rule.hosts = Hosts::List(named.allowed.clone());
            rule.blocked_hosts.extend(named.blocked.iter().cloned());
        }
        // No other word means anything, so it allows nothing.
        Hosts::Named(_) => rule.hosts = Hosts::List(Vec::new()),
    }
}

/// `None` where anything is malformed: half a list could leave out the one entry that blocks.
fn named_hosts(settings: &Value) -> Option<NamedHosts> {
    let settings = settings.as_object()?;
    let blocked = patterns(settings.get("blocked_domains"))?;
    let allowed = match settings.get("policy")?.as_str()? {
        "allow_all" => vec!["*".to_owned()],
        "allow_domains" => patterns(settings.get("allowed_domains"))?,
        _ => return None,
    };
    Some(NamedHosts { allowed, blocked })
}

fn patterns(list: Option<&Value>) -> Option<Vec<String>> {
    match list {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(list) => list.as_array()?.iter().map(|entry| pattern(entry.as_str()?)).collect(),
    }
}

/// People write `Example.com.`; names are compared in lower case and without the root's dot.
fn pattern(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.strip_suffix('.').unwrap_or(&text);
    host_pattern(text).ok()?;
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use serde_json::json;

    fn asked(settings: Option<&Value>) -> HttpRule {
        let declared: Capabilities =
            serde_json::from_value(json!({ "http": [{ "hosts": "settings", "blocked-hosts": ["a.example"] }] }))
                .unwrap();
        resolve(&declared, settings).http.pop().unwrap()
    }

    fn hosts(rule: &HttpRule) -> &[String] {
        match &rule.hosts {
            Hosts::List(hosts) => hosts,
            Hosts::Named(_) => &[],
        }
    }

    #[test]
    fn absent_or_malformed_settings_name_no_host() {
        assert!(hosts(&asked(None)).is_empty());
        for settings in [
            json!(null),
            json!("allow_all"),
            json!({}),
            json!({ "policy": true }),
            json!({ "policy": "allow-all" }),
            json!({ "policy": "allow_domains" }),
            json!({ "policy": "allow_domains", "allowed_domains": "x.example" }),
            json!({ "policy": "allow_domains", "allowed_domains": ["x.example", 7] }),
            json!({ "policy": "allow_domains", "allowed_domains": ["https://x.example"] }),
            json!({ "policy": "allow_all", "blocked_domains": ["bad one"] }),
            json!({ "policy": "allow_all", "blocked_domains": { "x": 1 } }),
        ] {
            let rule = asked(Some(&settings));
            assert_eq!(rule.hosts, Hosts::List(vec![]), "{settings}");
        }
        let other: Capabilities = serde_json::from_value(json!({ "http": [{ "hosts": "anything" }] })).unwrap();
        assert_eq!(
            resolve(&other, Some(&json!({ "policy": "allow_all" }))).http.pop().unwrap().hosts,
            Hosts::List(vec![])
        );
    }

    #[test]
    fn settings_name_hosts_and_block_others() {
        let rule = asked(Some(
            &json!({ "policy": "allow_domains", "allowed_domains": ["Docs.Example.com.", "*.example.org"] }),
        ));
        assert_eq!(hosts(&rule), ["docs.example.com", "*.example.org"]);
        let rule = asked(Some(&json!({ "policy": "allow_all", "blocked_domains": ["evil.example"] })));
        assert_eq!(hosts(&rule), ["*"]);
        assert_eq!(rule.blocked_hosts, ["a.example", "evil.example"]);
    }
}
