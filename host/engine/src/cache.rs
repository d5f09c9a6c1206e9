//! Machine code on disk, authenticated.
//!
//! Machine code is as trusted as this program, so a file of it is mapped only behind a tag: BLAKE3 keyed with a key outside the
//! database, over the component's digest, the engine's compatibility hash, this build, and the code. What was checked is
//! what is mapped: the file is copied into a sealed memory file first, since a file can change after the check.

use crate::config::CacheKey;
use rustix::fs::{MemfdFlags, SealFlags};
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq;

const TAG: usize = 32;

/// Largest code file that is read; the largest seen from a real toolchain is 34 MB.
const MAX_CODE: u64 = 512 << 20;

/// Machine code in memory that nobody can change any more.
pub(crate) struct Code {
    file: File,
}

impl Code {
    /// Copies code into sealed memory.
    pub(crate) fn sealed(code: &[u8]) -> std::io::Result<Self> {
        let fd = rustix::fs::memfd_create("caisson-code", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let mut file = File::from(fd);
        file.write_all(code)?;
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(file.as_fd(), seals)?;
        Ok(Self { file })
    }

    /// A path under which this very memory can be mapped, for as long as `self` lives.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    fn bytes(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(self.path())?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

pub(crate) struct Cache {
    dir: Option<PathBuf>,
    key: [u8; 32],
    /// Everything beside the component that the code depends on.
    context: String,
}

impl Cache {
    pub(crate) fn new(dir: Option<PathBuf>, key: &CacheKey, engine: &wasmtime::Engine) -> Self {
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Self {
            dir,
            key: blake3::derive_key("caisson machine code cache 2026", key.as_slice()),
            context: format!("{}/{:016x}", env!("CARGO_PKG_VERSION"), hasher.finish()),
        }
    }

    fn file(&self, digest: &str) -> Option<PathBuf> {
        // A digest is hex; anything else must not become a path.
        if digest.is_empty() || !digest.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let name = blake3::hash(format!("{digest}/{}", self.context).as_bytes()).to_hex();
        self.dir.as_ref().map(|dir| dir.join(format!("{name}.code")))
    }

    fn tag(&self, digest: &str, code: &[u8]) -> [u8; TAG] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in [digest.as_bytes(), self.context.as_bytes(), code] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// Reads code and checks its tag; `None` where there is none or it is not authentic.
    pub(crate) fn read(&self, digest: &str) -> Option<Code> {
        let path = self.file(digest)?;
        let mut bytes = Vec::new();
        File::open(&path).ok()?.take(MAX_CODE).read_to_end(&mut bytes).ok()?;
        let (tag, code) = bytes.split_at_checked(TAG)?;
        if !bool::from(self.tag(digest, code).ct_eq(tag)) {
            tracing::warn!(path = %path.display(), "a cached file of machine code is not authentic; it is made anew");
            let _ = std::fs::remove_file(&path);
            return None;
        }
        Code::sealed(code).ok()
    }

    /// Keeps code. A cache that cannot be written costs the next start time, not this call its answer.
    pub(crate) fn write(&self, digest: &str, code: &Code) {
        let Some(path) = self.file(digest) else { return };
        if let Err(error) = self.try_write(&path, digest, code) {
            tracing::warn!(path = %path.display(), %error, "machine code could not be kept");
        }
    }

    fn try_write(&self, path: &Path, digest: &str, code: &Code) -> std::io::Result<()> {
        let dir = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir)?;
        let code = code.bytes()?;
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(&self.tag(digest, &code))?;
        file.write_all(&code)?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    }
}
