//! `write_file`.

use crate::told::told;
use crate::workspace::place;
use caisson_sdk::ToolError;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Args {
    /// Path in the workspace, for example `notes/today.md`
    pub path: String,
    /// The whole new content
    pub content: String,
}

pub fn write(root: &Path, args: &Args) -> Result<String, ToolError> {
    let place = place(root, &args.path)?;
    if place.path == root || place.shown.ends_with('/') {
        return Err(ToolError::invalid_arguments(format!("`{}` names a folder; name a file in it", place.shown)));
    }
    let mut result = fs::write(&place.path, &args.content);
    // Only where the folder is missing, so that the common case is one open.
    if result.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound)
        && let Some(folder) = place.path.parent()
    {
        result = fs::create_dir_all(folder).and_then(|()| fs::write(&place.path, &args.content));
    }
    result.map_err(|error| told("written", &place, &error))?;
    let lines = args.content.lines().count();
    let (bytes, plural) = (args.content.len(), if lines == 1 { "" } else { "s" });
    Ok(format!("wrote {bytes} bytes ({lines} line{plural}) to `{}`", place.shown))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use caisson_sdk::Reason;

    fn args(path: &str, content: &str) -> Args {
        Args { path: path.into(), content: content.into() }
    }

    #[test]
    fn a_folder_is_not_written() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("d")).unwrap();
        for path in ["", "/workspace", "new/", "d"] {
            let error = write(root.path(), &args(path, "x")).unwrap_err();
            assert_eq!(error.reason(), Reason::InvalidArguments, "{path}: {error}");
        }
    }

    #[test]
    fn a_path_through_a_file_is_told() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("f"), "x").unwrap();
        let error = write(root.path(), &args("f/g", "x")).unwrap_err();
        assert!(error.message().contains("leads through a file"), "{error}");
    }

    #[test]
    fn parents_are_made_and_content_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let said = write(root.path(), &args("a/b/c.txt", "one\ntwo\n")).unwrap();
        assert_eq!(said, "wrote 8 bytes (2 lines) to `a/b/c.txt`");
        write(root.path(), &args("/workspace/a/b/c.txt", "3")).unwrap();
        assert_eq!(fs::read_to_string(root.path().join("a/b/c.txt")).unwrap(), "3");
    }
}
