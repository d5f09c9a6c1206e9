//! What the command line does for plugin authors: `new` and `build`.
