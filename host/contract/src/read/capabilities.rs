//! `[capabilities.…]`.

use super::table::{Item, Reader, Table};
use crate::{Access, Capabilities, Credential, ExecRule, FilesRule, Hosts, HttpRule, Inject, MOUNT, SocketRule, value};
use std::collections::BTreeMap;
use toml::de::DeValue;

type Credentials = BTreeMap<String, Credential>;

pub(super) fn read(reader: &mut Reader<'_>, item: &Item<'_>, credentials: &Credentials) -> Capabilities {
    let mut out = Capabilities::default();
    let Some(table) = reader.table(item) else { return out };
    reader.known(
        &table,
        &[
            "files",
            "http",
            "tcp",
            "exec",
            "documents",
            "keyvalue",
            "tools",
            "runtime",
            "schedule",
            "pages",
            "data",
            "outputs",
        ],
    );
    for entry in table.items() {
        match entry.key() {
            "files" => out.files = files(reader, &entry),
            "http" => out.http = http(reader, &entry, credentials),
            "tcp" => out.tcp = tcp(reader, &entry),
            "exec" => out.exec = exec(reader, &entry),
            "documents" => out.documents = accesses(reader, &entry, "a collection's name"),
            "keyvalue" => out.keyvalue = accesses(reader, &entry, "a bucket's name"),
            "tools" => out.tools = reader.strings(&entry, value::tool_name),
            "runtime" => {
                out.runtime = reader.strings(&entry, |kind| value::name("a kind of runtime request", kind, true))
            }
            "schedule" => out.schedule = reader.flag(&entry).unwrap_or_default(),
            "pages" => out.pages = reader.flag(&entry).unwrap_or_default(),
            "data" => out.data = reader.flag(&entry).unwrap_or_default(),
            "outputs" => out.outputs = reader.flag(&entry).unwrap_or_default(),
            _ => {}
        }
    }
    out
}

/// A section that says nothing is a slip: an empty list is how to say "nothing".
fn section<'d>(reader: &mut Reader<'_>, item: &Item<'d>, example: &str) -> Option<Table<'d>> {
    let table = reader.table(item)?;
    if table.is_empty() {
        reader.fault(
            &table.span(),
            format!("the section `{}` is empty; leave it out, or say what is asked for: {example}", item.name()),
        );
        return None;
    }
    Some(table)
}

fn files(reader: &mut Reader<'_>, item: &Item<'_>) -> BTreeMap<String, FilesRule> {
    let mut rules = BTreeMap::new();
    let Some(table) = section(reader, item, "`\"/workspace\" = \"read\"`") else { return rules };
    for entry in table.items() {
        let mount = entry.key().to_owned();
        if mount != MOUNT {
            let why =
                format!("there is no mount `{}`: the only one in this version is `{MOUNT}`", value::shown(&mount));
            reader.fault(&entry.key_span(), why);
        }
        let rule = match entry.value() {
            DeValue::Table(_) => files_table(reader, &entry),
            DeValue::String(_) => access(reader, &entry).map(|access| FilesRule { access, paths: None }),
            _ => {
                let why = format!("`{}` must be `\"read\"`, `\"read-write\"` or `{{ access, paths }}`", entry.name());
                reader.fault(&entry.span(), why);
                None
            }
        };
        if let Some(rule) = rule {
            rules.insert(mount, rule);
        }
    }
    rules
}

fn files_table(reader: &mut Reader<'_>, item: &Item<'_>) -> Option<FilesRule> {
    let table = reader.table(item)?;
    reader.known(&table, &["access", "paths"]);
    let access = reader
        .required(&table, "access", "either `\"read\"` or `\"read-write\"`")
        .and_then(|item| access(reader, &item));
    let paths = table.get("paths").map(|item| reader.strings(&item, value::file_glob));
    Some(FilesRule { access: access?, paths })
}

fn access(reader: &mut Reader<'_>, item: &Item<'_>) -> Option<Access> {
    match reader.text(item)? {
        "read" => Some(Access::Read),
        "read-write" => Some(Access::ReadWrite),
        other => {
            reader.fault(&item.span(), format!("`{}` is no access: use `read` or `read-write`", value::shown(other)));
            None
        }
    }
}

fn http(reader: &mut Reader<'_>, item: &Item<'_>, credentials: &Credentials) -> Vec<HttpRule> {
    if matches!(item.value(), DeValue::Table(_)) {
        reader.fault(
            &item.key_span(),
            "write `[[capabilities.http]]` with two brackets: there may be several rules".into(),
        );
        return Vec::new();
    }
    let rules = reader.list(item).unwrap_or_default();
    rules.iter().filter_map(|rule| http_rule(reader, rule, credentials)).collect()
}

fn http_rule(reader: &mut Reader<'_>, item: &Item<'_>, declared: &Credentials) -> Option<HttpRule> {
    let table = reader.table(item)?;
    reader.known(&table, &["hosts", "blocked-hosts", "methods", "paths", "ports", "schemes", "reads", "credentials"]);
    let hosts = reader
        .required(&table, "hosts", "such as `hosts = [\"api.example.com\"]`")
        .and_then(|item| hosts(reader, &item));
    let blocked_hosts =
        table.get("blocked-hosts").map(|item| reader.strings(&item, value::host_pattern)).unwrap_or_default();
    let methods = table.get("methods").map(|item| reader.strings(&item, value::method));
    let paths = table.get("paths").map(|item| reader.strings(&item, value::url_glob));
    let ports = table.get("ports").map(|item| ports(reader, &item));
    let schemes = table.get("schemes").map(|item| reader.strings(&item, value::scheme));
    let reads = table.get("reads").and_then(|item| reader.flag(&item)).unwrap_or_default();
    let credentials =
        table.get("credentials").map(|item| reader.strings(&item, |name| usable(name, declared))).unwrap_or_default();
    Some(HttpRule { hosts: hosts?, blocked_hosts, methods, paths, ports, schemes, reads, credentials })
}

fn usable(name: &str, declared: &Credentials) -> Result<(), String> {
    match declared.get(name) {
        None => {
            let near = declared
                .keys()
                .max_by(|a, b| strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)))
                .map(|near| format!("; did you mean `{}`?", value::shown(near)));
            let add = || format!("; add a section `[credentials.{}]`", value::shown(name));
            Err(format!("there is no credential `{}`{}", value::shown(name), near.unwrap_or_else(add)))
        }
        Some(Credential { inject: Inject::Env { .. }, .. }) => Err(format!(
            "the credential `{}` goes into a child's environment and cannot be put into a request",
            value::shown(name)
        )),
        Some(_) => Ok(()),
    }
}

fn hosts(reader: &mut Reader<'_>, item: &Item<'_>) -> Option<Hosts> {
    match item.value() {
        DeValue::String(word) if word == "settings" => Some(Hosts::Named("settings".into())),
        DeValue::String(other) => {
            let why =
                format!("`hosts` must be a list or the word `\"settings\"`; write `[\"{}\"]`", value::shown(other));
            reader.fault(&item.span(), why);
            None
        }
        _ => {
            reader.list(item)?;
            Some(Hosts::List(reader.strings(item, value::host_pattern)))
        }
    }
}

fn ports(reader: &mut Reader<'_>, item: &Item<'_>) -> Vec<u16> {
    reader.list(item).unwrap_or_default().iter().filter_map(|element| port(reader, element)).collect()
}

fn port(reader: &mut Reader<'_>, item: &Item<'_>) -> Option<u16> {
    let number = reader.count(item)?;
    match u16::try_from(number) {
        Ok(port) if port != 0 => Some(port),
        _ => {
            reader.fault(&item.span(), format!("`{number}` is not a port: use 1 to 65535"));
            None
        }
    }
}

fn tcp(reader: &mut Reader<'_>, item: &Item<'_>) -> Vec<SocketRule> {
    if matches!(item.value(), DeValue::Table(_)) {
        reader.fault(
            &item.key_span(),
            "write `[[capabilities.tcp]]` with two brackets: there may be several rules".into(),
        );
        return Vec::new();
    }
    reader.list(item).unwrap_or_default().iter().filter_map(|rule| socket(reader, rule)).collect()
}

fn socket(reader: &mut Reader<'_>, item: &Item<'_>) -> Option<SocketRule> {
    let table = reader.table(item)?;
    reader.known(&table, &["host", "port"]);
    let host = reader.required(&table, "host", "an exact host name").and_then(|item| {
        let text = reader.text(&item)?;
        reader.check(&item, value::host_name(text)).then(|| text.to_owned())
    });
    let port = reader.required(&table, "port", "1 to 65535").and_then(|item| port(reader, &item));
    Some(SocketRule { host: host?, port: port? })
}

fn exec(reader: &mut Reader<'_>, item: &Item<'_>) -> Option<ExecRule> {
    let table = section(reader, item, "`programs = [\"git\"]` or `shell = true`")?;
    reader.known(&table, &["programs", "shell", "network"]);
    let programs = table.get("programs").map(|item| reader.strings(&item, program)).unwrap_or_default();
    let mut flag = |key| table.get(key).and_then(|item| reader.flag(&item)).unwrap_or_default();
    let (shell, network) = (flag("shell"), flag("network"));
    Some(ExecRule { programs, shell, network })
}

fn program(name: &str) -> Result<(), String> {
    let ok = (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-".contains(&b))
        && !name.starts_with(['-', '.']);
    if ok {
        return Ok(());
    }
    Err(format!("`{}` is not a program's name: write it without a folder and without arguments", value::shown(name)))
}

fn accesses(reader: &mut Reader<'_>, item: &Item<'_>, what: &str) -> BTreeMap<String, Access> {
    let mut out = BTreeMap::new();
    let Some(table) = section(reader, item, "`notes = \"read\"`") else { return out };
    for entry in table.items() {
        let name = entry.key().to_owned();
        if let Err(why) = value::name(what, &name, true) {
            reader.fault(&entry.key_span(), why);
        }
        if let Some(access) = access(reader, &entry) {
            out.insert(name, access);
        }
    }
    out
}
