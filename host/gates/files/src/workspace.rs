//! The directory that a call works in: derived by the host, named by nobody.

use crate::resolve::Root;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Where a call's files are. Making one touches no disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Workspace {
    root: PathBuf,
    /// Relative to `root`; every component made safe. Empty where `root` is the workspace.
    below: PathBuf,
}

/// A segment that names no directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a workspace's path has an empty segment; every part of it must be named")]
pub struct EmptySegment;

/// Characters of a segment that are kept as they are. A directory's name may have 255 bytes; the rest is room for the mark.
const SEGMENT_CHARS: usize = 100;

impl Workspace {
    /// The workspace below `root` that these segments (tenant, then team, project, agent, user, chat) name. Each is made
    /// safe: what is not `[A-Za-z0-9_-]` becomes `_`, and a segment that was changed or cut gets a mark made from its
    /// original, so that no two originals share a directory.
    ///
    /// # Errors
    /// [`EmptySegment`] where a segment is empty or there is none.
    pub fn derive(root: &Path, segments: &[&str]) -> Result<Self, EmptySegment> {
        if segments.is_empty() || segments.iter().any(|s| s.is_empty()) {
            return Err(EmptySegment);
        }
        Ok(Self { root: root.to_owned(), below: segments.iter().map(|s| safe_segment(s)).collect() })
    }

    /// A directory that somebody on the host names, such as `caisson call --workspace`.
    #[must_use]
    pub fn at(directory: &Path) -> Self {
        Self { root: directory.to_owned(), below: PathBuf::new() }
    }

    /// The host's path of it. For logs of the operator; a guest never sees it.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.below)
    }

    /// Opens the workspace, and makes it with its parents (mode 0700) where it is missing. No link is followed below the
    /// root: whatever lies there was made by this function or it is not used.
    ///
    /// # Errors
    /// What the system says; a link or a file where a directory belongs is an error too.
    pub fn open_or_create(&self) -> std::io::Result<std::fs::File> {
        Ok(self.open_fd(true)?.into())
    }

    pub(crate) fn open_root(&self, create: bool) -> Result<Root, Errno> {
        Root::new(self.open_fd(create)?)
    }

    fn open_fd(&self, create: bool) -> Result<OwnedFd, Errno> {
        let root = match open_dir(&self.root) {
            Err(Errno::NOENT) if create => {
                std::fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(&self.root)
                    .map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::IO))?;
                open_dir(&self.root)?
            }
            other => other?,
        };
        if self.below.as_os_str().is_empty() {
            return Ok(root);
        }
        match beneath(&root, &self.below) {
            Err(Errno::NOENT) if create => {}
            other => return other,
        }
        let mut at = root;
        for segment in &self.below {
            let segment = Path::new(segment);
            at = match beneath(&at, segment) {
                Err(Errno::NOENT) => {
                    // Two calls may make the same workspace at once; the one that comes second finds it.
                    match rustix::fs::mkdirat(&at, segment, Mode::from_raw_mode(0o700)) {
                        Ok(()) | Err(Errno::EXIST) => beneath(&at, segment)?,
                        Err(other) => return Err(other),
                    }
                }
                other => other?,
            };
        }
        Ok(at)
    }
}

fn open_dir(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// An operator may mount a volume for a tenant, so other file systems are fine here; links are not.
fn beneath(at: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::openat2(
        at,
        path,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    )
}

fn safe_segment(raw: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if raw.len() <= SEGMENT_CHARS && raw.chars().all(kept) {
        return raw.to_owned();
    }
    let mut safe: String = raw.chars().take(SEGMENT_CHARS).map(|c| if kept(c) { c } else { '_' }).collect();
    // A dot cannot stand in an unchanged segment, so no name can be chosen to meet another's mark.
    safe.push('.');
    safe.push_str(blake3::hash(raw.as_bytes()).to_hex().get(..16).unwrap_or_default());
    safe
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_empty_segment_is_refused() {
        for segments in [&[][..], &["a", ""], &[""]] {
            assert_eq!(Workspace::derive(Path::new("/w"), segments), Err(EmptySegment));
        }
    }

    #[test]
    fn no_segment_escapes_and_no_two_meet() {
        let raws = [
            "..",
            ".",
            "a/b",
            "a_b",
            "a\0b",
            "a.b",
            "é",
            "ё",
            "a/../b",
            "/",
            "~",
            "A",
            "a",
            &"x".repeat(101),
            &"x".repeat(300),
        ];
        let mut seen = std::collections::HashSet::new();
        for raw in raws {
            let safe = safe_segment(raw);
            assert!(safe.len() <= 255 && !safe.contains('/') && !safe.starts_with('.'), "{raw} became {safe}");
            assert!(seen.insert(safe.clone()), "{raw} became {safe} like another");
            // Choosing another's marked name must not reach its directory.
            assert!(safe == raw || safe_segment(&safe) != safe, "{safe}");
        }
        assert_eq!(safe_segment("agent-7_x"), "agent-7_x");
    }

    #[test]
    fn a_link_on_the_way_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join("t")).unwrap();
        let workspace = Workspace::derive(dir.path(), &["t", "agent"]).unwrap();
        assert!(workspace.open_or_create().is_err());
        assert!(std::fs::read_dir(dir.path().join("elsewhere")).unwrap().next().is_none());
    }

    #[test]
    fn it_is_made_once_and_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::derive(&dir.path().join("new"), &["t", "agent", "user@example.com"]).unwrap();
        workspace.open_or_create().unwrap();
        workspace.open_or_create().unwrap();
        assert_eq!(workspace.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
}
