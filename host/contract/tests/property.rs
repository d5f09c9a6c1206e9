//! Any text, any bytes.

use caisson_contract::{
    Access, Capabilities, Credential, ExecRule, FilesRule, Hosts, HttpRule, Inject, LimitsRequest, MAX_JSON_DEPTH,
    Manifest, PluginHeader, exceeds, host_pattern, inspect_component, parse_json, parse_size, read_manifest_section,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Pieces of manifests in any order.
fn pieces() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "[plugin]\n",
        "name = \"a\"\n",
        "version = \"1.0.0\"\n",
        "[capabilities.files]\n",
        "\"/workspace\" = ",
        "\"read\"\n",
        "{ access = \"read\" }\n",
        "[[capabilities.http]]\n",
        "hosts = ",
        "[\"a.example\"]\n",
        "\"settings\"\n",
        "[credentials.k]\n",
        "inject = { header = \"X\" }\n",
        "[limits]\n",
        "memory = \"1 MiB\"\n",
        "cpu = ",
        "= ",
        "\n",
        "é",
        "\"",
        "[",
        "]",
        "{",
        "}",
        "0",
        "-1\n",
        "'''",
        "a.b.c = 1\n",
        "[capabilities]\n",
        "tools = [[[]]]\n",
        "ports = [0xFFFF, 1_0]\n",
        "\u{1f}",
    ]);
    prop::collection::vec(words, 0..30).prop_map(|words| words.concat())
}

fn rule() -> impl Strategy<Value = HttpRule> {
    let hosts = prop_oneof![
        Just(Hosts::Named("settings".into())),
        prop::collection::btree_set("(\\*\\.)?[a-z]{1,8}\\.example", 0..4)
            .prop_map(|set| Hosts::List(set.into_iter().collect())),
    ];
    (
        hosts,
        prop::option::of(prop::sample::subsequence(vec!["GET", "POST", "PUT"], 0..3)),
        prop::option::of(prop::collection::btree_set(1_u16.., 0..3)),
        any::<bool>(),
    )
        .prop_map(|(hosts, methods, ports, reads)| HttpRule {
            hosts,
            blocked_hosts: vec![],
            methods: methods.map(|m| m.into_iter().map(str::to_owned).collect()),
            paths: None,
            ports: ports.map(|p| p.into_iter().collect()),
            schemes: None,
            reads,
            credentials: vec![],
        })
}

fn manifest() -> impl Strategy<Value = Manifest> {
    let files =
        prop::option::of((any::<bool>(), prop::option::of(prop::collection::btree_set("[a-z]{1,5}/\\*\\*", 0..3))));
    let exec = prop::option::of((prop::collection::btree_set("[a-z]{1,6}", 0..3), any::<bool>()));
    let prefix = "[ -!#-\\[\\]-~]{0,12}";
    (
        "[a-z][a-z0-9-]{0,63}",
        any::<[u16; 3]>(),
        "[^\\x00-\\x1f]{0,40}",
        files,
        prop::collection::vec(rule(), 0..3),
        exec,
        prefix,
        prop::option::of(1_u64..100),
    )
        .prop_map(|(name, [major, minor, patch], description, files, http, exec, prefix, http_requests)| {
            Manifest {
                plugin: PluginHeader {
                    name,
                    version: semver::Version::new(major.into(), minor.into(), patch.into()),
                    description,
                },
                capabilities: Capabilities {
                    files: files
                        .map(|(write, paths)| {
                            let access = if write { Access::ReadWrite } else { Access::Read };
                            (
                                "/workspace".to_owned(),
                                FilesRule { access, paths: paths.map(|p| p.into_iter().collect()) },
                            )
                        })
                        .into_iter()
                        .collect(),
                    http,
                    exec: exec.map(|(programs, shell)| ExecRule {
                        programs: programs.into_iter().collect(),
                        shell,
                        network: shell,
                    }),
                    ..Capabilities::default()
                },
                credentials: BTreeMap::from([(
                    "k".to_owned(),
                    Credential {
                        hosts: vec!["a.example".into()],
                        inject: Inject::Header { header: "X-Key".into(), prefix },
                        description: None,
                    },
                )]),
                limits: LimitsRequest { memory: Some("1 MiB".into()), http_requests, ..LimitsRequest::default() },
            }
        })
}

proptest! {
    #[test]
    fn no_text_panics_the_manifest_parser(text in prop_oneof![any::<String>(), pieces()]) {
        if let Err(faults) = Manifest::parse(&text) {
            prop_assert!(!faults.is_empty());
            let lines = text.matches('\n').count() + 1;
            prop_assert!(faults.iter().all(|fault| (1..=lines).contains(&fault.line) && !fault.message.contains('\n')), "{:?}", faults);
        }
    }

    #[test]
    fn a_manifest_that_is_written_is_read_as_the_same(manifest in manifest()) {
        let text = toml::to_string(&manifest).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let again = Manifest::parse(&text).map_err(|faults| TestCaseError::fail(format!("{faults:?}\n{text}")))?;
        prop_assert_eq!(again, manifest);
    }

    #[test]
    fn nothing_exceeds_itself_or_more(manifest in manifest(), other in manifest()) {
        let mut more = manifest.capabilities.clone();
        more.http.extend(other.capabilities.http);
        more.pages = true;
        prop_assert_eq!(exceeds(&manifest.capabilities, &manifest.capabilities), Vec::<String>::new());
        prop_assert_eq!(exceeds(&manifest.capabilities, &more), Vec::<String>::new());
        prop_assert!(!exceeds(&more, &manifest.capabilities).is_empty());
    }

    #[test]
    fn no_bytes_panic_the_component_readers(mut bytes in prop::collection::vec(any::<u8>(), 0..256), component in any::<bool>()) {
        let header: &[u8] = if component { b"\0asm\x0d\0\x01\0" } else { b"\0asm\x01\0\0\0" };
        let _ = read_manifest_section(&bytes);
        bytes.splice(0..0, header.iter().copied());
        let _ = read_manifest_section(&bytes);
        let _ = inspect_component(&bytes, 1 << 20);
    }

    #[test]
    fn a_component_with_bytes_flipped_does_not_panic(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = wat::parse_str("(component (import \"a\" (instance)) (core module (memory 1) (func (drop (i32.const 1)))) (component (@custom \"caisson:manifest\" \"x\")))")
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        let index = at.index(bytes.len());
        if let Some(slot) = bytes.get_mut(index) {
            *slot = byte;
        }
        let _ = read_manifest_section(&bytes);
        let _ = inspect_component(&bytes, 1 << 20);
    }

    #[test]
    fn strict_json_reads_what_serde_json_reads_or_refuses(text in prop_oneof![any::<String>(), "[\\[\\]{}:,\"a0-9 ]{0,40}"]) {
        if let Ok(value) = parse_json(&text) {
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
        }
        let deep = format!("{}{}", "[".repeat(MAX_JSON_DEPTH + 1), text);
        prop_assert!(parse_json(&deep).is_err());
    }

    #[test]
    fn no_value_panics(text in any::<String>()) {
        let _ = host_pattern(&text);
        let _ = parse_size(&text);
    }
}
