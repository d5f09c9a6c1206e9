//! Checks of what `list-tools` says and of capabilities that do not come from a manifest.

use crate::value::{self, shown};
use crate::{Capabilities, Hosts, ToolSpec};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Most tools of one plugin: past it no model chooses well, and every list of tools carries them.
const MAX_TOOLS: usize = 128;

/// Most bytes of a description; it is in every request to the model.
const MAX_DESCRIPTION: usize = 4 << 10;

/// Most bytes of a schema.
const MAX_SCHEMA: usize = 64 << 10;

/// Deepest schema; validators recurse.
const MAX_SCHEMA_DEPTH: usize = 32;

/// Most subschemas after every reference is followed. References can double at each step, so 40 lines can ask for 2⁴⁰ of them.
const MAX_EXPANSION: u64 = 10_000;

/// Most groups of one tool.
const MAX_GROUPS: usize = 16;

/// Checks the tools of a plugin: names, descriptions, groups and the shape of schemas. Whether a schema compiles is for the
/// registry to say.
///
/// # Errors
/// One sentence for each thing that is wrong, with the tool's name.
pub fn check_tools(tools: &[ToolSpec]) -> Result<(), Vec<String>> {
    let mut faults = Vec::new();
    if tools.is_empty() {
        faults.push("the plugin has no tools; `list-tools` must name at least one".into());
    }
    if tools.len() > MAX_TOOLS {
        faults.push(format!("the plugin has {} tools; at most {MAX_TOOLS} are taken", tools.len()));
    }
    let mut seen = HashSet::new();
    for tool in tools.iter().take(MAX_TOOLS) {
        if !seen.insert(tool.name.as_str()) {
            faults.push(format!("two tools are called `{}`; a name stands once in a plugin", shown(&tool.name)));
        }
        check_tool(tool, &mut |why| faults.push(format!("tool `{}`: {why}", shown(&tool.name))));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn check_tool(tool: &ToolSpec, fault: &mut dyn FnMut(String)) {
    let mut report = |checked: Result<(), String>| {
        if let Err(why) = checked {
            fault(why);
        }
    };
    report(value::tool_name(&tool.name));
    report(text("description", &tool.description, true));
    if let Some(title) = &tool.title {
        report(text("title", title, false));
    }
    report(schema("parameters", &tool.parameters));
    if let Some(returns) = &tool.returns {
        report(schema("returns", returns));
    }
    if tool.groups.len() > MAX_GROUPS {
        report(Err(format!("it is in {} groups; at most {MAX_GROUPS} are taken", tool.groups.len())));
    }
    for group in tool.groups.iter().take(MAX_GROUPS) {
        let prefix = if group.starts_with("group:") { Err("write its groups without `group:`".into()) } else { Ok(()) };
        report(prefix.and_then(|()| value::name("a group", group, true)));
    }
    if let Some(extra) = &tool.extra {
        report(object("extra", extra).map(|_| ()));
    }
}

fn text(what: &str, text: &str, needed: bool) -> Result<(), String> {
    if needed && text.trim().is_empty() {
        return Err(format!("its {what} is empty; a model chooses by it"));
    }
    if text.len() > MAX_DESCRIPTION {
        return Err(format!("its {what} has {} bytes; at most {MAX_DESCRIPTION} are taken", text.len()));
    }
    Ok(())
}

fn object(what: &str, text: &str) -> Result<Value, String> {
    if text.len() > MAX_SCHEMA {
        return Err(format!("its {what} has {} bytes; at most {MAX_SCHEMA} are taken", text.len()));
    }
    let value = crate::duplicate_key_check(text, MAX_SCHEMA_DEPTH).map_err(|fault| {
        let place = if fault.pointer.is_empty() { String::new() } else { format!(" at `{}`", shown(&fault.pointer)) };
        format!("its {what}{place}: {}", fault.message)
    })?;
    if value.is_object() { Ok(value) } else { Err(format!("its {what} must be a JSON object")) }
}

fn schema(what: &str, text: &str) -> Result<(), String> {
    let value = object(what, text)?;
    if value.get("type").and_then(Value::as_str) != Some("object") {
        return Err(format!("its {what} must be a schema with `\"type\": \"object\"` at the root"));
    }
    let mut expansion = Expansion { root: &value, sizes: HashMap::new(), path: Vec::new() };
    expansion.size(&value).map_err(|why| format!("its {what} {why}")).map(|_| ())
}

/// Counts the subschemas that a validator may visit.
struct Expansion<'s> {
    root: &'s Value,
    /// Size of what each reference stands for.
    sizes: HashMap<&'s str, u64>,
    /// References on the way, so that recursion (a tree of comments) counts once and ends.
    path: Vec<&'s str>,
}

impl<'s> Expansion<'s> {
    fn size(&mut self, value: &'s Value) -> Result<u64, String> {
        let mut total: u64 = 1;
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    let more = match (key.as_str(), inner) {
                        ("$ref" | "$dynamicRef", Value::String(reference)) => self.reference(reference)?,
                        ("$id" | "$anchor" | "$dynamicAnchor", Value::String(_)) => {
                            return Err(format!("has `{key}`; only references such as `#/$defs/x` are taken"));
                        }
                        _ => self.size(inner)?,
                    };
                    total = total.saturating_add(more);
                }
            }
            Value::Array(items) => {
                for item in items {
                    total = total.saturating_add(self.size(item)?);
                }
            }
            _ => {}
        }
        if total > MAX_EXPANSION {
            return Err(format!(
                "has more than {MAX_EXPANSION} parts once its references are followed; make it smaller"
            ));
        }
        Ok(total)
    }

    fn reference(&mut self, reference: &'s str) -> Result<u64, String> {
        if let Some(size) = self.sizes.get(reference) {
            return Ok(*size);
        }
        if self.path.contains(&reference) {
            return Ok(1);
        }
        let pointer = reference.strip_prefix('#').ok_or_else(|| {
            format!("refers to `{}`; only references within it, such as `#/$defs/x`, are taken", shown(reference))
        })?;
        let target = self
            .root
            .pointer(pointer)
            .ok_or_else(|| format!("refers to `{}`, which is not there", shown(reference)))?;
        if self.path.len() >= MAX_SCHEMA_DEPTH {
            return Err(format!("has references more than {MAX_SCHEMA_DEPTH} deep"));
        }
        self.path.push(reference);
        let size = self.size(target);
        self.path.pop();
        let size = size?;
        self.sizes.insert(reference, size);
        Ok(size)
    }
}

/// Checks capabilities from a grant or a ceiling, whose values no manifest parser has seen.
///
/// # Errors
/// One sentence for each value that is malformed, with its place.
pub fn check_capabilities(capabilities: &Capabilities) -> Result<(), Vec<String>> {
    let mut faults = Vec::new();
    for (mount, rule) in &capabilities.files {
        if mount != crate::MOUNT {
            faults.push(format!(
                "files: there is no mount `{}`: the only one in this version is `{}`",
                shown(mount),
                crate::MOUNT
            ));
        }
        each("files", rule.paths.iter().flatten(), value::file_glob, &mut faults);
    }
    for rule in &capabilities.http {
        match &rule.hosts {
            Hosts::List(hosts) => each("http.hosts", hosts, value::host_pattern, &mut faults),
            Hosts::Named(word) if word == "settings" => {}
            Hosts::Named(word) => {
                faults.push(format!("http.hosts: `{}` must be a list or the word `settings`", shown(word)))
            }
        }
        each("http.blocked-hosts", &rule.blocked_hosts, value::host_pattern, &mut faults);
        each("http.methods", rule.methods.iter().flatten(), value::method, &mut faults);
        each("http.paths", rule.paths.iter().flatten(), value::url_glob, &mut faults);
        each("http.schemes", rule.schemes.iter().flatten(), value::scheme, &mut faults);
        if rule.ports.iter().flatten().any(|port| *port == 0) {
            faults.push("http.ports: `0` is not a port: use 1 to 65535".into());
        }
    }
    for rule in &capabilities.tcp {
        each("tcp.host", [&rule.host], value::host_name, &mut faults);
        if rule.port == 0 {
            faults.push("tcp.port: `0` is not a port: use 1 to 65535".into());
        }
    }
    each("tools", &capabilities.tools, value::tool_name, &mut faults);
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn each<'v>(
    place: &str,
    values: impl IntoIterator<Item = &'v String>,
    check: impl Fn(&str) -> Result<(), String>,
    faults: &mut Vec<String>,
) {
    faults.extend(values.into_iter().filter_map(|value| check(value).err()).map(|why| format!("{place}: {why}")));
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::Effect;
    use serde_json::json;

    fn tool(name: &str, parameters: &str) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            title: None,
            description: "Does it.".into(),
            parameters: parameters.into(),
            returns: None,
            effect: Effect::ReadOnly,
            deferred: false,
            idempotent: false,
            cache_seconds: None,
            groups: vec![],
            extra: None,
        }
    }

    fn says(tool: ToolSpec, part: &str) {
        let faults = check_tools(&[tool]).unwrap_err();
        assert!(faults.iter().any(|fault| fault.contains(part)), "{part}: {faults:?}");
    }

    #[test]
    fn schemas_that_are_wrong_or_would_blow_up_are_refused() {
        for (schema, part) in [
            ("", "not JSON"),
            ("[]", "must be a JSON object"),
            (r#"{"type":"string"}"#, "at the root"),
            (r#"{"type":"object","type":"object"}"#, "twice"),
            (r#"{"type":"object","properties":{"a":{"$ref":"https://x.example/s"}}}"#, "only references within"),
            (r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}"##, "not there"),
            (r#"{"type":"object","$id":"https://x.example"}"#, "`$id`"),
        ] {
            says(tool("t", schema), part);
        }
        says(tool("t", &format!(r#"{{"type":"object","a":{}1{}}}"#, "[".repeat(40), "]".repeat(40))), "too deeply");
        says(tool("t", &format!(r#"{{"type":"object","description":"{}"}}"#, "x".repeat(65_536))), "bytes");
        let doubling: Vec<String> = (0..30)
            .map(|n| format!(r##""d{n}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##, n + 1))
            .collect();
        let bomb =
            format!(r##"{{"type":"object","$ref":"#/$defs/d0","$defs":{{{},"d30":{{}}}}}}"##, doubling.join(","));
        says(tool("t", &bomb), "references are followed");
    }

    #[test]
    fn names_texts_and_groups() {
        let ok = r#"{"type":"object"}"#;
        for name in ["", "Tool", "1a", "a-b", "a b", "é"] {
            says(tool(name, ok), "tool's name");
        }
        says(ToolSpec { description: " ".into(), ..tool("t", ok) }, "description is empty");
        says(ToolSpec { description: "x".repeat(4097), ..tool("t", ok) }, "4097 bytes");
        says(ToolSpec { groups: vec!["group:fs".into()], ..tool("t", ok) }, "without `group:`");
        says(ToolSpec { groups: vec!["F S".into()], ..tool("t", ok) }, "not a group");
        says(ToolSpec { extra: Some("7".into()), ..tool("t", ok) }, "extra");
        says(ToolSpec { returns: Some("{}".into()), ..tool("t", ok) }, "returns");
        assert!(check_tools(&[]).is_err());
        assert!(check_tools(&vec![tool("t", ok); 2]).unwrap_err().iter().any(|f| f.contains("two tools")));
        let many: Vec<ToolSpec> = (0..129).map(|n| tool(&format!("t{n}"), ok)).collect();
        assert!(check_tools(&many).unwrap_err().iter().any(|f| f.contains("129 tools")));
        assert_eq!(check_tools(many.get(..128).unwrap()), Ok(()));
    }

    #[test]
    fn recursive_and_ordinary_schemas_pass() {
        let tree = r##"{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}"##;
        assert_eq!(check_tools(&[tool("t", tree)]), Ok(()));
    }

    #[test]
    fn capabilities_from_elsewhere_are_checked_like_a_manifest() {
        let bad: Capabilities = serde_json::from_value(json!({
            "files": { "/etc": "read", "/workspace": { "access": "read", "paths": ["/a"] } },
            "http": [{ "hosts": ["https://x"], "methods": ["get"], "ports": [0], "schemes": ["ftp"], "paths": ["v1"] }, { "hosts": "any" }],
            "tcp": [{ "host": "*", "port": 0 }], "tools": ["A"]
        }))
        .unwrap();
        assert_eq!(check_capabilities(&bad).unwrap_err().len(), 11);
        let good: Capabilities =
            serde_json::from_value(json!({ "files": { "/workspace": "read" }, "http": [{ "hosts": "settings" }] }))
                .unwrap();
        assert_eq!(check_capabilities(&good), Ok(()));
    }
}
