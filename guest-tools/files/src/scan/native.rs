//! Off wasm, for the tests: through the standard library.

use super::{Entry, Kind};
use std::io;
use std::path::Path;

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
