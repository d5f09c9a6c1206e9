//! The WIT implementation. What carries a path is resolved and judged here; what names a descriptor goes on to
//! wasmtime-wasi.

use crate::decide::Want;
use crate::error::{self, Fault, os};
use crate::held::{DESCRIPTOR_BYTES, Held};
use crate::listing::{LISTING_BYTES, Listing};
use crate::resolve::{Ask, Opened, Parent, Place, Root, rename, shown};
use crate::stream::{At, FileReader, FileWriter, READ_BYTES, read_at};
use crate::{FilesView, MOUNT};
use caisson_call::{Budget, OverBudget};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, Dir, File as WasiFile, FsPerms, OpenMode, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode,
    HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

/// Judged operations on regular local files never wait for anybody, so wasmtime-wasi may do them on this thread.
const INLINE: bool = true;

/// Most bytes of one `write`, so that one host call is short; a guest's library writes the rest in a further call.
const WRITE_BYTES: usize = 1 << 20;

fn spent(over: OverBudget) -> FsError {
    FsError::trap(over)
}

impl FilesView<'_> {
    fn wasi(&mut self) -> WasiFilesystemCtxView<'_> {
        WasiFilesystemCtxView { ctx: &mut self.ctx.wasi, table: self.table }
    }

    fn charge(&self, budget: Budget, amount: u64) -> FsResult<()> {
        self.ctx.ledger.charge(budget, amount).map_err(spent)
    }

    fn file(&self, fd: &Resource<Descriptor>) -> FsResult<&WasiFile> {
        match self.table.get(fd)? {
            Descriptor::File(file) => Ok(file),
            Descriptor::Dir(_) => Err(ErrorCode::IsDirectory.into()),
        }
    }

    fn writable(&self, fd: &Resource<Descriptor>) -> FsResult<Arc<File>> {
        let file = self.file(fd)?;
        if file.perms.write_not_permitted() {
            return Err(ErrorCode::NotPermitted.into());
        }
        Ok(Arc::clone(&file.file))
    }

    fn dir(&self, fd: &Resource<Descriptor>) -> FsResult<Arc<File>> {
        match self.table.get(fd)? {
            Descriptor::Dir(dir) => Ok(Arc::clone(&dir.dir)),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    /// Runs one operation on a path: charged, in its place, and recorded where it is refused.
    fn at<T>(
        &mut self,
        fd: &Resource<Descriptor>,
        verb: &str,
        want: Want,
        path: &str,
        operation: impl FnOnce(&Place<'_>) -> Result<T, Fault>,
    ) -> FsResult<T> {
        self.charge(Budget::FileOperations, 1)?;
        let base = self.dir(fd)?;
        // Before the workspace is opened: a call without the mount has none.
        let root = match self.ctx.rules.mount(want).map_err(Fault::from).and_then(|()| Ok(self.ctx.root()?)) {
            Ok(root) => root,
            Err(fault) => return Err(self.report(verb, "", path, fault)),
        };
        operation(&Place { root: &root, rules: &self.ctx.rules, base: &base })
            .map_err(|fault| self.report(verb, &shown_on_refusal(&fault, &root, &base), path, fault))
    }

    fn report(&self, verb: &str, base: &str, path: &str, fault: Fault) -> FsError {
        match fault {
            Fault::Os(errno) => os(errno),
            Fault::Refused(refusal) => {
                self.ctx.ledger.refuse(error::denial(verb, base, path, &refusal));
                ErrorCode::NotPermitted.into()
            }
        }
    }

    fn push(&mut self, descriptor: Descriptor) -> FsResult<Resource<Descriptor>> {
        self.charge(Budget::HostMemory, DESCRIPTOR_BYTES)?;
        Ok(self.table.push(descriptor)?)
    }

    /// A descriptor that lives only for one operation handed on; the guest never sees it.
    fn lend(&mut self, file: File, perms: FsPerms) -> FsResult<Resource<Descriptor>> {
        Ok(self.table.push(Descriptor::File(WasiFile::new(file, perms, OpenMode::READ, INLINE)))?)
    }

    /// Waits for a disk on another thread, as one of a bounded number of a tenant.
    async fn wait_for_disk(
        &mut self,
        fd: &Resource<Descriptor>,
        operation: fn(&File) -> std::io::Result<()>,
    ) -> FsResult<()> {
        self.charge(Budget::FileOperations, 1)?;
        let file = match self.table.get(fd)? {
            Descriptor::File(file) => Arc::clone(&file.file),
            Descriptor::Dir(dir) => Arc::clone(&dir.dir),
        };
        let permit = Arc::clone(&self.ctx.blocking).acquire_owned().await.map_err(FsError::trap)?;
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            operation(&file)
        });
        Ok(done.await.map_err(FsError::trap)??)
    }
}

fn shown_on_refusal(fault: &Fault, root: &Root, base: &File) -> String {
    match fault {
        Fault::Refused(_) => shown(root, base),
        Fault::Os(_) => String::new(),
    }
}

fn follow(flags: PathFlags) -> bool {
    flags.contains(PathFlags::SYMLINK_FOLLOW)
}

fn descriptor(opened: Opened, ask: &Ask, may_write: bool) -> Descriptor {
    let perms = if may_write { FsPerms::ReadWrite } else { FsPerms::ReadOnly };
    let mut mode = OpenMode::empty();
    mode.set(OpenMode::READ, ask.read || !ask.writes());
    mode.set(OpenMode::WRITE, may_write);
    let file = File::from(opened.fd);
    if opened.is_dir {
        Descriptor::Dir(Dir::new(file, perms, mode, INLINE))
    } else {
        Descriptor::File(WasiFile::new(file, perms, mode, INLINE))
    }
}

fn without_slash(parent: Parent) -> Result<Parent, Fault> {
    if parent.slash { Err(Errno::NOTDIR.into()) } else { Ok(parent) }
}

impl preopens::Host for FilesView<'_> {
    /// Always the one mount, so that a call without it is told by which rule and not by absence. Without the mount the
    /// handle is of nothing: every operation is refused before it is looked at.
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let writes = self.ctx.rules.mount(Want::Write).is_ok();
        let granted = writes || self.ctx.rules.mount(Want::Read).is_ok();
        let root = if granted { self.ctx.root().ok() } else { None };
        let dir = match root {
            // The handle shares the root's file: nothing reads a position from it, listings open their own.
            Some(root) => File::from(root.file.as_fd().try_clone_to_owned()?),
            None => File::open("/dev/null")?,
        };
        let perms = if writes { FsPerms::ReadWrite } else { FsPerms::ReadOnly };
        let mut mode = OpenMode::READ;
        mode.set(OpenMode::WRITE, writes);
        self.ctx.ledger.charge(Budget::HostMemory, DESCRIPTOR_BYTES)?;
        let dir = self.table.push(Descriptor::Dir(Dir::new(dir, perms, mode, INLINE)))?;
        Ok(vec![(dir, MOUNT.to_owned())])
    }
}

impl types::Host for FilesView<'_> {
    fn convert_error_code(&mut self, err: FsError) -> wasmtime::Result<ErrorCode> {
        err.downcast()
    }

    fn filesystem_error_code(&mut self, err: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        let err = self.table.get(&err)?;
        let errno = err.downcast_ref::<std::io::Error>().and_then(Errno::from_io_error);
        Ok(errno.map(error::code))
    }
}

impl HostDescriptor for FilesView<'_> {
    async fn advise(&mut self, fd: Resource<Descriptor>, offset: u64, len: u64, advice: Advice) -> FsResult<()> {
        self.charge(Budget::FileOperations, 1)?;
        HostDescriptor::advise(&mut self.wasi(), fd, offset, len, advice).await
    }

    async fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.wait_for_disk(&fd, File::sync_data).await
    }

    async fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.wait_for_disk(&fd, File::sync_all).await
    }

    async fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        HostDescriptor::get_flags(&mut self.wasi(), fd).await
    }

    async fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        HostDescriptor::get_type(&mut self.wasi(), fd).await
    }

    async fn set_size(&mut self, fd: Resource<Descriptor>, size: u64) -> FsResult<()> {
        self.charge(Budget::FileOperations, 1)?;
        HostDescriptor::set_size(&mut self.wasi(), fd, size).await
    }

    async fn set_times(&mut self, fd: Resource<Descriptor>, atim: NewTimestamp, mtim: NewTimestamp) -> FsResult<()> {
        if matches!(self.table.get(&fd)?, Descriptor::Dir(_)) {
            self.at(&fd, "write", Want::Write, "", |place| {
                let path = place.root.locate(place.base.as_fd())?;
                Ok(place.rules.judge(Want::Write, &path)?)
            })?;
        }
        HostDescriptor::set_times(&mut self.wasi(), fd, atim, mtim).await
    }

    async fn read(&mut self, fd: Resource<Descriptor>, len: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        let len = usize::try_from(len).unwrap_or(READ_BYTES).min(READ_BYTES);
        let bytes = read_at(&self.file(&fd)?.file, len, offset).map_err(os)?;
        self.charge(Budget::FileBytes, bytes.len() as u64)?;
        let end = bytes.is_empty() && len > 0;
        Ok((bytes, end))
    }

    async fn write(&mut self, fd: Resource<Descriptor>, mut buf: Vec<u8>, offset: u64) -> FsResult<u64> {
        buf.truncate(WRITE_BYTES);
        self.charge(Budget::FileBytes, buf.len() as u64)?;
        let file = self.writable(&fd)?;
        let count = rustix::io::pwrite(&file, &buf, offset).map_err(os)?;
        Ok(count as u64)
    }

    fn read_via_stream(&mut self, fd: Resource<Descriptor>, offset: u64) -> FsResult<Resource<DynInputStream>> {
        let file = Arc::clone(&self.file(&fd)?.file);
        let held = Held::new(&self.ctx.ledger, DESCRIPTOR_BYTES).map_err(spent)?;
        let stream: DynInputStream = Box::new(FileReader { file, position: offset, held });
        Ok(self.table.push(stream)?)
    }

    fn write_via_stream(&mut self, fd: Resource<Descriptor>, offset: u64) -> FsResult<Resource<DynOutputStream>> {
        self.writer(&fd, At::Position(offset))
    }

    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        self.writer(&fd, At::End)
    }

    async fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>> {
        let (dir, path) = self.at(&fd, "list", Want::Look, "", |place| {
            let path = place.root.locate(place.base.as_fd())?;
            place.rules.judge(Want::Look, &path)?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok((rustix::fs::openat(place.base, ".", flags, Mode::empty())?, path))
        })?;
        let held = Held::new(&self.ctx.ledger, LISTING_BYTES).map_err(spent)?;
        let listing = self.table.push(Listing::new(dir, path, Arc::clone(&self.ctx.rules), held))?;
        // The interface's own type for this can only be made inside wasmtime-wasi; the handle is a number in our table and
        // only we look it up.
        Ok(Resource::new_own(listing.rep()))
    }

    async fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        HostDescriptor::stat(&mut self.wasi(), fd).await
    }

    async fn stat_at(&mut self, fd: Resource<Descriptor>, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let found = self.at(&fd, "read", Want::Read, &path, |place| place.peek(&path, follow(flags)))?;
        let lent = self.lend(found.into(), FsPerms::ReadOnly)?;
        let stat = HostDescriptor::stat(&mut self.wasi(), Resource::new_borrow(lent.rep())).await;
        self.table.delete(lent)?;
        stat
    }

    async fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        HostDescriptor::metadata_hash(&mut self.wasi(), fd).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let found = self.at(&fd, "read", Want::Read, &path, |place| place.peek(&path, follow(flags)))?;
        let lent = self.lend(found.into(), FsPerms::ReadOnly)?;
        let hash = HostDescriptor::metadata_hash(&mut self.wasi(), Resource::new_borrow(lent.rep())).await;
        self.table.delete(lent)?;
        hash
    }

    async fn is_same_object(&mut self, a: Resource<Descriptor>, b: Resource<Descriptor>) -> wasmtime::Result<bool> {
        HostDescriptor::is_same_object(&mut self.wasi(), a, b).await
    }

    async fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
        atim: NewTimestamp,
        mtim: NewTimestamp,
    ) -> FsResult<()> {
        let ask = Ask { read: true, follow: follow(flags), ..Ask::default() };
        let opened = self.at(&fd, "write", Want::Write, &path, |place| {
            let opened = place.open(&path, &ask)?;
            place.judge(opened.fd, true)
        })?;
        let lent = self.lend(opened.fd.into(), FsPerms::ReadWrite)?;
        let set = HostDescriptor::set_times(&mut self.wasi(), Resource::new_borrow(lent.rep()), atim, mtim).await;
        self.table.delete(lent)?;
        set
    }

    async fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let ask = Ask {
            read: flags.contains(DescriptorFlags::READ),
            write: flags.contains(DescriptorFlags::WRITE),
            directory: open_flags.contains(OpenFlags::DIRECTORY),
            create: open_flags.contains(OpenFlags::CREATE),
            exclusive: open_flags.contains(OpenFlags::EXCLUSIVE),
            truncate: open_flags.contains(OpenFlags::TRUNCATE),
            follow: follow(path_flags),
        };
        let synced = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if flags.intersects(synced) {
            return Err(ErrorCode::Unsupported.into());
        }
        if ask.directory && (ask.create || ask.exclusive || ask.truncate) {
            return Err(ErrorCode::Invalid.into());
        }
        let (verb, want) = if ask.writes() { ("write", Want::Write) } else { ("read", Want::Read) };
        let opened = self.at(&fd, verb, want, &path, |place| place.open(&path, &ask))?;
        // A directory's own right to write only concerns its times, and those are judged when they are set.
        let may_write = ask.writes() || (opened.is_dir && self.ctx.rules.mount(Want::Write).is_ok());
        self.push(descriptor(opened, &ask, may_write))
    }

    async fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.at(&fd, "make directory", Want::MakeDir, &path, |place| {
            let parent = place.parent(&path, Want::MakeDir)?;
            Ok(rustix::fs::mkdirat(&parent.dir, &parent.name, Mode::from_raw_mode(0o755))?)
        })
    }

    async fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.at(&fd, "remove directory", Want::Write, &path, |place| {
            let parent = place.parent(&path, Want::Write)?;
            Ok(rustix::fs::unlinkat(&parent.dir, &parent.name, AtFlags::REMOVEDIR)?)
        })
    }

    async fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.at(&fd, "remove", Want::Write, &path, |place| {
            let parent = without_slash(place.parent(&path, Want::Write)?)?;
            Ok(rustix::fs::unlinkat(&parent.dir, &parent.name, AtFlags::empty())?)
        })
    }

    async fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        old_path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let from = self.at(&fd, "move", Want::Write, &old_path, |place| place.parent(&old_path, Want::Write))?;
        self.at(&new_fd, "move to", Want::Write, &new_path, |place| {
            let to = place.parent(&new_path, Want::Write)?;
            if (from.slash || to.slash) && !crate::resolve::is_dir(&from)? {
                return Err(Errno::NOTDIR.into());
            }
            rename(place.rules, &from, &to)
        })
    }

    async fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        self.at(&fd, "read link", Want::Read, &path, |place| {
            let parent = without_slash(place.parent(&path, Want::Read)?)?;
            let target = rustix::fs::readlinkat(&parent.dir, &parent.name, Vec::new())?;
            let target = target.into_string().map_err(|_| Errno::ILSEQ)?;
            if target.starts_with('/') {
                // It names a place of the host, which a guest has no business to know.
                return Err(crate::decide::Refusal::fixed("files.outside").into());
            }
            Ok(target)
        })
    }

    /// Links are never made: a link is judged by where it leads when it is followed, but other programs that see the
    /// workspace (an editor, a backup) would follow it unjudged.
    async fn symlink_at(&mut self, fd: Resource<Descriptor>, _target: String, path: String) -> FsResult<()> {
        self.at(&fd, "link", Want::Write, &path, |_| Err(crate::decide::Refusal::fixed("files.no-links").into()))
    }

    async fn link_at(
        &mut self,
        _fd: Resource<Descriptor>,
        _flags: PathFlags,
        _old_path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        self.at(
            &new_fd,
            "link",
            Want::Write,
            &new_path,
            |_| Err(crate::decide::Refusal::fixed("files.no-links").into()),
        )
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.table.delete(fd)?;
        self.ctx.ledger.release(Budget::HostMemory, DESCRIPTOR_BYTES);
        Ok(())
    }
}

impl FilesView<'_> {
    fn writer(&mut self, fd: &Resource<Descriptor>, at: At) -> FsResult<Resource<DynOutputStream>> {
        let file = self.writable(fd)?;
        let held = Held::new(&self.ctx.ledger, DESCRIPTOR_BYTES).map_err(spent)?;
        let stream: DynOutputStream = Box::new(FileWriter { file, at, held });
        Ok(self.table.push(stream)?)
    }
}

impl HostDirectoryEntryStream for FilesView<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let listing = self.table.get_mut(&Resource::<Listing>::new_borrow(stream.rep()))?;
        Ok(listing.next()?)
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<Listing>::new_own(stream.rep()))?;
        Ok(())
    }
}
