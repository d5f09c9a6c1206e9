//! A manifest's text to a [`Manifest`], with everything that is wrong with it at once.
//!
//! The TOML is walked by hand and not by serde: serde stops at the first fault, does not know the nearest key, and loses the
//! place within untagged values.

mod capabilities;
mod credentials;
mod table;

use crate::value::shown;
use crate::{LimitsRequest, Manifest, ManifestFault, PluginHeader, limits, value};
use std::collections::BTreeSet;
use table::{Item, Reader, Table};
use toml::de::DeTable;

/// Most bytes of a manifest. A long one has some kB; what is longer is no manifest, and people must be able to read what they
/// grant.
pub const MAX_MANIFEST_BYTES: usize = 64 << 10;

/// Faults told at once; more help nobody.
const MAX_FAULTS: usize = 64;

impl Manifest {
    /// Reads a manifest, TOML of at most 64 KiB.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the text; never empty.
    pub fn parse(text: &str) -> Result<Self, Vec<ManifestFault>> {
        if text.len() > MAX_MANIFEST_BYTES {
            let message = format!("the manifest has {} bytes; at most {MAX_MANIFEST_BYTES} are read", text.len());
            return Err(vec![ManifestFault { line: 1, column: 1, message }]);
        }
        let (document, errors) = DeTable::parse_recoverable(text);
        let mut reader = Reader::new(text);
        let mut broken = false;
        for error in &errors {
            let span = error.span().unwrap_or_default();
            let duplicate = error.message() == "duplicate key";
            broken |= !duplicate;
            reader.fault(&span, syntax(text, &span, error.message(), duplicate));
        }
        // Where the text is no TOML, what recovery made of the rest would give faults that are not there.
        let manifest = if broken { None } else { root(&mut reader, &document) };
        let mut faults = reader.into_faults();
        match manifest {
            Some(manifest) if faults.is_empty() => Ok(manifest),
            _ => {
                faults.sort();
                faults.dedup();
                faults.truncate(MAX_FAULTS);
                if faults.is_empty() {
                    faults.push(ManifestFault { line: 1, column: 1, message: "the manifest cannot be read".into() });
                }
                Err(faults)
            }
        }
    }
}

fn syntax(text: &str, span: &std::ops::Range<usize>, message: &str, duplicate: bool) -> String {
    if duplicate {
        let key = text.get(span.clone()).unwrap_or_default();
        return format!("the key `{}` stands twice; leave one", shown(key));
    }
    format!("this is not TOML: {message}")
}

fn root(reader: &mut Reader<'_>, document: &toml::Spanned<DeTable<'_>>) -> Option<Manifest> {
    const KNOWN: &[&str] = &["plugin", "capabilities", "credentials", "limits"];
    let root = Table::root(document);
    reader.known(&root, KNOWN);
    let plugin = match root.get("plugin") {
        Some(item) => reader.table(&item).and_then(|table| header(reader, &table)),
        None => {
            reader.fault(&(0..0), "the section `[plugin]` with `name` and `version` is missing".into());
            None
        }
    };
    let credentials = match root.get("credentials") {
        Some(item) => credentials::read(reader, &item),
        None => Default::default(),
    };
    let capabilities = match root.get("capabilities") {
        Some(item) => capabilities::read(reader, &item, &credentials),
        None => Default::default(),
    };
    let limits = match root.get("limits") {
        Some(item) => reader.table(&item).map(|table| limits_section(reader, &table)).unwrap_or_default(),
        None => LimitsRequest::default(),
    };
    Some(Manifest { plugin: plugin?, capabilities, credentials, limits })
}

fn header(reader: &mut Reader<'_>, table: &Table<'_>) -> Option<PluginHeader> {
    const MAX_DESCRIPTION: usize = 1024;
    reader.known(table, &["name", "version", "description"]);
    let name = reader.required(table, "name", "such as `name = \"weather\"`").and_then(|item| {
        let text = reader.text(&item)?;
        reader.check(&item, value::name("a plugin's name", text, false)).then(|| text.to_owned())
    });
    let version = reader.required(table, "version", "such as `version = \"1.0.0\"`").and_then(|item| {
        let text = reader.text(&item)?;
        let parsed = semver::Version::parse(text);
        let why = |e: &semver::Error| format!("`{}` is not a semantic version such as `1.2.0`: {e}", shown(text));
        reader.check(&item, parsed.as_ref().map(|_| ()).map_err(why));
        parsed.ok()
    });
    let description = table.get("description").and_then(|item| {
        let text = reader.text(&item)?;
        let long = text.len() > MAX_DESCRIPTION;
        let why = format!(
            "the description has {} bytes; at most {MAX_DESCRIPTION} are kept: it is one line for people",
            text.len()
        );
        reader.check(&item, if long { Err(why) } else { Ok(()) }).then(|| text.to_owned())
    });
    Some(PluginHeader { name: name?, version: version?, description: description.unwrap_or_default() })
}

fn limits_section(reader: &mut Reader<'_>, table: &Table<'_>) -> LimitsRequest {
    reader.known(
        table,
        &[
            "memory",
            "cpu",
            "wall",
            "grace",
            "http-requests",
            "http-bytes",
            "file-bytes",
            "file-operations",
            "log-bytes",
            "output-bytes",
            "host-memory",
            "processes",
        ],
    );
    let mut size = |key| quantity(reader, table, key, &|text| limits::parse_size(text).map(|bytes| bytes == 0));
    let (memory, http_bytes, file_bytes) = (size("memory"), size("http-bytes"), size("file-bytes"));
    let (log_bytes, output_bytes, host_memory) = (size("log-bytes"), size("output-bytes"), size("host-memory"));
    let mut time = |key| quantity(reader, table, key, &|text| limits::parse_duration(text).map(|time| time.is_zero()));
    let (cpu, wall, grace) = (time("cpu"), time("wall"), time("grace"));
    let mut count = |key: &str| {
        let item = table.get(key)?;
        let number = reader.count(&item)?;
        let zero = if number == 0 { Err(format!("`{key}` is zero; leave it out for the default")) } else { Ok(()) };
        reader.check(&item, zero).then_some(number)
    };
    let (http_requests, file_operations, processes) =
        (count("http-requests"), count("file-operations"), count("processes"));
    LimitsRequest {
        memory,
        cpu,
        wall,
        grace,
        http_requests,
        http_bytes,
        file_bytes,
        file_operations,
        log_bytes,
        output_bytes,
        host_memory,
        processes,
    }
}

fn quantity(
    reader: &mut Reader<'_>,
    table: &Table<'_>,
    key: &str,
    is_zero: &dyn Fn(&str) -> Result<bool, String>,
) -> Option<String> {
    let item = table.get(key)?;
    let text = reader.text(&item)?;
    let checked = match is_zero(text) {
        Ok(false) => Ok(()),
        Ok(true) => Err(format!("`{key}` is zero; leave it out for the default")),
        Err(why) => Err(why),
    };
    reader.check(&item, checked).then(|| text.to_owned())
}

/// Reports values that stand twice in a list.
fn repeated(reader: &mut Reader<'_>, item: &Item<'_>, values: &[String]) {
    let mut seen = BTreeSet::new();
    for value in values {
        if !seen.insert(value) {
            reader.fault(&item.span(), format!("`{}` stands twice in this list; leave one", shown(value)));
        }
    }
}
