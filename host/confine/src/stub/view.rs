//! What the program sees: a root of its own in memory, into which only what is listed here is mounted.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, readlinkat, statat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};

use super::init::INSIDE;
use super::{At, Fault, Step, sys};
use crate::plan::{AUTHORITIES, Access, FILES, MAX_FILES, Network, Plan, SYSTEM, WORKSPACE};

/// Takes a copy of a mount that is in no namespace yet.
pub const CLONE: OpenTreeFlags = OpenTreeFlags::OPEN_TREE_CLONE.union(OpenTreeFlags::OPEN_TREE_CLOEXEC);

const HARMLESS: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// The chosen part of `/etc`: found by the linker, by TLS and by clocks, and none of it about this machine. Passwords, keys,
/// host names, and the configuration of services stay out.
const ETC: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/os-release",
    "/etc/alternatives",
    "/etc/mime.types",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/openssl.cnf",
];

/// Whom the machine trusts, which is left out where the plan says whom to trust.
const CERTIFICATES: &[&str] = &[
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/ca-trust/extracted",
];

/// Bytes of the file system of a plan's files: each is rounded up to whole pages.
const FILES_SIZE: u64 = 2 * MAX_FILES as u64;

/// Devices without state. No terminal is among them.
pub const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

const LINKS: &[(&CStr, &str)] = &[
    (c"/proc/self/fd", "dev/fd"),
    (c"fd/0", "dev/stdin"),
    (c"fd/1", "dev/stdout"),
    (c"fd/2", "dev/stderr"),
    (c"/tmp", "dev/shm"),
    (c"/tmp", "var/tmp"),
];

/// Builds the view in this process's mount namespace and makes it the root. The old root is gone afterwards.
pub fn build(plan: &Plan, workspace: OwnedFd) -> Result<(), Fault> {
    let root = memory(1 << 20, c"755").at(Step::Root, "make the root")?;
    move_mount(&root, c"", CWD, c"/", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).at(Step::Root, "mount the root")?;
    let view = View { root: root.as_fd() };
    let certificates = if plan.authorities.is_none() { CERTIFICATES } else { &[] };
    for path in SYSTEM.iter().chain(ETC).chain(certificates).map(Path::new) {
        view.expose_if_there(path).at(Step::System, path.display())?;
    }
    for path in &plan.system {
        view.expose_addition(path).at(Step::System, path.display())?;
    }
    for path in DEVICES.iter().map(Path::new) {
        view.bind(path, FileType::CharacterDevice).at(Step::System, path.display())?;
    }
    for (target, link) in LINKS {
        view.link(target, Path::new(link)).at(Step::Root, link)?;
    }
    view.write_etc(plan).at(Step::Root, "write /etc")?;
    memory(plan.limits.temporary, c"1777").and_then(|tmp| view.mount(&tmp, "tmp")).at(Step::Root, "mount /tmp")?;
    if !plan.files.is_empty() {
        view.write_files(&plan.files).at(Step::Root, "write its files")?;
    }
    proc().and_then(|proc| view.mount(&proc, "proc")).at(Step::Proc, "mount /proc")?;
    view.mount(&workspace, WORKSPACE.trim_start_matches('/')).at(Step::Workspace, "mount")?;
    sys::set_mount(view.root, HARMLESS | libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOEXEC, false, None)
        .at(Step::Root, "seal")?;
    enter(view.root).at(Step::Root, "enter")
}

/// The workspace's mount, made here where the keeper has no privilege to make it. A descriptor from outside is of another namespace's
/// mount, so the directory is opened again by path and must be the same one.
pub fn workspace_tree(given: &OwnedFd, access: Access) -> Result<OwnedFd, Fault> {
    let number = std::os::fd::AsRawFd::as_raw_fd(given);
    let path = std::fs::read_link(format!("/proc/self/fd/{number}")).at(Step::Workspace, "find the path")?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let again = openat(CWD, &path, flags, Mode::empty()).at(Step::Workspace, "open again")?;
    let (was, is) = (rustix::fs::fstat(given), rustix::fs::fstat(&again));
    let same = was.and_then(|was| is.map(|is| (was.st_dev, was.st_ino) == (is.st_dev, is.st_ino)));
    if !same.at(Step::Workspace, "stat")? {
        return Err(Errno::STALE).at(Step::Workspace, "another directory has taken its path");
    }
    let tree = open_tree(&again, c"", CLONE | OpenTreeFlags::AT_EMPTY_PATH).at(Step::Workspace, "clone the mount")?;
    sys::set_mount(tree.as_fd(), attributes(access), false, None).at(Step::Workspace, "set attributes")?;
    Ok(tree)
}

/// The attributes of the workspace's mount.
pub const fn attributes(access: Access) -> u64 {
    match access {
        Access::ReadOnly => HARMLESS | libc::MOUNT_ATTR_RDONLY,
        Access::ReadWrite => HARMLESS,
    }
}

/// A file system in memory, of at most `size` bytes.
fn memory(size: u64, mode: &CStr) -> rustix::io::Result<OwnedFd> {
    let fs = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&fs, c"size", size.to_string())?;
    // Each file costs kernel memory whatever its size.
    fsconfig_set_string(&fs, c"nr_inodes", (size / 4096).max(1024).to_string())?;
    fsconfig_set_string(&fs, c"mode", mode)?;
    fsconfig_create(&fs)?;
    fsmount(&fs, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV)
}

/// `/proc` of this process's own namespace: processes only, and of those only the program's own.
fn proc() -> rustix::io::Result<OwnedFd> {
    let fs = fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&fs, c"hidepid", c"invisible")?;
    fsconfig_set_string(&fs, c"subset", c"pid")?;
    fsconfig_create(&fs)?;
    let attributes =
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&fs, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Makes the current root's place that of `root`, and drops what was there.
fn enter(root: BorrowedFd<'_>) -> rustix::io::Result<()> {
    rustix::process::fchdir(root)?;
    rustix::process::pivot_root(c".", c".")?;
    unmount(c".", UnmountFlags::DETACH)?;
    rustix::process::chdir(c"/")
}

struct View<'fd> {
    root: BorrowedFd<'fd>,
}

impl View<'_> {
    /// Shows one path of the machine where there is one; a link stays a link, to be followed inside the view.
    fn expose_if_there(&self, path: &Path) -> rustix::io::Result<()> {
        let kind = match statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode),
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            Err(error) => return Err(error),
        };
        if kind == FileType::Symlink {
            let target = readlinkat(CWD, path, Vec::new())?;
            return self.link(&target, relative(path));
        }
        self.bind(path, kind)
    }

    fn expose_addition(&self, path: &Path) -> rustix::io::Result<()> {
        if SYSTEM.iter().any(|shown| path.starts_with(shown)) {
            return Ok(());
        }
        let kind = FileType::from_raw_mode(statat(CWD, path, AtFlags::empty())?.st_mode);
        match kind {
            FileType::Directory | FileType::RegularFile => self.bind(path, kind),
            // A socket, a device or a pipe is a service, not a part of the system.
            _ => Err(Errno::NOTDIR),
        }
    }

    /// Mounts what is at `path`, and all mounts below it, read-only at the same path.
    fn bind(&self, path: &Path, kind: FileType) -> rustix::io::Result<()> {
        let tree = open_tree(CWD, path, CLONE | OpenTreeFlags::AT_RECURSIVE)?;
        let attributes = match kind {
            FileType::CharacterDevice => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC,
            _ => HARMLESS | libc::MOUNT_ATTR_RDONLY,
        };
        sys::set_mount(tree.as_fd(), attributes, true, None)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::INVAL))?;
        let place = relative(path);
        if kind == FileType::Directory {
            self.folder(place)?;
        } else {
            self.file(place)?;
        }
        move_mount(&tree, c"", self.root, place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
    }

    fn mount(&self, tree: &OwnedFd, place: &str) -> rustix::io::Result<()> {
        self.folder(Path::new(place))?;
        move_mount(tree, c"", self.root, place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
    }

    fn link(&self, target: &CStr, place: &Path) -> rustix::io::Result<()> {
        self.with_parents(place, || symlinkat(target, self.root, place))
    }

    fn file(&self, place: &Path) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.with_parents(place, || openat(self.root, place, flags, Mode::from_raw_mode(0o644)))
    }

    fn folder(&self, place: &Path) -> rustix::io::Result<()> {
        match self.with_parents(place, || mkdirat(self.root, place, Mode::from_raw_mode(0o755))) {
            Err(Errno::EXIST) => Ok(()),
            made => made,
        }
    }

    /// Makes something, and the folders above it where they are missing.
    fn with_parents<T>(&self, place: &Path, make: impl Fn() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
        match (make(), place.parent()) {
            (Err(Errno::NOENT), Some(parent)) if !parent.as_os_str().is_empty() => {
                self.folder(parent)?;
                make()
            }
            (made, _) => made,
        }
    }

    /// A file system of their own, so that they can neither be changed nor fill the root.
    fn write_files(&self, files: &BTreeMap<String, String>) -> io::Result<()> {
        let own = memory(FILES_SIZE, c"700")?;
        let place = relative(Path::new(FILES));
        self.folder(place)?;
        move_mount(&own, c"", self.root, place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for (name, contents) in files {
            let file = openat(self.root, place.join(name), flags, Mode::from_raw_mode(0o600))?;
            std::fs::File::from(file).write_all(contents.as_bytes())?;
        }
        sys::set_mount(own.as_fd(), HARMLESS | libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOEXEC, false, None)
    }

    /// The files of `/etc` that name people and hosts, with nobody of this machine in them.
    fn write_etc(&self, plan: &Plan) -> io::Result<()> {
        let write =
            |place: &str, text: String| std::fs::File::from(self.file(Path::new(place))?).write_all(text.as_bytes());
        write(
            "etc/passwd",
            format!(
                "sandbox:x:{INSIDE}:{INSIDE}:sandbox:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
            ),
        )?;
        write("etc/group", format!("sandbox:x:{INSIDE}:\nnogroup:x:65534:\n"))?;
        write(
            "etc/nsswitch.conf",
            "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n".into(),
        )?;
        if let Some(authorities) = &plan.authorities {
            write(AUTHORITIES.trim_start_matches('/'), authorities.clone())?;
        }
        match plan.network {
            Network::None => Ok(()),
            // No resolver: names are the proxy's to look up.
            Network::Proxy { .. } => write("etc/hosts", "127.0.0.1 localhost sandbox\n".into()),
        }
    }
}

fn relative(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// What a program may only read in its view.
pub fn readable(plan: &Plan) -> impl Iterator<Item = PathBuf> + '_ {
    SYSTEM.iter().chain(&["/etc"]).map(PathBuf::from).chain(plan.system.iter().cloned())
}
