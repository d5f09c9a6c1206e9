//! Components as files named by their digest.

use crate::SqliteStore;
use caisson_registry::StoreError;
use std::io::Write;
use std::path::{Path, PathBuf};

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError(error.to_string())
}

impl SqliteStore {
    pub(crate) fn artefact_path(&self, digest: &str) -> Result<PathBuf, StoreError> {
        // A digest is hex; anything else must not become a path.
        if digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f')) {
            Ok(self.artefacts.join(format!("{digest}.wasm")))
        } else {
            Err(failed("a digest is 64 lower-case hex digits"))
        }
    }
}

fn is(bytes: &[u8], digest: &str) -> bool {
    blake3::hash(bytes).to_hex().as_str() == digest
}

/// Written beside, synced, then renamed: a component is there whole or not at all. One that is there but damaged is replaced.
pub(crate) fn write(path: &Path, digest: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let cannot =
        |error: std::io::Error| failed(format!("the component file `{}` cannot be written: {error}", path.display()));
    if !is(bytes, digest) {
        return Err(failed("the component does not have the digest that it is to be kept under"));
    }
    if std::fs::read(path).is_ok_and(|there| is(&there, digest)) {
        return Ok(());
    }
    let folder = path.parent().ok_or_else(|| failed("the folder of components has no name"))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
    file.write_all(bytes).map_err(cannot)?;
    file.as_file().sync_all().map_err(cannot)?;
    file.persist(path).map_err(|e| cannot(e.error))?;
    std::fs::File::open(folder).and_then(|dir| dir.sync_all()).map_err(cannot)
}

/// The component, if it is there and is what it was.
pub(crate) fn read(path: &Path, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(format!("the component file `{}` cannot be read: {error}", path.display()))),
    };
    if !is(&bytes, digest) {
        return Err(failed(format!(
            "the component file `{}` is not what it was; restore it from a backup, or remove the plugin and install it again",
            path.display()
        )));
    }
    Ok(Some(bytes))
}
