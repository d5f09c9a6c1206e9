//! How a workspace gets into a container, and whom its programs are to it.
//!
//! A gateway that is root hands the engine a mount of its own: with owners translated, so that the container's user stands for the
//! workspace's owner, and with `nosuid` and `nodev`, which the engine sets on no directory of the host. It stands for as long as a
//! container takes to start. A gateway that is an ordinary user can make no mount and has no other user to give: containers run as the
//! workspace's owner.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use caisson_confine::Access;
use rustix::fs::{CWD, Stat};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, UnmountFlags, move_mount, open_tree, unmount};

use crate::error::BoxError;

/// Whom programs are where the gateway is root: nobody.
const NOBODY: u32 = 65534;
/// Folders for mounts are called this, then a number. Never removed with what is in them, which might be a workspace.
const PREFIX: &str = "workspace-";

const CHOWN: &str = "give the workspace to the user of the gateway, who must not be root here";
const TRANSLATE: &str = "put workspaces on a file system whose owners can be translated (ext4, xfs, btrfs; tmpfs from Linux 6.3), or run the gateway as an ordinary user";

/// A workspace, ready for the engine.
#[derive(Debug)]
pub struct Given {
    /// What the engine mounts.
    pub source: PathBuf,
    /// As whom programs run, `user:group`.
    pub user: String,
    mounted: bool,
}

impl Given {
    /// Prepares the open directory. `folder` is the gateway's own, with process 1 in it.
    pub fn new(workspace: BorrowedFd<'_>, access: Access, folder: &Path, init: &Path) -> Result<Self, BoxError> {
        let owner = rustix::fs::fstat(workspace).map_err(|error| unusable(error.into(), "look again"))?;
        if rustix::process::geteuid().is_root() {
            let source = mount(workspace, access, &owner, folder, init).map_err(|error| unusable(error, TRANSLATE))?;
            return Ok(Self { source, user: format!("{NOBODY}:{NOBODY}"), mounted: true });
        }
        if owner.st_uid == 0 {
            return Err(unusable(io::Error::other("it belongs to root, and nothing runs as root"), CHOWN));
        }
        let source = fs::read_link(crate::wire::path_of(workspace)).map_err(|error| unusable(error, CHOWN))?;
        Ok(Self { source, user: format!("{}:{}", owner.st_uid, owner.st_gid), mounted: false })
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        if self.mounted {
            remove(&self.source);
        }
    }
}

fn unusable(error: io::Error, how: &'static str) -> BoxError {
    BoxError::Workspace { why: error.to_string(), how }
}

/// Removes the mounts that a gateway which is gone has left.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            remove(&entry.path());
        }
    }
}

/// The folder goes only if it is empty, so that no workspace is ever removed with it.
fn remove(point: &Path) {
    let _none = unmount(point, UnmountFlags::DETACH);
    let _busy = fs::remove_dir(point);
}

fn mount(workspace: BorrowedFd<'_>, access: Access, owner: &Stat, folder: &Path, init: &Path) -> io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(workspace, c"", flags)?;
    set(tree.as_fd(), access, translation(owner, init)?.as_fd())?;
    let point = folder.join(format!("{PREFIX}{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir(&point)?;
    if let Err(error) = move_mount(&tree, c"", CWD, &point, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH) {
        let _left = fs::remove_dir(&point);
        return Err(error.into());
    }
    Ok(point)
}

fn set(tree: BorrowedFd<'_>, access: Access, owners: BorrowedFd<'_>) -> io::Result<()> {
    let harmless = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_IDMAP
            | match access {
                Access::ReadOnly => harmless | libc::MOUNT_ATTR_RDONLY,
                Access::ReadWrite => harmless,
            },
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: u64::try_from(owners.as_raw_fd()).map_err(io::Error::other)?,
    };
    #[expect(unsafe_code, reason = "passes one structure with its size")]
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A user namespace in which the workspace's owner is the container's user.
fn translation(owner: &Stat, init: &Path) -> io::Result<OwnedFd> {
    let mut holder = Holder::start(init)?;
    let process = PathBuf::from(format!("/proc/{}", holder.0.id()));
    fs::write(process.join("uid_map"), format!("{} {NOBODY} 1", owner.st_uid))?;
    fs::write(process.join("gid_map"), format!("{} {NOBODY} 1", owner.st_gid))?;
    let namespace = File::open(process.join("ns/user"))?;
    holder.end();
    Ok(namespace.into())
}

/// A process that does nothing but to be in a new user namespace.
struct Holder(Child);

impl Holder {
    fn start(init: &Path) -> io::Result<Self> {
        let mut command = Command::new(init);
        command.arg("hold").env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        #[expect(unsafe_code, reason = "between fork and exec: one system call")]
        unsafe {
            command.pre_exec(|| match libc::unshare(libc::CLONE_NEWUSER) {
                0 => Ok(()),
                _ => Err(io::Error::from(ErrorKind::PermissionDenied)),
            });
        }
        // Returns when the program was executed, so the namespace is there.
        Ok(Self(command.spawn()?))
    }

    fn end(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.end();
    }
}
