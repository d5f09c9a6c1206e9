//! Why a plugin could not be made or built.

use caisson_contract::{ManifestFault, SectionError};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Why a plugin could not be made or built; each text says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum AuthorError {
    /// The name cannot be a plugin's.
    #[error("`{name}` cannot be a plugin's name: {why}")]
    BadName {
        /// What was asked for.
        name: String,
        /// What is wrong with it and what would do.
        why: String,
    },
    /// There is something in the folder already.
    #[error("the folder `{}` is not empty; choose another, or remove what is in it", .0.display())]
    NotEmpty(PathBuf),
    /// The SDK is nowhere to be found.
    #[error(
        "the Rust SDK was not found near this program or the current folder; set CAISSON_SDK to the folder `sdk/rust/sdk` of a checkout"
    )]
    NoSdk,
    /// `CAISSON_SDK` names a folder that is not it.
    #[error("CAISSON_SDK is `{}`, where no `Cargo.toml` of `caisson-sdk` is; set it to the folder `sdk/rust/sdk` of a checkout", .0.display())]
    BadSdk(PathBuf),
    /// Guests cannot be compiled here.
    #[error(
        "nothing here can compile for `wasm32-wasip2`; run `scripts/setup-guest.sh` in a checkout, or `rustup target add wasm32-wasip2`"
    )]
    NoToolchain,
    /// The file that describes the toolchain is not as `scripts/setup-guest.sh` writes it.
    #[error("`{}` cannot be understood at line {line}; run `scripts/setup-guest.sh` again", path.display())]
    BadToolchainFile {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
    },
    /// The folder holds no plugin.
    #[error("`{}` has no `{file}`; name the folder of a plugin, or make one with `caisson new NAME`", dir.display())]
    NoPlugin {
        /// The folder.
        dir: PathBuf,
        /// The file that is not there.
        file: &'static str,
    },
    /// The manifest is wrong.
    #[error("{}", faults_text(path, faults))]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it, in the order of the text; never empty.
        faults: Vec<ManifestFault>,
    },
    /// The plugin does not compile; cargo has said why on stderr.
    #[error("the plugin in `{}` does not compile; the messages above say where", .0.display())]
    Compile(PathBuf),
    /// It compiles, but not to a component.
    #[error("cargo made no component: `Cargo.toml` needs `[lib]` with `crate-type = [\"cdylib\"]`")]
    NoComponent,
    /// The component exports no tools.
    #[error("the component exports no tools; list them in `src/lib.rs` with `caisson_sdk::plugin!(…)`")]
    NoTools,
    /// What cargo made, or was given, cannot take a manifest.
    #[error(transparent)]
    Section(#[from] SectionError),
    /// A file or a program could not be used.
    #[error("`{}` {what}: {source}", path.display())]
    Io {
        /// The file or program.
        path: PathBuf,
        /// What could not be done, as `cannot be read`.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

impl AuthorError {
    /// Wraps what the system said of a path.
    pub(crate) fn io(path: &Path, what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), what, source }
    }
}

/// One line a fault, `file:line:column: message`, as editors and terminals make links of.
fn faults_text(path: &Path, faults: &[ManifestFault]) -> String {
    let mut text = String::from("the manifest is wrong:");
    for fault in faults {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}:{}:{}: {}", path.display(), fault.line, fault.column, fault.message);
    }
    text
}
