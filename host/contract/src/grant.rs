//! What one set of capabilities has that another lacks.
//!
//! The comparison is structural and errs to the strict side: a rule is covered where every host, method and port of it is
//! covered by one rule of the other side. At run time all layers are asked anyway (see [`crate::Layers`]); this is for people
//! who decide, and for refusing a grant that says more than was declared.

use crate::value::shown;
use crate::{Access, Capabilities, ExecRule, FilesRule, Hosts, HttpRule};
use std::collections::BTreeMap;

/// Lines for what is asked for and not granted, one capability each, for people.
#[must_use]
pub fn difference(declared: &Capabilities, granted: &Capabilities) -> Vec<String> {
    uncovered(declared, granted)
}

/// Lines for what a request has beyond a bound; empty where the request is equal or narrower.
#[must_use]
pub fn exceeds(request: &Capabilities, bound: &Capabilities) -> Vec<String> {
    uncovered(request, bound)
}

impl Capabilities {
    /// One line for each thing that is allowed, for people; empty where nothing is.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        uncovered(self, &Self::default())
    }

    /// Whether nothing is allowed.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.lines().is_empty()
    }
}

fn uncovered(asked: &Capabilities, bound: &Capabilities) -> Vec<String> {
    let mut lines = Vec::new();
    for (mount, rule) in &asked.files {
        files(mount, rule, bound.files.get(mount), &mut lines);
    }
    for rule in &asked.http {
        http(rule, &bound.http, &mut lines);
    }
    for rule in &asked.tcp {
        if !bound.tcp.contains(rule) {
            lines.push(format!("tcp to `{}:{}`", shown(&rule.host), rule.port));
        }
    }
    exec(asked.exec.as_ref(), bound.exec.as_ref(), &mut lines);
    accesses("documents", &asked.documents, &bound.documents, &mut lines);
    accesses("keyvalue", &asked.keyvalue, &bound.keyvalue, &mut lines);
    names("call of the tool", &asked.tools, &bound.tools, &mut lines);
    names("runtime request", &asked.runtime, &bound.runtime, &mut lines);
    for (word, asked, bound) in [
        ("schedule", asked.schedule, bound.schedule),
        ("pages", asked.pages, bound.pages),
        ("data", asked.data, bound.data),
        ("outputs", asked.outputs, bound.outputs),
    ] {
        if asked && !bound {
            lines.push(word.to_owned());
        }
    }
    lines
}

fn files(mount: &str, rule: &FilesRule, bound: Option<&FilesRule>, lines: &mut Vec<String>) {
    let all = [String::from("**")];
    let globs = rule.paths.as_deref().unwrap_or(&all);
    for glob in globs {
        let covered =
            bound.is_some_and(|bound| bound.access >= rule.access && globs_cover(bound.paths.as_deref(), glob, ""));
        if !covered {
            let place = if rule.paths.is_none() { shown(mount) } else { format!("{}/{}", shown(mount), shown(glob)) };
            lines.push(format!("files {} in `{place}`", word(rule.access)));
        }
    }
}

/// Whether one of the bound's globs covers a glob: the same, everything, or a folder that it lies in as a whole.
fn globs_cover(bound: Option<&[String]>, glob: &str, root: &str) -> bool {
    let Some(bound) = bound else { return true };
    bound.iter().any(|wider| {
        let folder = wider.strip_suffix("**");
        wider == glob
            || folder.is_some_and(|folder| {
                let plain = !folder.contains(['*', '?', '[', '{', '\\']);
                folder == root
                    || folder.is_empty()
                    || (plain && folder.ends_with('/') && glob.len() > folder.len() && glob.starts_with(folder))
            })
    })
}

fn http(rule: &HttpRule, bounds: &[HttpRule], lines: &mut Vec<String>) {
    let named;
    let hosts = match &rule.hosts {
        Hosts::List(hosts) => hosts,
        Hosts::Named(_) => {
            named = vec![String::from("the hosts of its settings")];
            &named
        }
    };
    for host in hosts {
        let missing: Vec<&str> = methods(rule)
            .into_iter()
            .filter(|method| {
                !endpoints(rule)
                    .iter()
                    .all(|endpoint| bounds.iter().any(|bound| covers(bound, rule, host, method, endpoint)))
            })
            .collect();
        if !missing.is_empty() {
            lines.push(http_line(rule, host, &missing));
        }
    }
}

fn http_line(rule: &HttpRule, host: &str, methods: &[&str]) -> String {
    let mut line = format!("http {} to `{}`", methods.join(", "), shown(host));
    let schemes = schemes(rule);
    if schemes != ["https"] {
        line.push_str(&format!(" by {}", schemes.join(", ")));
    }
    if let Some(ports) = &rule.ports {
        line.push_str(&format!(" on port {}", ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")));
    }
    if let Some(paths) = &rule.paths {
        line.push_str(&format!(
            " under {}",
            paths.iter().map(|p| format!("`{}`", shown(p))).collect::<Vec<_>>().join(", ")
        ));
    }
    if !rule.credentials.is_empty() {
        line.push_str(&format!(
            " with {}",
            rule.credentials.iter().map(|c| format!("`{}`", shown(c))).collect::<Vec<_>>().join(", ")
        ));
    }
    if rule.reads {
        line.push_str(" (counts as reading)");
    }
    line
}

fn covers(bound: &HttpRule, rule: &HttpRule, host: &str, method: &str, endpoint: &(&str, u16)) -> bool {
    let path_covered = match &rule.paths {
        None => bound.paths.is_none() || globs_cover(bound.paths.as_deref(), "/**", "/"),
        Some(paths) => paths.iter().all(|path| globs_cover(bound.paths.as_deref(), path, "/")),
    };
    hosts_cover(bound, rule, host)
        && methods(bound).contains(&method)
        && endpoints(bound).contains(endpoint)
        && path_covered
        && (bound.reads || !rule.reads)
        && rule.credentials.iter().all(|name| bound.credentials.contains(name))
}

fn hosts_cover(bound: &HttpRule, rule: &HttpRule, host: &str) -> bool {
    let named = matches!(rule.hosts, Hosts::Named(_));
    let inside = match &bound.hosts {
        // What the settings name is up to the tenant, and so is a grant: a list in place of them is a choice it may make.
        Hosts::Named(_) => true,
        Hosts::List(patterns) if named => patterns.iter().any(|p| p == "*"),
        Hosts::List(patterns) => patterns.iter().any(|p| pattern_covers(p, host)),
    };
    // What the bound blocks must be blocked by the rule too, unless the rule cannot reach it.
    inside
        && bound.blocked_hosts.iter().all(|blocked| {
            let unreachable = !named && !pattern_covers(host, blocked) && !pattern_covers(blocked, host);
            unreachable || rule.blocked_hosts.iter().any(|own| pattern_covers(own, blocked))
        })
}

/// Whether every host of `inner` is one of `outer`.
fn pattern_covers(outer: &str, inner: &str) -> bool {
    let below = |suffix: &str| {
        inner.strip_prefix('*').unwrap_or(inner).ends_with(suffix) && inner != suffix.trim_start_matches('.')
    };
    outer == "*" || outer == inner || outer.strip_prefix('*').is_some_and(below)
}

fn methods(rule: &HttpRule) -> Vec<&str> {
    rule.methods.as_ref().map_or_else(|| vec!["GET", "HEAD"], |methods| methods.iter().map(String::as_str).collect())
}

fn schemes(rule: &HttpRule) -> Vec<&str> {
    rule.schemes.as_ref().map_or_else(|| vec!["https"], |schemes| schemes.iter().map(String::as_str).collect())
}

fn endpoints(rule: &HttpRule) -> Vec<(&str, u16)> {
    let own = |scheme: &str| if scheme == "http" { 80 } else { 443 };
    schemes(rule)
        .into_iter()
        .flat_map(|scheme| match &rule.ports {
            None => vec![(scheme, own(scheme))],
            Some(ports) => ports.iter().map(|port| (scheme, *port)).collect(),
        })
        .collect()
}

fn exec(asked: Option<&ExecRule>, bound: Option<&ExecRule>, lines: &mut Vec<String>) {
    let Some(asked) = asked else { return };
    let nothing = ExecRule::default();
    let bound = bound.unwrap_or(&nothing);
    if asked.shell && !bound.shell {
        lines.push("exec of a whole shell".into());
    }
    if asked.network && !bound.network {
        lines.push("network for commands".into());
    }
    for program in &asked.programs {
        if !bound.programs.contains(program) && !bound.shell {
            lines.push(format!("exec of `{}`", shown(program)));
        }
    }
}

fn accesses(what: &str, asked: &BTreeMap<String, Access>, bound: &BTreeMap<String, Access>, lines: &mut Vec<String>) {
    for (name, access) in asked {
        if bound.get(name).is_none_or(|bound| bound < access) {
            lines.push(format!("{what} {} in `{}`", word(*access), shown(name)));
        }
    }
}

fn names(what: &str, asked: &[String], bound: &[String], lines: &mut Vec<String>) {
    for name in asked {
        if !bound.contains(name) {
            lines.push(format!("{what} `{}`", shown(name)));
        }
    }
}

fn word(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::ReadWrite => "read-write",
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use serde_json::{Value, json};

    fn over(request: Value, bound: Value) -> Vec<String> {
        exceeds(&serde_json::from_value(request).unwrap(), &serde_json::from_value(bound).unwrap())
    }

    #[test]
    fn more_than_the_bound_is_listed() {
        for (request, bound, line) in [
            (
                json!({"files": {"/workspace": "read-write"}}),
                json!({"files": {"/workspace": "read"}}),
                "files read-write in `/workspace`",
            ),
            (
                json!({"files": {"/workspace": "read"}}),
                json!({"files": {"/workspace": {"access": "read", "paths": ["a/**"]}}}),
                "files read in `/workspace`",
            ),
            (
                json!({"files": {"/workspace": {"access": "read", "paths": ["ab/**"]}}}),
                json!({"files": {"/workspace": {"access": "read", "paths": ["a/**"]}}}),
                "files read in `/workspace/ab/**`",
            ),
            (json!({"http": [{"hosts": ["x.example"]}]}), json!({}), "http GET, HEAD to `x.example`"),
            (
                json!({"http": [{"hosts": ["example.com"]}]}),
                json!({"http": [{"hosts": ["*.example.com"]}]}),
                "http GET, HEAD to `example.com`",
            ),
            (
                json!({"http": [{"hosts": ["*.example.com"]}]}),
                json!({"http": [{"hosts": ["a.example.com"]}]}),
                "http GET, HEAD to `*.example.com`",
            ),
            (
                json!({"http": [{"hosts": ["badexample.com"]}]}),
                json!({"http": [{"hosts": ["*.example.com"]}]}),
                "http GET, HEAD to `badexample.com`",
            ),
            (
                json!({"http": [{"hosts": ["x.example"], "methods": ["GET", "POST"]}]}),
                json!({"http": [{"hosts": ["x.example"]}]}),
                "http POST to `x.example`",
            ),
            (
                json!({"http": [{"hosts": ["x.example"], "ports": [8443]}]}),
                json!({"http": [{"hosts": ["x.example"]}]}),
                "http GET, HEAD to `x.example` on port 8443",
            ),
            (
                json!({"http": [{"hosts": ["x.example"], "schemes": ["http"]}]}),
                json!({"http": [{"hosts": ["*"]}]}),
                "http GET, HEAD to `x.example` by http",
            ),
            (
                json!({"http": [{"hosts": ["x.example"]}]}),
                json!({"http": [{"hosts": ["x.example"], "paths": ["/v1/**"]}]}),
                "http GET, HEAD to `x.example`",
            ),
            (
                json!({"http": [{"hosts": ["*"]}]}),
                json!({"http": [{"hosts": ["*"], "blocked-hosts": ["e.example"]}]}),
                "http GET, HEAD to `*`",
            ),
            (
                json!({"http": [{"hosts": "settings"}]}),
                json!({"http": [{"hosts": ["x.example"]}]}),
                "http GET, HEAD to `the hosts of its settings`",
            ),
            (
                json!({"http": [{"hosts": ["x.example"], "reads": true}]}),
                json!({"http": [{"hosts": ["x.example"]}]}),
                "http GET, HEAD to `x.example` (counts as reading)",
            ),
            (
                json!({"http": [{"hosts": ["x.example"], "credentials": ["k"]}]}),
                json!({"http": [{"hosts": ["x.example"]}]}),
                "http GET, HEAD to `x.example` with `k`",
            ),
            (json!({"tcp": [{"host": "d", "port": 1}]}), json!({"tcp": [{"host": "d", "port": 2}]}), "tcp to `d:1`"),
            (json!({"exec": {"programs": ["rg"]}}), json!({"exec": {"programs": ["git"]}}), "exec of `rg`"),
            (json!({"exec": {"shell": true}}), json!({"exec": {"programs": ["git"]}}), "exec of a whole shell"),
            (
                json!({"exec": {"shell": true, "network": true}}),
                json!({"exec": {"shell": true}}),
                "network for commands",
            ),
            (
                json!({"documents": {"n": "read-write"}}),
                json!({"documents": {"n": "read"}}),
                "documents read-write in `n`",
            ),
            (json!({"keyvalue": {"n": "read"}}), json!({}), "keyvalue read in `n`"),
            (json!({"tools": ["calc"]}), json!({}), "call of the tool `calc`"),
            (json!({"runtime": ["ask"]}), json!({}), "runtime request `ask`"),
            (json!({"schedule": true}), json!({}), "schedule"),
            (json!({"outputs": true}), json!({"data": true, "pages": true}), "outputs"),
        ] {
            assert_eq!(over(request, bound), [line]);
        }
    }

    #[test]
    fn equal_or_narrower_passes() {
        for (request, bound) in [
            (json!({}), json!({})),
            (
                json!({"files": {"/workspace": {"access": "read", "paths": ["a/b/*"]}}}),
                json!({"files": {"/workspace": "read-write"}}),
            ),
            (
                json!({"files": {"/workspace": {"access": "read", "paths": ["a/b/*"]}}}),
                json!({"files": {"/workspace": {"access": "read", "paths": ["a/**"]}}}),
            ),
            (
                json!({"http": [{"hosts": ["a.b.example.com", "*.x.example.com"], "methods": ["GET"], "paths": ["/v1/*"]}]}),
                json!({"http": [{"hosts": ["*.example.com"], "paths": ["/v1/**"]}]}),
            ),
            (
                json!({"http": [{"hosts": ["x.example"], "methods": ["GET", "POST"]}]}),
                json!({"http": [{"hosts": ["x.example"]}, {"hosts": ["*"], "methods": ["POST"]}]}),
            ),
            (json!({"http": [{"hosts": ["x.example"], "ports": [443]}]}), json!({"http": [{"hosts": ["x.example"]}]})),
            (
                json!({"http": [{"hosts": ["x.example"]}]}),
                json!({"http": [{"hosts": ["*"], "blocked-hosts": ["e.example"]}]}),
            ),
            (
                json!({"http": [{"hosts": ["*"], "blocked-hosts": ["*.example"]}]}),
                json!({"http": [{"hosts": ["*"], "blocked-hosts": ["e.example"]}]}),
            ),
            (json!({"http": [{"hosts": "settings"}]}), json!({"http": [{"hosts": "settings"}]})),
            (json!({"http": [{"hosts": ["x.example"]}]}), json!({"http": [{"hosts": "settings"}]})),
            (json!({"exec": {"programs": ["rg"]}}), json!({"exec": {"shell": true}})),
            (json!({"exec": {"programs": []}}), json!({})),
            (json!({"documents": {"n": "read"}}), json!({"documents": {"n": "read-write"}})),
        ] {
            assert_eq!(over(request.clone(), bound), Vec::<String>::new(), "{request}");
        }
    }

    #[test]
    fn everything_exceeds_nothing_and_nothing_has_no_lines() {
        assert!(Capabilities::default().is_nothing());
        let all: Capabilities =
            serde_json::from_value(json!({"http": [{"hosts": "settings"}], "pages": true})).unwrap();
        assert_eq!(all.lines().len(), 2);
        assert_eq!(difference(&all, &all), Vec::<String>::new());
    }
}
