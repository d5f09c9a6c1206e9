//! A call's files gate over a temporary workspace, with an outside beside it.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use caisson_call::{Budget, Denial, Ledger, Limits};
use caisson_contract::{Access, Capabilities, Effect, FilesRule, Layer, LayerSource, Layers};
use caisson_gate_files::{FilesCtx, FilesView, HasFiles, Workspace};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host as _;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, HostDescriptor, HostDirectoryEntryStream, OpenFlags, PathFlags,
};

pub const SECRET: &[u8] = b"the outside's secret";

/// One layer that allows this.
pub fn layer(source: LayerSource, access: Access, paths: Option<&[&str]>) -> Layer {
    let mut capabilities = Capabilities::default();
    let paths = paths.map(|list| list.iter().map(|p| (*p).to_owned()).collect());
    capabilities.files.insert("/workspace".into(), FilesRule { access, paths });
    Layer { source, capabilities: Arc::new(capabilities) }
}

pub fn layers(access: Access, paths: Option<&[&str]>) -> Layers {
    Layers::new(vec![layer(LayerSource::Declared, access, paths)], Effect::Mutating)
}

pub fn all() -> Layers {
    layers(Access::ReadWrite, None)
}

/// `abc` is the workspace, `abcdef` its sibling, as in reports about checks by prefix.
pub struct Tree {
    pub dir: TempDir,
}

impl Tree {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("abc/sub")).unwrap();
        std::fs::create_dir_all(dir.path().join("abcdef/folder")).unwrap();
        std::fs::write(dir.path().join("abcdef/secret"), SECRET).unwrap();
        std::fs::write(dir.path().join("abc/a.txt"), b"inside").unwrap();
        std::fs::write(dir.path().join("abc/sub/b.txt"), b"inside too").unwrap();
        Self { dir }
    }

    pub fn inside(&self, path: &str) -> PathBuf {
        self.dir.path().join("abc").join(path)
    }

    pub fn outside(&self, path: &str) -> PathBuf {
        self.dir.path().join("abcdef").join(path)
    }

    pub fn link(&self, name: &str, target: impl AsRef<std::path::Path>) {
        std::os::unix::fs::symlink(target, self.inside(name)).unwrap();
    }

    /// Nothing outside was made, changed or removed.
    pub fn assert_outside_untouched(&self) {
        assert_eq!(std::fs::read(self.outside("secret")).unwrap(), SECRET);
        let mut names: Vec<_> = std::fs::read_dir(self.outside(""))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["folder", "secret"]);
        assert!(std::fs::read_dir(self.outside("folder")).unwrap().next().is_none());
        let mut beside: Vec<_> = std::fs::read_dir(self.dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        beside.sort();
        assert_eq!(beside, ["abc", "abcdef"]);
    }

    pub fn call(&self, layers: Layers) -> Call {
        self.call_with(layers, Limits::default())
    }

    pub fn call_with(&self, layers: Layers, limits: Limits) -> Call {
        let ledger = Arc::new(Ledger::new(limits));
        let workspace = Workspace::at(&self.inside(""));
        let ctx = FilesCtx::new(layers, Arc::clone(&ledger), workspace, Arc::new(Semaphore::new(2)));
        Call { ctx, table: ResourceTable::new(), ledger }
    }
}

/// The gate's side of one call, with shorthands for what a guest would do.
pub struct Call {
    pub ctx: FilesCtx,
    pub table: ResourceTable,
    pub ledger: Arc<Ledger>,
}

impl HasFiles for Call {
    fn files(&mut self) -> FilesView<'_> {
        FilesView { ctx: &mut self.ctx, table: &mut self.table }
    }
}

pub type Fd = Resource<Descriptor>;

/// Another handle of the same number, as a guest's borrow is.
pub fn again(fd: &Fd) -> Fd {
    Resource::new_borrow(fd.rep())
}

pub const READ: DescriptorFlags = DescriptorFlags::READ;
pub const WRITE: DescriptorFlags = DescriptorFlags::WRITE;

impl Call {
    pub fn root(&mut self) -> Fd {
        let mut directories = self.files().get_directories().unwrap();
        assert_eq!(directories.len(), 1);
        let (fd, name) = directories.remove(0);
        assert_eq!(name, "/workspace");
        fd
    }

    pub async fn open(&mut self, path: &str, open: OpenFlags, flags: DescriptorFlags) -> Result<Fd, ErrorCode> {
        let root = self.root();
        self.open_in(&root, path, open, flags).await
    }

    pub async fn open_in(
        &mut self,
        dir: &Fd,
        path: &str,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Fd, ErrorCode> {
        plain(self.files().open_at(again(dir), PathFlags::SYMLINK_FOLLOW, path.to_owned(), open, flags).await)
    }

    pub async fn read(&mut self, path: &str) -> Result<Vec<u8>, ErrorCode> {
        let fd = self.open(path, OpenFlags::empty(), READ).await?;
        let (bytes, _) = plain(self.files().read(again(&fd), 1 << 20, 0).await)?;
        HostDescriptor::drop(&mut self.files(), fd).unwrap();
        Ok(bytes)
    }

    pub async fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), ErrorCode> {
        let fd = self.open(path, OpenFlags::CREATE | OpenFlags::TRUNCATE, WRITE).await?;
        plain(self.files().write(again(&fd), bytes.to_vec(), 0).await)?;
        HostDescriptor::drop(&mut self.files(), fd).unwrap();
        Ok(())
    }

    pub async fn list(&mut self, path: &str) -> Result<Vec<String>, ErrorCode> {
        let fd = self.open(path, OpenFlags::DIRECTORY, READ).await?;
        let stream = plain(self.files().read_directory(again(&fd)).await)?;
        let mut names = Vec::new();
        while let Some(entry) = plain(self.files().read_directory_entry(Resource::new_borrow(stream.rep())).await)? {
            names.push(entry.name);
        }
        HostDirectoryEntryStream::drop(&mut self.files(), stream).unwrap();
        HostDescriptor::drop(&mut self.files(), fd).unwrap();
        names.sort();
        Ok(names)
    }

    /// Rules that refused since the last time, oldest first.
    pub fn rules(&mut self) -> Vec<String> {
        self.denials().into_iter().map(|d| d.rule).collect()
    }

    pub fn denials(&mut self) -> Vec<Denial> {
        self.ledger.take_denials()
    }

    pub fn held(&self) -> u64 {
        self.ledger.spent(Budget::HostMemory)
    }
}

/// The guest's view of a result. A trap is not one.
pub fn plain<T>(result: FsResult<T>) -> Result<T, ErrorCode> {
    result.map_err(|error| error.downcast().unwrap())
}
