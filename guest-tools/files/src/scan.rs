//! One folder, read once.

use std::io;
use std::path::Path;

/// What stands in a folder.
pub struct Entry {
    /// Its name; what is not UTF-8 in it is replaced.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// What an entry is, as far as a listing tells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A file, or anything else.
    Other,
}

/// The entries of a folder in no order.
pub fn scan(folder: &Path) -> io::Result<Vec<Entry>> {
    std::fs::read_dir(folder)?
        .map(|entry| {
            let entry = entry?;
            let kind = match entry.file_type()? {
                kind if kind.is_dir() => Kind::Folder,
                kind if kind.is_symlink() => Kind::Link,
                _ => Kind::Other,
            };
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok(Entry { name, kind })
        })
        .collect()
}
