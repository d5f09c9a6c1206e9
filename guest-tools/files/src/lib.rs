//! The built-in plugin `files`: reads, writes, edits and lists the files of the workspace, through plain `std::fs`. What of it a
//! call may touch is the host's decision, not made here.

mod edit;
mod list;
mod read;
mod scan;
mod told;
mod workspace;
mod write;

use caisson_sdk::{Output, ToolError, plugin, tool};
use std::path::Path;

/// Where the host mounts the caller's workspace.
const WORKSPACE: &str = "/workspace";

fn root() -> &'static Path {
    Path::new(WORKSPACE)
}

/// Reads a text file, or some lines of it. At most 50,000 characters are returned; what was left out is said, and how to read
/// on. Binary files are refused.
#[tool(effect = "read-only", title = "Read file", groups("fs"), idempotent, max_result_chars = 50000)]
fn read_file(args: read::Args) -> Result<Output, ToolError> {
    read::read(root(), &args).map(Output::text)
}

/// Writes a text file, replacing what it held. Missing folders are made.
#[tool(title = "Write file", groups("fs"), idempotent)]
fn write_file(args: write::Args) -> Result<Output, ToolError> {
    write::write(root(), &args).map(Output::text)
}

/// Replaces an exact piece of text in a file. `old_string` must occur exactly once, or `replace_all` be true; give enough of the
/// lines around it to make it unique.
#[tool(name = "edit", title = "Edit file", groups("fs"))]
fn edit_file(args: edit::Args) -> Result<Output, ToolError> {
    edit::edit(root(), &args).map(Output::text)
}

/// Lists a folder, sorted by name; folders end with `/`.
#[tool(effect = "read-only", title = "List files", groups("fs"), idempotent)]
fn list_files(args: list::Args) -> Result<Output, ToolError> {
    list::list(root(), &args).map(Output::text)
}

plugin!(read_file, write_file, edit_file, list_files);
