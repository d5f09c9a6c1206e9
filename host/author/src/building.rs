//! `caisson build`: from a folder with a plugin to one component file with its manifest in it.

use crate::AuthorError;
use crate::toolchain::{TARGET, Toolchain};
use caisson_contract::{Manifest, add_manifest_section, inspect_component};
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const MANIFEST: &str = "caisson.toml";

/// What cargo builds is not from outside, so this only keeps a mistake from filling memory.
const MAX_BYTES: usize = 512 << 20;

/// How to build.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Where the component goes; `None` is `<plugin name>.wasm` in the plugin's folder.
    pub out: Option<PathBuf>,
}

/// Builds the plugin in `dir` and returns the component's path. `progress` gets a line for each step; what the compiler says goes
/// to stderr as it comes, with its places in the author's files.
///
/// # Errors
/// A manifest that is wrong, no toolchain, a plugin that does not compile or exports no tools, or what the file system says.
pub fn build_plugin(
    dir: &Path,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, AuthorError> {
    let (text, manifest) = read_manifest(dir)?;
    if !dir.join("Cargo.toml").is_file() {
        return Err(AuthorError::NoPlugin { dir: dir.to_owned(), file: "Cargo.toml" });
    }
    let toolchain = Toolchain::find()?;
    progress(&format!("compiling `{}`", manifest.plugin.name));
    let built = compile(dir, &toolchain, progress)?;
    progress("putting the manifest in");
    let component = std::fs::read(&built).map_err(AuthorError::io(&built, "cannot be read"))?;
    if !inspect_component(&component, MAX_BYTES)?.exports.iter().any(|name| name.starts_with("caisson:plugin/tools@")) {
        return Err(AuthorError::NoTools);
    }
    let component = embed_manifest(&component, &text)?;
    let out = options.out.clone().unwrap_or_else(|| dir.join(format!("{}.wasm", manifest.plugin.name)));
    replace(&out, &component)?;
    Ok(out)
}

/// Puts the manifest into a component, as its section `caisson:manifest`.
///
/// # Errors
/// Where the bytes are no component, or there is a manifest in it already.
pub fn embed_manifest(component: &[u8], manifest: &str) -> Result<Vec<u8>, AuthorError> {
    Ok(add_manifest_section(component, manifest)?)
}

fn read_manifest(dir: &Path) -> Result<(String, Manifest), AuthorError> {
    let path = dir.join(MANIFEST);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(AuthorError::NoPlugin { dir: dir.to_owned(), file: MANIFEST });
        }
        Err(error) => return Err(AuthorError::io(&path, "cannot be read")(error)),
    };
    let manifest = Manifest::parse(&text).map_err(|faults| AuthorError::Manifest { path, faults })?;
    Ok((text, manifest))
}

/// Runs cargo and returns the path of the file that it made of the plugin's own library.
fn compile(dir: &Path, toolchain: &Toolchain, progress: &mut dyn FnMut(&str)) -> Result<PathBuf, AuthorError> {
    let mut child = start(dir, toolchain)?;
    let artifacts = child.stdout.take().map(|stdout| std::thread::spawn(move || artifacts(BufReader::new(stdout))));
    if let Some(stderr) = child.stderr.take() {
        pass_on(BufReader::new(stderr), progress);
    }
    let status = child.wait().map_err(AuthorError::io(&toolchain.cargo, "cannot be waited for"))?;
    let artifacts = artifacts.and_then(|reader| reader.join().ok()).unwrap_or_default();
    if !status.success() {
        return Err(AuthorError::Compile(dir.to_owned()));
    }
    // Cargo tells its artifacts in the order of their making: the plugin itself is the last.
    artifacts.into_iter().next_back().ok_or(AuthorError::NoComponent)
}

fn start(dir: &Path, toolchain: &Toolchain) -> Result<Child, AuthorError> {
    let mut cargo = Command::new(&toolchain.cargo);
    cargo.current_dir(dir).arg("build").args(["--release", "--lib", "--target", TARGET]);
    cargo.arg("--message-format=json-render-diagnostics").args(&toolchain.arguments);
    // What is meant for compiling the host would reach the guest too.
    for name in
        ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR"]
    {
        cargo.env_remove(name);
    }
    cargo.envs(toolchain.env.iter().map(|(name, value)| (name, value)));
    if let Some(target_dir) = &toolchain.target_dir {
        let target_dir = std::path::absolute(target_dir).map_err(AuthorError::io(target_dir, "cannot be found"))?;
        cargo.env("CARGO_TARGET_DIR", target_dir);
    }
    if std::io::stderr().is_terminal() {
        cargo.env("CARGO_TERM_COLOR", "always");
    }
    cargo.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    cargo.spawn().map_err(AuthorError::io(&toolchain.cargo, "cannot be started"))
}

/// The `.wasm` files that cargo tells of.
fn artifacts(messages: impl BufRead) -> Vec<PathBuf> {
    let lines = messages.lines().map_while(Result::ok);
    let messages = lines.filter_map(|line| serde_json::from_str::<serde_json::Value>(&line).ok());
    let made = messages.filter(|message| message.get("reason").is_some_and(|reason| reason == "compiler-artifact"));
    let files =
        made.filter_map(|message| message.get("filenames").and_then(serde_json::Value::as_array).cloned()).flatten();
    files
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .filter(|file| file.extension().is_some_and(|end| end == "wasm"))
        .collect()
}

/// Cargo's own steps are progress; everything else is for the author's eyes.
fn pass_on(lines: impl BufRead, progress: &mut dyn FnMut(&str)) {
    const STEPS: [&str; 9] =
        ["Compiling", "Downloading", "Downloaded", "Updating", "Locking", "Adding", "Fresh", "Finished", "Blocking"];
    let terminal = std::io::stderr().is_terminal();
    for line in lines.split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        let plain = without_colour(&line);
        let step = plain.trim_start();
        // Steps stand to the right in a column of twelve; the compiler's own words begin at the left.
        if plain.starts_with(' ') && STEPS.iter().any(|word| step.split(' ').next() == Some(word)) {
            progress(step);
            continue;
        }
        // A progress bar may stand on the line; the clearing code takes it away.
        let clear = if terminal { "\r\u{1b}[2K" } else { "" };
        // There is nobody to tell where stderr is closed.
        let _ = writeln!(std::io::stderr(), "{clear}{line}");
    }
}

/// The text without the codes `ESC [ … letter`.
fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            // The bracket is no letter, so this ends at the code's own end.
            rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

/// Writes beside the goal and renames, so that nobody ever reads half a component.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), AuthorError> {
    let beside = path.with_extension("wasm.new");
    std::fs::write(&beside, bytes).map_err(AuthorError::io(&beside, "cannot be written"))?;
    std::fs::rename(&beside, path).map_err(AuthorError::io(path, "cannot be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wasm_artifacts_count() {
        let messages = concat!(
            "no json\n",
            r#"{"reason":"compiler-artifact","filenames":["/t/libserde.rlib"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","filenames":["/t/a.wasm","/t/a.d"]}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(artifacts(messages.as_bytes()), [PathBuf::from("/t/a.wasm")]);
    }

    #[test]
    fn cargo_steps_are_progress_and_the_compiler_is_not() {
        let mut steps = Vec::new();
        let said = "\u{1b}[1m\u{1b}[92m   Compiling\u{1b}[0m weather v0.1.0\n    Finished `release` profile\n";
        pass_on(said.as_bytes(), &mut |step| steps.push(step.to_owned()));
        assert_eq!(steps, ["Compiling weather v0.1.0", "Finished `release` profile"]);
    }
}
