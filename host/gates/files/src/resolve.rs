//! The one place where a path becomes a descriptor: opened beneath a directory, then judged by what was opened.
//!
//! Nothing here trusts a path that was checked earlier. A link swapped by another process changes what is opened, and what
//! is opened is what is judged; a directory moved meanwhile is judged by where it is.

use crate::decide::{Refusal, Rules, Want};
use crate::error::Fault;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The opened workspace.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub file: Arc<File>,
    /// As the system names it, links resolved; only compared with other names that the system gives.
    path: Arc<Path>,
}

impl Root {
    pub(crate) fn new(dir: OwnedFd) -> Result<Self, Errno> {
        let path = name_of(dir.as_fd())?.into();
        Ok(Self { file: Arc::new(File::from(dir)), path })
    }

    /// Where below the workspace a descriptor is.
    pub(crate) fn locate(&self, fd: BorrowedFd<'_>) -> Result<PathBuf, Fault> {
        let name = name_of(fd)?;
        match name.strip_prefix(&self.path) {
            Ok(below) => Ok(below.to_owned()),
            Err(_) => Err(outside().into()),
        }
    }
}

fn name_of(fd: BorrowedFd<'_>) -> Result<PathBuf, Errno> {
    let link = rustix::fs::readlinkat(CWD, format!("/proc/self/fd/{}", fd.as_raw_fd()), Vec::with_capacity(256))?;
    Ok(PathBuf::from(OsString::from_vec(link.into_bytes())))
}

fn outside() -> Refusal {
    Refusal::fixed("files.outside")
}

/// How a file is to be opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ask {
    pub read: bool,
    pub write: bool,
    pub directory: bool,
    pub create: bool,
    pub exclusive: bool,
    pub truncate: bool,
    pub follow: bool,
}

impl Ask {
    pub(crate) fn writes(&self) -> bool {
        self.write || self.create || self.truncate
    }

    fn flags(&self) -> OFlags {
        // NONBLOCK, so that opening a fifo that nobody writes to comes back and can be refused.
        let mut flags = OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        flags |= match (self.writes(), self.read || !self.write) {
            (false, _) => OFlags::RDONLY,
            (true, true) => OFlags::RDWR,
            (true, false) => OFlags::WRONLY,
        };
        flags.set(OFlags::DIRECTORY, self.directory);
        flags.set(OFlags::NOFOLLOW, !self.follow);
        flags
    }
}

/// A judged descriptor of a regular file or a directory.
pub(crate) struct Opened {
    pub fd: OwnedFd,
    pub is_dir: bool,
    pub size: u64,
}

/// A judged parent directory and one name in it.
pub(crate) struct Parent {
    pub dir: OwnedFd,
    pub name: String,
    /// Where the name is, relative to the workspace.
    pub path: PathBuf,
    /// The guest wrote `name/`.
    pub slash: bool,
}

/// A directory that paths are relative to, in the workspace of one call.
pub(crate) struct Place<'a> {
    pub root: &'a Root,
    pub rules: &'a Rules,
    pub base: &'a File,
}

/// Rounds of open, find it missing, create, find it there. More than a few means that somebody races on purpose.
const ROUNDS: usize = 8;

impl Place<'_> {
    /// Opens a file or directory; makes the file where `ask` says so.
    pub(crate) fn open(&self, path: &str, ask: &Ask) -> Result<Opened, Fault> {
        self.rules.mount(if ask.writes() { Want::Write } else { Want::Read })?;
        for _ in 0..ROUNDS {
            if !(ask.create && ask.exclusive) {
                match self.open_existing(path, ask) {
                    Err(Fault::Os(Errno::NOENT)) if ask.create => {}
                    other => return other,
                }
            }
            match self.create(path, ask) {
                Err(Fault::Os(Errno::EXIST)) if !ask.exclusive => {}
                other => return other,
            }
        }
        Err(Errno::AGAIN.into())
    }

    fn open_existing(&self, path: &str, ask: &Ask) -> Result<Opened, Fault> {
        let fd = beneath(self.base.as_fd(), path, ask.flags(), Mode::empty())?;
        let opened = self.judge(fd, ask.writes())?;
        if ask.truncate && !opened.is_dir {
            rustix::fs::ftruncate(&opened.fd, 0)?;
        }
        Ok(opened)
    }

    /// Makes a file under a judged parent. Exclusive and without following, so that a dangling link at that name makes
    /// nothing where it points.
    fn create(&self, path: &str, ask: &Ask) -> Result<Opened, Fault> {
        let parent = self.parent(path, Want::Write)?;
        if parent.slash {
            return Err(Errno::ISDIR.into());
        }
        let flags = ask.flags() | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let made = beneath(parent.dir.as_fd(), &parent.name, flags, Mode::from_raw_mode(0o644));
        match made {
            Err(Fault::Os(Errno::EXIST)) if !ask.exclusive && is_link(&parent.dir, &parent.name)? => {
                Err(Refusal::fixed("files.dangling-link").into())
            }
            Err(other) => Err(other),
            // The parent may have been moved to where nothing is granted since it was judged.
            Ok(fd) => self.judge(fd, true).inspect_err(|_| {
                let _ = rustix::fs::unlinkat(&parent.dir, &parent.name, AtFlags::empty());
            }),
        }
    }

    /// Judges what was opened: where it is, what it is, and whether it has another name elsewhere.
    pub(crate) fn judge(&self, fd: OwnedFd, write: bool) -> Result<Opened, Fault> {
        let stat = rustix::fs::fstat(&fd)?;
        let path = self.root.locate(fd.as_fd())?;
        let is_dir = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => true,
            FileType::RegularFile => false,
            _ => return Err(special().into()),
        };
        let want = match (is_dir, write) {
            (true, false) => Want::Look,
            (false, false) => Want::Read,
            (_, true) => Want::Write,
        };
        self.rules.judge(want, &path)?;
        single_name(&stat, is_dir)?;
        Ok(Opened { fd, is_dir, size: u64::try_from(stat.st_size).unwrap_or(0) })
    }

    /// Opens whatever the path names, only to look at it: links (where not followed) and special files too.
    pub(crate) fn peek(&self, path: &str, follow: bool) -> Result<OwnedFd, Fault> {
        self.rules.mount(Want::Read)?;
        let mut flags = OFlags::PATH | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, !follow);
        let fd = beneath(self.base.as_fd(), path, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        let want = if kind.is_dir() { Want::Look } else { Want::Read };
        self.rules.judge(want, &self.root.locate(fd.as_fd())?)?;
        single_name(&stat, !kind.is_file())?;
        Ok(fd)
    }

    /// Opens the directory that holds the last name of `path`, and judges the name there.
    pub(crate) fn parent(&self, path: &str, want: Want) -> Result<Parent, Fault> {
        self.rules.mount(want)?;
        relative(path)?;
        let trimmed = path.trim_end_matches('/');
        let (folder, name) = trimmed.rsplit_once('/').unwrap_or((".", trimmed));
        match name {
            "" => return Err(Errno::NOENT.into()),
            // These name a directory by its relation, so there is no name to make, move or remove.
            "." | ".." => return Err(Errno::INVAL.into()),
            _ => {}
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = beneath(self.base.as_fd(), folder, flags, Mode::empty())?;
        let at = self.root.locate(dir.as_fd())?.join(name);
        self.rules.judge(want, &at)?;
        Ok(Parent { dir, name: name.to_owned(), path: at, slash: trimmed.len() != path.len() })
    }
}

fn special() -> Refusal {
    Refusal::fixed("files.special-file")
}

/// A file with a second name may be somebody else's, linked into the workspace; one with none was removed meanwhile.
fn single_name(stat: &Stat, exempt: bool) -> Result<(), Fault> {
    match stat.st_nlink {
        _ if exempt => Ok(()),
        0 => Err(Errno::NOENT.into()),
        1 => Ok(()),
        _ => Err(Refusal {
            rule: "files.hard-link".into(),
            grant: "a copy of the file instead of a hard link to it".into(),
        }
        .into()),
    }
}

fn relative(path: &str) -> Result<(), Refusal> {
    if path.starts_with('/') { Err(outside()) } else { Ok(()) }
}

/// Tries of one `openat2`: it gives up with `EAGAIN` where a directory moved while it walked a `..`.
const WALKS: usize = 32;

fn beneath(base: BorrowedFd<'_>, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Fault> {
    relative(path)?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    for _ in 0..WALKS {
        match rustix::fs::openat2(base, path, flags, mode, resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::XDEV) => return Err(outside().into()),
            // A socket, a fifo without a reader, a device without a driver.
            Err(Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP) => return Err(special().into()),
            other => return Ok(other?),
        }
    }
    Err(Errno::AGAIN.into())
}

/// The guest's path as it is relative to the mount: `/workspace/a` and `a` are the same file.
pub(crate) fn below_mount(path: &str) -> &str {
    match path.strip_prefix(crate::MOUNT) {
        Some("") => ".",
        Some(rest) if rest.starts_with('/') => match rest.trim_start_matches('/') {
            "" => ".",
            rest => rest,
        },
        _ => path,
    }
}

/// For messages: where a directory is, or nothing where that cannot be said.
pub(crate) fn shown(root: &Root, base: &File) -> String {
    root.locate(base.as_fd()).map(|p| p.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether a name in `parent` is a link, without following it.
pub(crate) fn is_link(parent: &OwnedFd, name: &str) -> Result<bool, Errno> {
    let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink())
}

/// Whether a path of the workspace is a directory, without following a link.
pub(crate) fn is_dir(parent: &Parent) -> Result<bool, Errno> {
    let stat = rustix::fs::statat(&parent.dir, &parent.name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode).is_dir())
}

/// Moves one name to another. Where layers narrow paths, a directory may only move where all of it stays granted.
pub(crate) fn rename(rules: &Rules, from: &Parent, to: &Parent) -> Result<(), Fault> {
    let whole = |path: &Path| rules.judge(Want::Tree, path);
    if rules.narrows_paths() && is_dir(from)? {
        whole(&from.path)?;
        whole(&to.path)?;
    }
    rustix::fs::renameat(&from.dir, &from.name, &to.dir, &to.name)?;
    // What was moved may be another thing than what was looked at, put there in between; then it goes back.
    if rules.narrows_paths() && is_dir(to)? {
        whole(&from.path).and_then(|()| whole(&to.path)).inspect_err(|_| {
            let _ = rustix::fs::renameat(&to.dir, &to.name, &from.dir, &from.name);
        })?;
    }
    Ok(())
}
