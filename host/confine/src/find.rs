use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::stub::GREETING;

/// The stub, open: what was verified is what is run, also when its file is replaced meanwhile.
#[derive(Debug)]
pub struct Stub {
    file: File,
    path: PathBuf,
}

/// Why there is no stub to run.
#[derive(Debug, thiserror::Error)]
pub enum NoStub {
    /// The file cannot be opened.
    #[error("the stub `{}` cannot be opened: {error}; install `caisson-confine` beside the gateway's program", path.display())]
    Open {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Somebody else could have put it there.
    #[error("the stub `{}` {why}; install it as root or as the gateway's user, writable by nobody else", path.display())]
    Untrusted {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It is something else, or of another version.
    #[error("`{}` answers `{}` and not `{GREETING}`; install the `caisson-confine` that came with this gateway", path.display(), answer.escape_default())]
    Other {
        /// Which file.
        path: PathBuf,
        /// What it answered.
        answer: String,
    },
}

/// The stub beside this process's own executable.
///
/// # Errors
/// [`NoStub`], with what to install.
pub fn find_stub() -> Result<Stub, NoStub> {
    let own = std::env::current_exe().map_err(|error| NoStub::Open { path: PathBuf::from("/proc/self/exe"), error })?;
    Stub::open(&own.with_file_name("caisson-confine"))
}

impl Stub {
    /// The stub at `path`: a file that only root or this user can have put there, which says that it is a stub of this version.
    ///
    /// # Errors
    /// [`NoStub`], with what to install.
    pub fn open(path: &Path) -> Result<Self, NoStub> {
        let failed = |error| NoStub::Open { path: path.to_owned(), error };
        let file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        let above = path.parent().unwrap_or(Path::new("/")).metadata().map_err(failed)?;
        let untrusted = |why| Err(NoStub::Untrusted { path: path.to_owned(), why });
        if !found.is_file() || found.mode() & 0o111 == 0 {
            return untrusted("is not an executable file");
        }
        if !is_owned_by_us(&found) || !is_owned_by_us(&above) {
            return untrusted("or its directory belongs to another user");
        }
        // In a directory with this bit only its owner replaces a file.
        let kept = above.mode() & 0o1000 != 0;
        if is_written_by_others(&found) || (is_written_by_others(&above) && !kept) {
            return untrusted("or its directory can be written by others");
        }
        let stub = Self { file, path: path.to_owned() };
        stub.greet()?;
        Ok(stub)
    }

    /// The path under which the kernel runs the open file.
    pub(crate) fn program(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    fn greet(&self) -> Result<(), NoStub> {
        let answer = Command::new(self.program()).arg("--version").env_clear().stdin(Stdio::null()).output();
        let answer = answer.map_err(|error| NoStub::Open { path: self.path.clone(), error })?.stdout;
        if answer == format!("{GREETING}\n").as_bytes() {
            return Ok(());
        }
        let shown = answer.get(..answer.len().min(80)).unwrap_or_default();
        Err(NoStub::Other { path: self.path.clone(), answer: String::from_utf8_lossy(shown).into_owned() })
    }
}

fn is_owned_by_us(entry: &Metadata) -> bool {
    entry.uid() == 0 || entry.uid() == rustix::process::geteuid().as_raw()
}

/// Where each user has a group of the same name, a file that this group may write is still the user's own.
fn is_written_by_others(entry: &Metadata) -> bool {
    let own_group = entry.gid() == 0 || entry.gid() == rustix::process::getegid().as_raw();
    entry.mode() & 0o002 != 0 || (entry.mode() & 0o020 != 0 && !own_group)
}
