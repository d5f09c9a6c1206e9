use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use caisson_confine::{Access, packets};
use tempfile::TempDir;
use tokio::io::unix::AsyncFd;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::body::{Parts, Shape, body};
use crate::config::Config;
use crate::engine::Engine;
use crate::error::{BoxError, failed};
use crate::wire::{self, Hello, INIT};
use crate::workspace::Given;

/// Process 1 of every container, made by the build.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/init"));
/// How long a container's process 1 may take from its start to its first word.
const FIRST_WORD: Duration = Duration::from_secs(30);
/// Folders of containers are called this, then something random.
const PREFIX: &str = "box-";

/// A container that runs and waits for orders. When nothing holds it any more, it ends and is removed.
#[derive(Debug)]
pub struct Kept {
    pub shape: Shape,
    /// To its process 1, which ends with it.
    pub socket: AsyncFd<OwnedFd>,
    /// When it was last of use.
    used: Mutex<Instant>,
    engine: Engine,
    id: String,
    /// What it was given at its start.
    _folder: TempDir,
    _room: OwnedSemaphorePermit,
}

impl Kept {
    /// Makes and starts a container, and waits until it takes orders.
    pub async fn start(
        (engine, room): (Engine, OwnedSemaphorePermit),
        config: &Config,
        shape: Shape,
        workspace: OwnedFd,
    ) -> Result<Self, BoxError> {
        let image = engine.image(&shape.image, config.pull).await?;
        let folder = folder(&config.folder).map_err(failed("make a folder for a container"))?;
        let listener = fs::File::open(folder.path())
            .and_then(|folder| wire::listen(folder.as_fd()))
            .map_err(failed("make a socket for a container"))?;
        fs::set_permissions(folder.path().join(wire::SOCKET), fs::Permissions::from_mode(0o666))
            .map_err(failed("open a socket to a container's user"))?;
        let directory = rustix::fs::fstat(&workspace).map_err(|error| failed("look at the workspace")(error.into()))?;
        let (given, source) = give(workspace, shape.access, config.folder.clone()).await?;
        let parts = Parts {
            shape: &shape,
            image: &image,
            instance: &config.instance,
            user: &given.user,
            workspace: &source,
            folder: &text(folder.path())?,
        };
        let mut made = Made { id: Some(engine.create(body(&parts)).await?), engine };
        engine_start(&made).await?;
        let up = tokio::time::timeout(FIRST_WORD, first_word(listener)).await;
        // The container has its own by now.
        drop(given);
        let _left = fs::remove_file(folder.path().join(wire::SOCKET));
        let (socket, hello) = match up {
            Ok(Ok(up)) => up,
            Ok(Err(error)) => return Err(not_up(&shape, &error.to_string())),
            Err(_late) => {
                return Err(not_up(
                    &shape,
                    "its process 1 said nothing; the engine must run on this very kernel, without a virtual machine",
                ));
            }
        };
        check(hello, (directory.st_dev, directory.st_ino), shape.access)?;
        let id = made.id.take().unwrap_or_default();
        Ok(Self {
            shape,
            socket,
            used: Mutex::new(Instant::now()),
            engine: made.engine.clone(),
            id,
            _folder: folder,
            _room: room,
        })
    }

    /// Whether it can still take orders.
    pub fn is_alive(&self) -> bool {
        wire::is_alive(self.socket.get_ref().as_fd())
    }

    /// Ends all that runs in it, and it. Not by asking: its process 1 cannot be stopped by what runs beside it, and what outlives it
    /// the kernel ends.
    pub fn destroy(&self) {
        let _gone = rustix::net::shutdown(self.socket.get_ref(), rustix::net::Shutdown::Both);
    }

    /// Notes that it was of use now.
    pub fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// When it was last of use.
    pub fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.destroy();
        remove_later(&self.engine, std::mem::take(&mut self.id));
    }
}

/// A container that nobody holds yet.
struct Made {
    engine: Engine,
    id: Option<String>,
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            remove_later(&self.engine, id);
        }
    }
}

/// The engine removes by itself what has ended; this is for what hangs or never started.
fn remove_later(engine: &Engine, id: String) {
    let engine = engine.clone();
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move {
            if let Err(error) = engine.remove(&id).await {
                tracing::warn!(%error, id, "a container could not be removed; it is, at the next start");
            }
        });
    }
}

/// Makes the gateway's folder ready: nobody else enters it, and process 1 lies in it.
pub fn prepare(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    crate::workspace::sweep(folder);
    for entry in fs::read_dir(folder)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            // Files of ours only: mounts stand elsewhere.
            let _left = fs::remove_dir_all(entry.path());
        }
    }
    // Under another name first, so that a program which runs is not written to.
    let new = folder.join("init.new");
    fs::write(&new, PROGRAM)?;
    fs::set_permissions(&new, fs::Permissions::from_mode(0o555))?;
    fs::rename(new, folder.join(INIT))
}

fn folder(parent: &Path) -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
    // The container's user passes through to the two names that it knows. Others are kept out by the folder above.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711))?;
    fs::hard_link(parent.join(INIT), folder.path().join(INIT))?;
    Ok(folder)
}

async fn give(workspace: OwnedFd, access: Access, folder: PathBuf) -> Result<(Given, String), BoxError> {
    let give = move || Given::new(workspace.as_fd(), access, &folder, &folder.join(INIT));
    let given =
        tokio::task::spawn_blocking(give).await.map_err(|error| failed("mount the workspace")(error.into()))??;
    let source = text(&given.source)?;
    Ok((given, source))
}

/// The engine's interface is text.
fn text(path: &Path) -> Result<String, BoxError> {
    let how = "use folders whose names are text";
    let fault = || BoxError::Workspace { why: format!("`{}` is not text", path.display()), how };
    path.to_str().map(str::to_owned).ok_or_else(fault)
}

async fn engine_start(made: &Made) -> Result<(), BoxError> {
    made.engine.start(made.id.as_deref().unwrap_or_default()).await
}

async fn first_word(listener: OwnedFd) -> io::Result<(AsyncFd<OwnedFd>, Hello)> {
    let socket = wire::accept(listener).await?;
    let hello = packets::next(&socket).await.and_then(|(message, _)| Hello::read(&message));
    let hello = hello.ok_or_else(|| io::Error::other("its process 1 ended without a word"))?;
    Ok((socket, hello))
}

fn not_up(shape: &Shape, why: &str) -> BoxError {
    BoxError::Container { image: shape.image.clone(), why: why.to_owned() }
}

/// What is mounted is what was opened, whatever became of its name, and it can be used.
fn check(hello: Hello, workspace: (u64, u64), access: Access) -> Result<(), BoxError> {
    let fault = |why: &str, how| Err(BoxError::Workspace { why: why.into(), how });
    if hello.workspace != workspace {
        let how = "let the engine see the mounts that the gateway makes: no mount namespace of its own for either (`PrivateMounts`, `ProtectSystem` and their like)";
        return fault("the engine mounted another directory", how);
    }
    if access == Access::ReadWrite && !hello.writable {
        let how = "let the workspace's owner write to it, and turn the engine's `userns-remap` off";
        return fault("its user in the container may not write to it", how);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn another_directory_or_one_that_cannot_be_written_is_refused() {
        let hello = |writable, workspace| Hello { writable, workspace };
        let refused = |hello, access| check(hello, (1, 2), access).unwrap_err().to_string();
        assert!(refused(hello(true, (1, 3)), Access::ReadOnly).contains("another directory"));
        assert!(refused(hello(true, (2, 2)), Access::ReadWrite).contains("another directory"));
        assert!(refused(hello(false, (1, 2)), Access::ReadWrite).contains("may not write"));
        check(hello(false, (1, 2)), (1, 2), Access::ReadOnly).unwrap();
        check(hello(true, (1, 2)), (1, 2), Access::ReadWrite).unwrap();
    }
}
