//! `[credentials.NAME]`.

use super::table::{Item, Reader, Table};
use crate::{Credential, Inject, value};
use std::collections::BTreeMap;

pub(super) fn read(reader: &mut Reader<'_>, item: &Item<'_>) -> BTreeMap<String, Credential> {
    let mut credentials = BTreeMap::new();
    let Some(table) = reader.table(item) else { return credentials };
    for entry in table.items() {
        let name = entry.key().to_owned();
        if let Err(why) = value::name("a credential's name", &name, false) {
            reader.fault(&entry.key_span(), why);
        }
        if let Some(section) = reader.table(&entry)
            && let Some(credential) = credential(reader, &section)
        {
            credentials.insert(name, credential);
        }
    }
    credentials
}

fn credential(reader: &mut Reader<'_>, table: &Table<'_>) -> Option<Credential> {
    reader.known(table, &["hosts", "inject", "description"]);
    let inject = reader
        .required(table, "inject", "such as `inject = { header = \"Authorization\", prefix = \"Bearer \" }`")
        .and_then(|item| inject(reader, &item));
    let goes_to_a_child = matches!(inject, Some(Inject::Env { .. }));
    let hosts = match table.get("hosts") {
        Some(item) => {
            let hosts = reader.strings(&item, |host| {
                value::host_name(host).map_err(|why| {
                    if host.contains('*') { format!("a credential's host must be exact: {why}") } else { why }
                })
            });
            if goes_to_a_child && !hosts.is_empty() {
                reader.fault(
                    &item.span(),
                    "a credential that goes into a child's environment is bound to no host; leave `hosts` out".into(),
                );
            }
            hosts
        }
        None => {
            if !goes_to_a_child {
                reader.required(table, "hosts", "the exact hosts that it may be sent to");
            }
            Vec::new()
        }
    };
    let description = table.get("description").and_then(|item| reader.text(&item).map(str::to_owned));
    Some(Credential { hosts, inject: inject?, description })
}

fn inject(reader: &mut Reader<'_>, item: &Item<'_>) -> Option<Inject> {
    let table = reader.table(item)?;
    reader.known(&table, &["header", "prefix", "query", "basic", "env"]);
    let ways: Vec<Item<'_>> = ["header", "query", "basic", "env"].iter().filter_map(|way| table.get(way)).collect();
    let [way] = ways.as_slice() else {
        reader.fault(&item.span(), "`inject` must have exactly one of `header`, `query`, `basic` and `env`".into());
        return None;
    };
    let text = reader.text(way)?;
    let checked = match way.key() {
        "header" => value::header(text),
        "env" => value::variable(text),
        "query" => printable("a query parameter's name", text, "=&#?"),
        _ => printable("a user name", text, ":"),
    };
    let prefix = table.get("prefix");
    if let Some(prefix) = &prefix
        && way.key() != "header"
    {
        reader.fault(&prefix.key_span(), "`prefix` stands only beside `header`".into());
    }
    let ok = reader.check(way, checked);
    let prefix = match prefix {
        Some(item) => {
            let text = reader.text(&item)?;
            reader
                .check(&item, if text.is_empty() { Ok(()) } else { printable("a prefix", text, "") })
                .then(|| text.to_owned())?
        }
        None => String::new(),
    };
    let text = text.to_owned();
    ok.then(|| match way.key() {
        "header" => Inject::Header { header: text, prefix },
        "query" => Inject::Query { query: text },
        "env" => Inject::Env { env: text },
        _ => Inject::Basic { basic: text },
    })
}

fn printable(what: &str, text: &str, never: &str) -> Result<(), String> {
    let ok = (1..=128).contains(&text.len())
        && text.bytes().all(|b| (b' '..=b'~').contains(&b))
        && !text.contains(|c| never.contains(c));
    if ok {
        Ok(())
    } else {
        Err(format!(
            "`{}` is not {what}: use 1 to 128 printable ASCII characters{}",
            value::shown(text),
            if never.is_empty() { String::new() } else { format!(" without any of `{never}`") }
        ))
    }
}
