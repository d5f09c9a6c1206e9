//! Which toolchain compiles guests: the one that `scripts/setup-guest.sh` wrote down, or rustup's own.

use crate::AuthorError;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What guests are compiled for.
pub(crate) const TARGET: &str = "wasm32-wasip2";

/// The file that `scripts/setup-guest.sh` writes into the build folder.
const FILE: &str = "guest-env.sh";

/// A cargo that can compile guests, and what it needs.
#[derive(Debug)]
pub(crate) struct Toolchain {
    pub cargo: PathBuf,
    pub arguments: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Where what was compiled for one guest serves the next, if there is such a place.
    pub target_dir: Option<PathBuf>,
    /// The file that said so.
    told_by: Option<PathBuf>,
}

/// Says which toolchain guests would be compiled with, in one line.
///
/// # Errors
/// Where there is none.
pub fn toolchain() -> Result<String, AuthorError> {
    let found = Toolchain::find()?;
    let mut rustc = Command::new(found.env.iter().find(|(name, _)| name == "RUSTC").map_or("rustc", |(_, path)| path));
    let version = output(rustc.arg("--version")).ok_or(AuthorError::NoToolchain)?;
    Ok(match found.told_by {
        Some(path) => format!("{version} for {TARGET}, as `{}` says", path.display()),
        None => format!("{version} for {TARGET}"),
    })
}

impl Toolchain {
    pub(crate) fn find() -> Result<Self, AuthorError> {
        for folder in build_folders() {
            let file = folder.join(FILE);
            if file.is_file() {
                return Self::told(&folder, file);
            }
        }
        let sysroot = output(Command::new("rustc").args(["--print", "sysroot"])).ok_or(AuthorError::NoToolchain)?;
        if !Path::new(&sysroot).join("lib/rustlib").join(TARGET).join("lib").is_dir() {
            return Err(AuthorError::NoToolchain);
        }
        Ok(Self { cargo: "cargo".into(), arguments: Vec::new(), env: Vec::new(), target_dir: None, told_by: None })
    }

    fn told(folder: &Path, file: PathBuf) -> Result<Self, AuthorError> {
        let text = std::fs::read_to_string(&file).map_err(AuthorError::io(&file, "cannot be read"))?;
        let mut env = assignments(&text).map_err(|line| AuthorError::BadToolchainFile { path: file.clone(), line })?;
        let mut take = |wanted: &str| {
            let at = env.iter().position(|(name, _)| name == wanted)?;
            Some(env.remove(at).1)
        };
        let cargo =
            take("CAISSON_GUEST_CARGO").ok_or_else(|| AuthorError::BadToolchainFile { path: file.clone(), line: 1 })?;
        let arguments =
            take("CAISSON_GUEST_CARGO_ARGS").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        Ok(Self {
            cargo: cargo.into(),
            arguments,
            env,
            target_dir: Some(folder.join("guest-target")),
            told_by: Some(file),
        })
    }
}

/// Where the file may lie, the best first.
fn build_folders() -> Vec<PathBuf> {
    match std::env::var_os("CAISSON_BUILD_DIR").filter(|told| !told.is_empty()) {
        Some(told) => vec![told.into()],
        None => checkouts().into_iter().map(|checkout| checkout.join("build")).collect(),
    }
}

/// The checkouts that this program or the current folder lies in.
pub(crate) fn checkouts() -> Vec<PathBuf> {
    let starts = [std::env::current_exe().ok(), std::env::current_dir().ok()];
    let above = starts.iter().flatten().flat_map(|start| start.ancestors());
    above.filter(|folder| folder.join("sdk/rust/sdk/Cargo.toml").is_file()).map(Path::to_owned).collect()
}

/// Reads the lines `export NAME='value'`, where `'\''` in a value is a quote; a line that is not so is told by its number.
fn assignments(text: &str) -> Result<Vec<(String, String)>, usize> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(index, line)| {
            let (name, value) = line.strip_prefix("export ").and_then(|pair| pair.split_once('=')).ok_or(index + 1)?;
            let inner = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).ok_or(index + 1)?;
            Ok((name.to_owned(), inner.replace(r"'\''", "'")))
        })
        .collect()
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_another_form_is_told() {
        assert_eq!(assignments("# a\nexport A='b'\nA=b"), Err(3));
        assert_eq!(assignments("export A=b"), Err(1));
    }

    #[test]
    fn values_are_unquoted() {
        let read = assignments("# a\n\nexport A='b c'\nexport D='it'\\''s'\nexport E=''\n");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read, Ok(vec![pair("A", "b c"), pair("D", "it's"), pair("E", "")]));
    }
}
