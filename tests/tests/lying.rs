//! Components that say something else than they are: refused at install, with what to change.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use caisson_call::Role;
use caisson_contract::add_manifest_section;
use caisson_registry::AdminError;
use caisson_tests::{Ship, component, principal};

const MANIFEST: &str = "[plugin]\nname = \"liar\"\nversion = \"1.0.0\"\n";

async fn install(text: &str, manifest: &str) -> AdminError {
    let ship = Ship::new(|_| ()).await;
    let bytes = add_manifest_section(&wat::parse_str(text).unwrap(), manifest).unwrap();
    let admin = principal("acme", "admin", Role::TenantAdmin);
    let error = match ship.gateway.install(&admin, bytes).await {
        Err(error) => error,
        Ok(plugin) => panic!("`{}` was installed", plugin.name),
    };
    assert!(ship.gateway.plugins(&admin).await.unwrap().is_empty());
    error
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_component_of_another_version_is_told_both() {
    for wanted in
        ["caisson:host/settings@0.2.0", "caisson:host/settings@0.1.7", "wasi:http/types@0.3.0", "wasi:cli/exit@0.2.99"]
    {
        match install(&format!("(component (import \"{wanted}\" (instance)))"), MANIFEST).await {
            AdminError::AbiMismatch { has, wants } => {
                assert!(wants.contains(wanted.split_once('@').unwrap().1), "{wanted}: wants {wants}");
                assert!(has.contains("@0."), "{wanted}: has {has}");
                assert_ne!(has, wants);
            }
            other => panic!("{wanted}: {other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manifest_that_cannot_be_taken_at_its_word_is_refused() {
    for (manifest, word) in [
        ("", "plugin"),
        ("[plugin]\nname = \"Liar\"\nversion = \"1.0.0\"\n", "Liar"),
        ("[plugin]\nname = \"liar\"\nversion = \"one\"\n", "version"),
        ("[plugin]\nname = \"liar\"\nversion = \"1.0.0\"\n[capabilites]\n", "capabilities"),
        ("[plugin]\nname = \"liar\"\nversion = \"1.0.0\"\n[limits]\nmemory = \"0 MiB\"\n", "line 5: `memory` is zero"),
        ("[plugin]\nname = \"liar\"\nversion = \"1.0.0\"\n[limits]\nmemory = \"900 GiB\"\n", "ceiling"),
        ("[plugin]\nname = \"liar\"\nversion = \"1.0.0\"\n[capabilities.files]\n\"/etc\" = \"read\"\n", "/workspace"),
    ] {
        let error = install("(component)", manifest).await;
        assert!(matches!(error, AdminError::Invalid(_)), "{error}");
        assert!(error.to_string().contains(word), "{manifest}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manifest_within_an_inner_component_is_not_taken() {
    let ship = Ship::new(|_| ()).await;
    let admin = principal("acme", "admin", Role::TenantAdmin);
    let inner = component("examples/unit-price");
    // A component around another: section 4, its length, its bytes.
    let mut outer = b"\0asm\x0d\0\x01\0\x04".to_vec();
    let mut length = inner.len();
    while length > 0x7f {
        outer.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    outer.push(u8::try_from(length).unwrap());
    outer.extend(inner);
    let error = ship.gateway.install(&admin, outer).await.map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("outermost"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_exports_no_tools_is_told_so() {
    let error = install("(component)", MANIFEST).await;
    assert!(error.to_string().contains("caisson:plugin/tools@0.1.0"), "{error}");
}
