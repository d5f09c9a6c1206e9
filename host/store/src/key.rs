//! The master key, and what is sealed with keys derived from it.

use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Environment variable that may hold the key, 64 hex digits.
const VARIABLE: &str = "CAISSON_MASTER_KEY";

/// Bytes of a GCM nonce.
const NONCE: usize = 12;

/// The key that everything secret hangs on: 32 random bytes outside the database. It cannot print itself.
pub struct MasterKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey(…)")
    }
}

/// The key cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or made.
    #[error("the key file `{path}` cannot be used: {source}", path = path.display())]
    File {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Others may read the file.
    #[error("the key file `{}` may be read by others than its owner; run `chmod 600` on it, and change the key if somebody may have seen it", .0.display())]
    Exposed(PathBuf),
    /// Not a key.
    #[error("{0} does not hold a key: it must be 64 hex digits")]
    Malformed(String),
    /// No randomness.
    #[error("the system gives no random bytes for a new key")]
    NoRandomness,
}

impl MasterKey {
    /// A fresh key that is kept nowhere.
    ///
    /// # Errors
    /// Where the system gives no random bytes.
    pub fn random() -> Result<Self, KeyError> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(key.as_mut()).map_err(|_| KeyError::NoRandomness)?;
        Ok(Self(key))
    }

    /// The key in `CAISSON_MASTER_KEY`, if it is set.
    #[must_use]
    pub fn from_env() -> Option<Result<Self, KeyError>> {
        let text = Zeroizing::new(std::env::var(VARIABLE).ok()?);
        Some(Self::parse(&text).ok_or_else(|| KeyError::Malformed(format!("the environment variable `{VARIABLE}`"))))
    }

    /// The key in a file that only its owner may read; made where it is missing.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn from_file_or_create(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::File { path: path.to_owned(), source };
        match Self::read(path) {
            Err(KeyError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            result => return result,
        }
        let key = Self::random()?;
        // Written beside and linked into place: a key file is whole or not there, and of two programs that make it at once, one wins.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let text: Zeroizing<String> = Zeroizing::new(key.0.iter().map(|byte| format!("{byte:02x}")).collect());
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        match file.persist_noclobber(path) {
            Ok(_) => std::fs::File::open(folder).and_then(|dir| dir.sync_all()).map_err(failed).map(|()| key),
            Err(lost) if lost.error.kind() == ErrorKind::AlreadyExists => Self::read(path),
            Err(error) => Err(failed(error.error)),
        }
    }

    fn read(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::File { path: path.to_owned(), source };
        let file = std::fs::File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(KeyError::Exposed(path.to_owned()));
        }
        let mut text = Zeroizing::new(Vec::with_capacity(128));
        file.take(128).read_to_end(&mut text).map_err(failed)?;
        let malformed = || KeyError::Malformed(format!("the key file `{}`", path.display()));
        std::str::from_utf8(&text).ok().and_then(Self::parse).ok_or_else(malformed)
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut key = Zeroizing::new([0; 32]);
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        for (index, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
        }
        Some(Self(key))
    }

    /// A key for one purpose, named by a fixed text; nothing of the master key can be told from it.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(purpose, self.0.as_slice())
    }

    /// Names the key without telling anything of it; stored beside what it sealed.
    #[must_use]
    pub fn id(&self) -> String {
        self.derive("caisson key id").iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }

    fn cipher(&self) -> Aes256Gcm {
        let key = Zeroizing::new(self.derive("caisson secrets"));
        Aes256Gcm::new(&Key::<Aes256Gcm>::from(*key))
    }

    /// Seals a secret for exactly one place: what was sealed for another does not open there.
    pub(crate) fn seal(&self, place: &str, secret: &str) -> Option<String> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let payload = Payload { msg: secret.as_bytes(), aad: place.as_bytes() };
        let sealed = self.cipher().encrypt(&Nonce::from(nonce), payload).ok()?;
        Some(nonce.iter().chain(&sealed).map(|byte| format!("{byte:02x}")).collect())
    }

    /// Opens what [`seal`](Self::seal) made; `None` for anything changed, moved, or sealed with another key.
    pub(crate) fn open(&self, place: &str, sealed: &str) -> Option<Zeroizing<String>> {
        let bytes: Option<Vec<u8>> = (0..sealed.len() / 2)
            .map(|index| u8::from_str_radix(sealed.get(2 * index..2 * index + 2)?, 16).ok())
            .collect();
        let bytes = bytes?;
        let (nonce, ciphertext) = bytes.split_at_checked(NONCE)?;
        let nonce: [u8; NONCE] = nonce.try_into().ok()?;
        let payload = Payload { msg: ciphertext, aad: place.as_bytes() };
        let opened = self.cipher().decrypt(&Nonce::from(nonce), payload).ok()?;
        String::from_utf8(opened).ok().map(Zeroizing::new)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_sealed_secret_opens_only_in_its_place_and_with_its_key() {
        let key = MasterKey::random().unwrap();
        let sealed = key.seal("t/weather", "s3cret-value").unwrap();
        assert!(key.open("other/weather", &sealed).is_none());
        assert!(MasterKey::random().unwrap().open("t/weather", &sealed).is_none());
        let mut changed = sealed.clone();
        changed.replace_range(30..31, if &sealed[30..31] == "0" { "1" } else { "0" });
        assert!(key.open("t/weather", &changed).is_none());
        assert!(key.open("t/weather", "").is_none());
        assert!(!sealed.contains("s3cret"));
        assert_eq!(&**key.open("t/weather", &sealed).unwrap(), "s3cret-value");
    }

    #[test]
    fn a_key_file_that_others_may_read_or_that_holds_no_key_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("master.key");
        let first = MasterKey::from_file_or_create(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(MasterKey::from_file_or_create(&path).unwrap().derive("x"), first.derive("x"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(MasterKey::from_file_or_create(&path), Err(KeyError::Exposed(_))));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        for text in ["", "abc", &"é".repeat(32), &"g".repeat(64), &"0".repeat(66), &"0".repeat(1000)] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(MasterKey::from_file_or_create(&path), Err(KeyError::Malformed(_))), "{text}");
        }
        let nowhere = dir.path().join("missing/master.key");
        assert!(MasterKey::from_file_or_create(&nowhere).unwrap_err().to_string().contains("missing/master.key"));
    }

    #[test]
    fn programs_that_make_the_key_at_once_agree_on_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("master.key");
        let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| MasterKey::from_file_or_create(&path).unwrap().derive("x"))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| Some(key) == keys.first()));
    }

    #[test]
    fn a_key_does_not_print_itself() {
        let key = MasterKey::parse(&"ab".repeat(32)).unwrap();
        assert!(!format!("{key:?}").contains("ab"));
    }
}
