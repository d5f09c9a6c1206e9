//! Through `wasi:filesystem` itself: the standard library asks the host for a hash of every entry, to make up an inode number
//! that nobody here wants.

use super::{Entry, Kind};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, DirectoryEntryStream, ErrorCode, OpenFlags, PathFlags,
};

/// The entries of a folder in no order.
pub fn scan(folder: &Path) -> Result<Vec<Entry>> {
    let mounts = get_directories();
    let mount = mounts.iter().find_map(|(descriptor, at)| Some((descriptor, folder.strip_prefix(at).ok()?)));
    let (mount, below) = mount.ok_or(ErrorKind::PermissionDenied)?;
    let below = below.to_str().ok_or(ErrorKind::InvalidFilename)?;
    if below.is_empty() {
        return entries(mount);
    }
    let opened = mount.open_at(PathFlags::SYMLINK_FOLLOW, below, OpenFlags::DIRECTORY, DescriptorFlags::READ);
    entries(&opened.map_err(error)?)
}

fn entries(folder: &Descriptor) -> Result<Vec<Entry>> {
    let stream: DirectoryEntryStream = folder.read_directory().map_err(error)?;
    let mut entries = Vec::new();
    while let Some(entry) = stream.read_directory_entry().map_err(error)? {
        let kind = match entry.type_ {
            DescriptorType::Directory => Kind::Folder,
            DescriptorType::SymbolicLink => Kind::Link,
            _ => Kind::Other,
        };
        entries.push(Entry { name: entry.name, kind });
    }
    Ok(entries)
}

fn error(code: ErrorCode) -> Error {
    let kind = match code {
        ErrorCode::Access | ErrorCode::NotPermitted => ErrorKind::PermissionDenied,
        ErrorCode::NoEntry => ErrorKind::NotFound,
        ErrorCode::NotDirectory => ErrorKind::NotADirectory,
        ErrorCode::NameTooLong => ErrorKind::InvalidFilename,
        ErrorCode::Invalid | ErrorCode::IllegalByteSequence => ErrorKind::InvalidInput,
        other => return Error::other(other.message()),
    };
    kind.into()
}
