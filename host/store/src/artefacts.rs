//! Components as files named by their digest.

use crate::SqliteStore;
use caisson_registry::StoreError;
use std::io::Write;
use std::path::PathBuf;

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError(error.to_string())
}

impl SqliteStore {
    fn artefact_path(&self, digest: &str) -> Result<PathBuf, StoreError> {
        // A digest is hex; anything else must not become a path.
        if digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()) {
            Ok(self.artefacts.join(format!("{digest}.wasm")))
        } else {
            Err(failed("a digest is 64 hex digits"))
        }
    }

    /// Written beside, synced, then renamed: a component is there whole or not at all.
    pub(crate) fn write_artefact(&self, digest: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.artefact_path(digest)?;
        if path.exists() {
            return Ok(());
        }
        let mut file = tempfile::NamedTempFile::new_in(&self.artefacts).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(failed)?;
        std::fs::File::open(&self.artefacts).and_then(|dir| dir.sync_all()).map_err(failed)
    }

    pub(crate) fn read_artefact(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.artefact_path(digest)?;
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        if blake3::hash(&bytes).to_hex().as_str() != digest {
            return Err(failed(format!("the component file `{}` is not what it was; restore it from a backup or install the plugin again", path.display())));
        }
        Ok(Some(bytes))
    }
}
