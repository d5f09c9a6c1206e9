//! One folder, read once.

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

#[cfg_attr(target_family = "wasm", path = "scan/wasi.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "scan/native.rs")]
mod place;

pub use place::scan;
