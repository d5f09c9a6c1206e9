//! A newcomer's way: a plugin from the template, built to a component.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_author::{AuthorError, BuildOptions, Lang, build_plugin, embed_manifest, new_plugin};
use caisson_contract::{Manifest, SectionError, inspect_component, read_manifest_section};
use std::fs;
use std::path::{Path, PathBuf};

fn template(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join(name);
    new_plugin(&dir, name, Lang::Rust).unwrap();
    (folder, dir)
}

fn build(dir: &Path) -> Result<PathBuf, AuthorError> {
    build_plugin(dir, &BuildOptions::default(), &mut |_| {})
}

#[test]
fn a_bad_name_is_refused_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("new");
    let error = new_plugin(&dir, "My Weather", Lang::Rust).unwrap_err();
    assert!(matches!(error, AuthorError::BadName { .. }) && error.to_string().contains("lower case"), "{error}");
    assert!(!dir.exists());
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Cargo.toml"), "mine").unwrap();
    let error = new_plugin(folder.path(), "weather", Lang::Rust).unwrap_err();
    assert!(matches!(error, AuthorError::NotEmpty(_)), "{error}");
    assert_eq!(fs::read_to_string(folder.path().join("Cargo.toml")).unwrap(), "mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_wrong_manifest_shows_file_and_line() {
    let (_folder, dir) = template("weather");
    let path = dir.join("caisson.toml");
    let text = fs::read_to_string(&path).unwrap();
    let line = text.lines().position(|line| line.starts_with("hosts")).unwrap() + 1;
    fs::write(&path, text.replace("hosts =", "hots =")).unwrap();
    let error = build(&dir).unwrap_err().to_string();
    assert!(error.contains(&format!("caisson.toml:{line}:")) && error.contains("`hosts`"), "{error}");
    assert!(!dir.join("weather.wasm").exists());
}

#[test]
fn a_folder_without_a_plugin_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = build(folder.path()).unwrap_err();
    assert!(matches!(error, AuthorError::NoPlugin { file: "caisson.toml", .. }), "{error}");
}

#[test]
fn what_is_no_component_takes_no_manifest() {
    let error = embed_manifest(b"text", "x").unwrap_err();
    assert!(matches!(error, AuthorError::Section(SectionError::NotWasm)), "{error}");
    let error = embed_manifest(b"\0asm\x01\0\0\0", "x").unwrap_err();
    assert!(matches!(error, AuthorError::Section(SectionError::CoreModule)), "{error}");
}

#[test]
fn the_template_builds_to_a_component_with_its_manifest_and_no_more_imports_than_it_uses() {
    let (_folder, dir) = template("weather");
    let mut steps = Vec::new();
    let out = build_plugin(&dir, &BuildOptions::default(), &mut |step| steps.push(step.to_owned())).unwrap();
    assert_eq!(out, dir.join("weather.wasm"));
    assert!(steps.iter().any(|step| step.starts_with("Compiling weather")), "{steps:?}");

    let component = fs::read(&out).unwrap();
    let manifest = read_manifest_section(&component).unwrap();
    assert_eq!(manifest, fs::read_to_string(dir.join("caisson.toml")).unwrap());
    assert_eq!(Manifest::parse(&manifest).unwrap().plugin.name, "weather");
    let info = inspect_component(&component, 4 << 20).unwrap();
    assert_eq!(info.exports, ["caisson:plugin/tools@0.1.0"]);
    let mut own: Vec<&str> =
        info.imports.iter().map(String::as_str).filter(|name| name.starts_with("caisson:host/")).collect();
    own.sort_unstable();
    assert_eq!(own, ["caisson:host/settings@0.1.0"]);
    assert!(info.imports.iter().any(|name| name.starts_with("wasi:http/outgoing-handler@")), "{:?}", info.imports);
    for never in ["wasi:sockets/", "wasi:http/incoming-handler"] {
        assert!(!info.imports.iter().any(|name| name.starts_with(never)), "{never}: {:?}", info.imports);
    }

    let error = embed_manifest(&component, &manifest).unwrap_err();
    assert!(matches!(error, AuthorError::Section(SectionError::Several(_))), "{error}");
    an_error_of_the_author_fails_and_leaves_the_old_component(&dir, &component);
    a_plugin_without_http_does_not_import_it(&dir);
}

fn an_error_of_the_author_fails_and_leaves_the_old_component(dir: &Path, before: &[u8]) {
    let path = dir.join("src/lib.rs");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("&args.city", "&args.town")).unwrap();
    let error = build(dir).unwrap_err();
    assert!(matches!(error, AuthorError::Compile(_)), "{error}");
    assert_eq!(fs::read(dir.join("weather.wasm")).unwrap(), before);
    fs::write(&path, "//! Exports nothing.\n").unwrap();
    let error = build(dir).unwrap_err();
    assert!(matches!(error, AuthorError::NoTools), "{error}");
}

fn a_plugin_without_http_does_not_import_it(dir: &Path) {
    let text = "/// Says hello.\n#[caisson_sdk::tool]\nfn hello() -> Result<&'static str, caisson_sdk::ToolError> {\n    Ok(\"hello\")\n}\ncaisson_sdk::plugin!(hello);\n";
    fs::write(dir.join("src/lib.rs"), text).unwrap();
    let component = fs::read(build(dir).unwrap()).unwrap();
    let imports = inspect_component(&component, 4 << 20).unwrap().imports;
    assert!(
        !imports.iter().any(|name| name.starts_with("wasi:http/") || name.starts_with("caisson:host/")),
        "{imports:?}"
    );
}
