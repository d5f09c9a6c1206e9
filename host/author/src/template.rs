//! `caisson new`: a plugin to start from.

use crate::AuthorError;
use crate::toolchain::checkouts;
use std::path::{Path, PathBuf};

/// What a new plugin is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// Rust, with `caisson-sdk`.
    Rust,
}

/// `get_` and the name must fit into a tool's 64 letters.
const MAX_NAME: usize = 60;

/// Names that cargo or the compiler would trip over.
const TAKEN: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "caisson-sdk",
    "const",
    "continue",
    "core",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "schemars",
    "self",
    "serde",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// The files of the Rust template, with `{{name}}`, `{{tool}}` and `{{sdk}}` to be filled in.
const RUST: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../templates/rust/Cargo.toml.txt")),
    ("caisson.toml", include_str!("../templates/rust/caisson.toml.txt")),
    ("README.md", include_str!("../templates/rust/README.md.txt")),
    ("src/lib.rs", include_str!("../templates/rust/lib.rs.txt")),
    ("src/tests.rs", include_str!("../templates/rust/tests.rs.txt")),
    (".gitignore", include_str!("../templates/rust/gitignore.txt")),
];

/// Makes a plugin in `dir`, which must be empty or not be there. Its one tool is `get_` and the name, with `_` for `-`.
///
/// # Errors
/// A bad name, a folder that is not empty, no SDK, or what the file system says.
pub fn new_plugin(dir: &Path, name: &str, lang: Lang) -> Result<(), AuthorError> {
    check_name(name)?;
    let files = match lang {
        Lang::Rust => RUST,
    };
    let sdk = find_sdk()?;
    if std::fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(AuthorError::NotEmpty(dir.to_owned()));
    }
    let tool = format!("get_{}", name.replace('-', "_"));
    // The path as a TOML string, quotes and all.
    let sdk = toml::Value::String(sdk.display().to_string()).to_string();
    for (path, text) in files {
        let path = dir.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(AuthorError::io(parent, "cannot be made"))?;
        }
        let text = text.replace("{{name}}", name).replace("{{tool}}", &tool).replace("{{sdk}}", &sdk);
        std::fs::write(&path, text).map_err(AuthorError::io(&path, "cannot be written"))?;
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), AuthorError> {
    let bad = |why: String| Err(AuthorError::BadName { name: name.to_owned(), why });
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.chars().all(letters) {
        return bad("use lower case letters, digits and `-`, and start with a letter, such as `weather`".into());
    }
    if name.len() > MAX_NAME {
        return bad(format!(
            "it has {} letters; at most {MAX_NAME} fit, because its tool's name is made from it",
            name.len()
        ));
    }
    if TAKEN.contains(&name) {
        return bad(format!("Rust uses that word itself; try `{name}-tools`"));
    }
    Ok(())
}

/// The SDK's folder: what `CAISSON_SDK` says, or the one of the checkout that this program or the current folder is in.
fn find_sdk() -> Result<PathBuf, AuthorError> {
    if let Some(told) = std::env::var_os("CAISSON_SDK").filter(|told| !told.is_empty()) {
        let told = PathBuf::from(told);
        let there = told.join("Cargo.toml").is_file() && told.ends_with("sdk");
        return if there { absolute(&told) } else { Err(AuthorError::BadSdk(told)) };
    }
    let found = checkouts().into_iter().map(|checkout| checkout.join("sdk/rust/sdk")).next();
    absolute(&found.ok_or(AuthorError::NoSdk)?)
}

fn absolute(path: &Path) -> Result<PathBuf, AuthorError> {
    path.canonicalize().map_err(AuthorError::io(path, "cannot be found"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_be_are_refused() {
        let long = "a".repeat(61);
        for bad in ["", "Weather", "1st", "-a", "a_b", "a b", "../a", "wéather", "test", "self", "serde", &long] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn other_names_are_taken() {
        let long = "a".repeat(60);
        for good in ["weather", "a", "a-1", "selfish", &long] {
            assert!(check_name(good).is_ok(), "{good}");
        }
    }
}
