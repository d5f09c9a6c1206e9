//! Components as bytes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_contract::{
    ComponentInfo, HostInterfaces, SectionError, add_manifest_section, check_versions, inspect_component, read_info,
    read_manifest_section,
};

const MAX: usize = 1 << 20;

fn wasm(wat: &str) -> Vec<u8> {
    wat::parse_str(wat).unwrap()
}

fn inspect(wat: &str) -> Result<ComponentInfo, SectionError> {
    inspect_component(&wasm(wat), MAX)
}

#[test]
fn what_is_no_component_is_told_so() {
    for bytes in [&b""[..], b"\0as", b"hello", b"PK\x03\x04", &[0xff; 64]] {
        assert_eq!(read_manifest_section(bytes), Err(SectionError::NotWasm));
        assert_eq!(inspect_component(bytes, MAX), Err(SectionError::NotWasm));
    }
    let module = wasm("(module)");
    assert_eq!(read_manifest_section(&module), Err(SectionError::CoreModule));
    assert_eq!(inspect_component(&module, MAX), Err(SectionError::CoreModule));
    assert!(SectionError::CoreModule.to_string().contains("wasm-tools component new"));
}

#[test]
fn every_truncation_is_an_error() {
    let whole = add_manifest_section(
        &wasm("(component (core module (func)) (component (core module (memory 1))))"),
        "[plugin]",
    )
    .unwrap();
    for length in 0..whole.len() {
        let part = whole.get(..length).unwrap();
        assert!(read_manifest_section(part).is_err(), "{length} of {}", whole.len());
    }
    let long_section = [b"\0asm\x0d\0\x01\0".as_slice(), &[0, 0xff, 0xff, 0xff, 0xff, 0x0f]].concat();
    assert!(matches!(read_manifest_section(&long_section), Err(SectionError::Malformed { .. })));
}

#[test]
fn exactly_one_manifest_in_the_outermost_component() {
    let missing = wasm("(component)");
    assert_eq!(read_manifest_section(&missing), Err(SectionError::Missing));
    let nested = wasm("(component (component (@custom \"caisson:manifest\" \"inner\")))");
    assert_eq!(read_manifest_section(&nested), Err(SectionError::Nested));
    let two = wasm("(component (@custom \"caisson:manifest\" \"a\") (@custom \"caisson:manifest\" \"b\"))");
    assert_eq!(read_manifest_section(&two), Err(SectionError::Several(2)));
    let binary = wasm("(component (@custom \"caisson:manifest\" \"\\ff\\fe\"))");
    assert_eq!(read_manifest_section(&binary), Err(SectionError::NotUtf8));
    let large = add_manifest_section(&missing, &"x".repeat(65_537)).unwrap();
    assert_eq!(read_manifest_section(&large), Err(SectionError::ManifestTooLarge(65_537)));
    assert_eq!(read_manifest_section(&add_manifest_section(&nested, "outer é").unwrap()).as_deref(), Ok("outer é"));
    let once = add_manifest_section(&missing, "").unwrap();
    assert_eq!(add_manifest_section(&once, "again"), Err(SectionError::Several(2)));
    assert!(inspect_component(&once, MAX).is_ok());
}

#[test]
fn nesting_and_size_are_bounded() {
    let nested = |levels: usize| format!("(component {}{})", "(component ".repeat(levels), ")".repeat(levels));
    assert!(inspect(&nested(32)).is_ok());
    assert_eq!(inspect(&nested(33)), Err(SectionError::TooDeep));
    assert_eq!(inspect_component(&wasm("(component)"), 4), Err(SectionError::TooLarge { bytes: 8, limit: 4 }));
}

#[test]
fn invalid_and_unsupported_components() {
    let invalid = b"\0asm\x0d\0\x01\0\x0b\x07\x01\0\x01a\x01\x05\0";
    assert!(matches!(inspect_component(invalid, MAX), Err(SectionError::Malformed { .. })));
    let asynchronous = inspect("(component (type (func async)) (import \"f\" (func (type 0))))");
    assert_eq!(asynchronous, Err(SectionError::Unsupported { what: "the component model's async (WASI 0.3)" }));
    let stream = inspect("(component (type (stream u8)) (type (func (param \"s\" 0))))");
    assert_eq!(stream, Err(SectionError::Unsupported { what: "the component model's async (WASI 0.3)" }));
}

#[test]
fn a_component_for_a_later_wasi_can_still_be_asked_what_it_wants() {
    let later = wasm(
        "(component (import \"wasi:http/types@0.3.0\" (instance (export \"f\" (func async)))) (type (stream u8)))",
    );
    assert!(inspect_component(&later, MAX).is_err());
    let info = read_info(&later).unwrap();
    let mismatch = check_versions(&info.imports, &info.exports, &HostInterfaces::current()).unwrap_err();
    assert_eq!(
        (mismatch.has.as_str(), mismatch.wants.as_str()),
        ("wasi:http@0.2.0 to 0.2.12", "wasi:http/types@0.3.0")
    );
}

#[test]
fn imports_exports_and_counts_are_read() {
    let info = inspect(
        r#"(component
            (import "wasi:io/poll@0.2.12" (instance))
            (import "caisson:host/settings@0.1.0" (instance))
            (core module $m (memory 3) (table 1 funcref) (func) (func))
            (core instance (instantiate $m))
            (core instance (instantiate $m))
            (component (core module (memory 1)))
            (instance $i)
            (export "caisson:plugin/tools@0.1.0" (instance $i)))"#,
    )
    .unwrap();
    assert_eq!(info.imports, ["wasi:io/poll@0.2.12", "caisson:host/settings@0.1.0"]);
    assert_eq!(info.exports, ["caisson:plugin/tools@0.1.0"]);
    let counts = (
        info.core_modules,
        info.components,
        info.core_instances,
        info.memories,
        info.memory_bytes,
        info.tables,
        info.functions,
    );
    assert_eq!(counts, (2, 1, 2, 2, 4 * 65_536, 1, 2));
}
