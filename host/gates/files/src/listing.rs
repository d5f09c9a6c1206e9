//! A directory, listed a piece at a time: a folder with a million names costs the host one buffer.

use crate::decide::{Rules, Want};
use crate::held::Held;
use rustix::fs::{AtFlags, FileType, RawDir};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorType, DirectoryEntry, ErrorCode};

/// Bytes of names asked of the kernel at once: a folder of a few hundred files in one go.
const PIECE: usize = 16 << 10;

/// Charged for one listing: its descriptor, one piece as the kernel gives it and the entries made of that.
pub(crate) const LISTING_BYTES: u64 = crate::held::DESCRIPTOR_BYTES + 4 * PIECE as u64;

/// A listing under way.
pub(crate) struct Listing {
    /// Its own descriptor, so that its position is its own.
    dir: OwnedFd,
    /// Where the directory was when it was opened.
    path: PathBuf,
    rules: Arc<Rules>,
    waiting: VecDeque<Result<DirectoryEntry, ErrorCode>>,
    done: bool,
    _held: Held,
}

impl Listing {
    pub(crate) fn new(dir: OwnedFd, path: PathBuf, rules: Arc<Rules>, held: Held) -> Self {
        Self { dir, path, rules, waiting: VecDeque::new(), done: false, _held: held }
    }

    /// The next entry that the layers let the guest see.
    pub(crate) fn next(&mut self) -> Result<Option<DirectoryEntry>, ErrorCode> {
        while self.waiting.is_empty() && !self.done {
            self.refill().map_err(crate::error::code)?;
        }
        self.waiting.pop_front().transpose()
    }

    fn refill(&mut self) -> Result<(), Errno> {
        let mut piece = [MaybeUninit::<u8>::uninit(); PIECE];
        let mut entries = RawDir::new(&self.dir, &mut piece);
        loop {
            let Some(entry) = entries.next() else {
                self.done = true;
                return Ok(());
            };
            let entry = entry?;
            let shown = entry_of(&self.dir, &self.rules, &self.path, entry.file_name(), entry.file_type());
            self.waiting.extend(shown);
            if entries.is_buffer_empty() {
                return Ok(());
            }
        }
    }
}

fn entry_of(
    dir: &OwnedFd,
    rules: &Rules,
    path: &Path,
    name: &CStr,
    kind: FileType,
) -> Option<Result<DirectoryEntry, ErrorCode>> {
    if matches!(name.to_bytes(), b"." | b"..") {
        return None;
    }
    let kind = match kind {
        // Some file systems do not say; one that vanished meanwhile stays unknown.
        FileType::Unknown => rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
        known => known,
    };
    // A name that is not Unicode is shown as near as it can be: it cannot be opened, but must not hide the rest of its folder.
    let name = &*name.to_string_lossy();
    let want = if kind.is_dir() { Want::Look } else { Want::Read };
    if rules.narrows_paths() && rules.judge(want, &path.join(name)).is_err() {
        return None;
    }
    Some(Ok(DirectoryEntry { type_: type_of(kind), name: name.to_owned() }))
}

fn type_of(kind: FileType) -> DescriptorType {
    match kind {
        FileType::RegularFile => DescriptorType::RegularFile,
        FileType::Directory => DescriptorType::Directory,
        FileType::Symlink => DescriptorType::SymbolicLink,
        FileType::Fifo => DescriptorType::Fifo,
        FileType::Socket => DescriptorType::Socket,
        FileType::CharacterDevice => DescriptorType::CharacterDevice,
        FileType::BlockDevice => DescriptorType::BlockDevice,
        FileType::Unknown => DescriptorType::Unknown,
    }
}
