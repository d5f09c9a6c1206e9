//! How a program gets its credentials.

/// The adapter of programs that take them from variables.
pub(crate) const PASSTHROUGH: &str = "passthrough";

const NAMES: [&str; 3] = [PASSTHROUGH, "git", "psql"];

pub(crate) fn find(name: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|known| *known == name)
}

/// The names of all adapters.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter()
}
