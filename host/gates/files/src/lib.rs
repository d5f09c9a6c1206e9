//! The files gate: `wasi:filesystem` 0.2 over one directory that the host derived.
//!
//! A path is opened beneath the workspace without leaving it (`openat2`), and what was opened is judged: where it is, what
//! it is, and whether it has a second name. Changes are made by a judged parent and one name. Only descriptors are handed on
//! to wasmtime-wasi's own implementation, never a path.
//!
//! May depend on: `caisson-call`, `caisson-contract`, wasmtime, wasmtime-wasi, rustix. Must not know: HTTP, SQL, other gates.

mod decide;
mod error;
mod explain;
mod globs;
mod held;
mod host;
mod listing;
mod resolve;
mod stream;
mod workspace;

pub use explain::{Decision, Explanation, explain, unknown_mount};
pub use workspace::{EmptySegment, Workspace};

use crate::decide::{Rules, Want};
use crate::error::Fault;
use crate::resolve::{Ask, Place, Root, below_mount};
use caisson_call::{Budget, Denial, Ledger};
use caisson_contract::Layers;
use rustix::io::Errno;
use std::sync::Arc;
use tokio::sync::Semaphore;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::filesystem::WasiFilesystemCtx;
use wasmtime_wasi::p2::bindings::filesystem::{preopens, types};

/// The one mount there is, as guests and manifests name it.
pub const MOUNT: &str = "/workspace";

/// Files of one call.
pub struct FilesCtx {
    rules: Arc<Rules>,
    ledger: Arc<Ledger>,
    workspace: Workspace,
    /// Opened when a guest first asks for its directories.
    root: Option<Result<Root, Errno>>,
    blocking: Arc<Semaphore>,
    wasi: WasiFilesystemCtx,
}

impl FilesCtx {
    /// Fresh state; makes no system call. `blocking` bounds how many of a tenant's operations (`sync`) may wait for a disk
    /// at once.
    #[must_use]
    pub fn new(layers: Layers, ledger: Arc<Ledger>, workspace: Workspace, blocking: Arc<Semaphore>) -> Self {
        Self {
            rules: Arc::new(Rules::new(&layers)),
            ledger,
            workspace,
            root: None,
            blocking,
            wasi: WasiFilesystemCtx::default(),
        }
    }

    /// Where the call's files are.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Opens a file that an output names (`/workspace/report.pdf`) for reading by the host, with its size in bytes. The same
    /// rules hold as for the guest.
    ///
    /// # Errors
    /// The refusal, recorded too; a missing file and a directory are refusals here (`files.not-found`, `files.not-a-file`).
    pub fn open_for_host(&mut self, guest_path: &str) -> Result<(std::fs::File, u64), Denial> {
        let path = below_mount(guest_path);
        let opened = self.open_regular(path);
        opened.map_err(|fault| {
            let refusal = explain::refusal_of(fault);
            let denial = error::denial("read", "", path, &refusal);
            self.ledger.refuse(denial.clone());
            denial
        })
    }

    fn open_regular(&mut self, path: &str) -> Result<(std::fs::File, u64), Fault> {
        if self.ledger.charge(Budget::FileOperations, 1).is_err() {
            return Err(decide::Refusal::fixed("files.over-budget").into());
        }
        self.rules.mount(Want::Read)?;
        let root = self.root()?;
        let place = Place { root: &root, rules: &self.rules, base: &root.file };
        let opened = place.open(path, &Ask { read: true, follow: true, ..Ask::default() })?;
        if opened.is_dir {
            return Err(Errno::ISDIR.into());
        }
        Ok((opened.fd.into(), opened.size))
    }

    /// The workspace, opened (and made) on first use. A failure is kept: it is the operator's to mend, not this call's.
    fn root(&mut self) -> Result<Root, Errno> {
        let workspace = &self.workspace;
        self.root
            .get_or_insert_with(|| {
                workspace.open_root(true).inspect_err(|error| {
                    tracing::error!(%error, path = %workspace.path().display(), "a workspace cannot be opened");
                })
            })
            .clone()
    }
}

/// A call's files with the table that its resources live in.
pub struct FilesView<'a> {
    /// State of the gate.
    pub ctx: &'a mut FilesCtx,
    /// Resources of the call.
    pub table: &'a mut ResourceTable,
}

/// Implemented by the store's data.
pub trait HasFiles: Send {
    /// The gate's view of the call.
    fn files(&mut self) -> FilesView<'_>;
}

/// Selects [`FilesView`] in generated bindings.
pub struct Files;

impl HasData for Files {
    type Data<'a> = FilesView<'a>;
}

/// Links `wasi:filesystem/types` and `wasi:filesystem/preopens`.
///
/// # Errors
/// Where a name is linked twice.
pub fn add_to_linker<T: HasFiles + 'static>(l: &mut Linker<T>) -> wasmtime::Result<()> {
    types::add_to_linker::<T, Files>(l, T::files)?;
    preopens::add_to_linker::<T, Files>(l, T::files)?;
    Ok(())
}
