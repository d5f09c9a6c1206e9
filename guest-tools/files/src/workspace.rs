//! From the path that a model writes to the path that is opened.

use caisson_sdk::ToolError;
use std::path::{Path, PathBuf};

/// A path in the workspace.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// What is opened.
    pub path: PathBuf,
    /// How it is shown: relative to the workspace, `.` for the workspace itself.
    pub shown: String,
}

/// Takes `notes.txt`, `./notes.txt` and `/workspace/notes.txt` for the same file. `..` is left to the host, which judges what is
/// really opened.
pub fn place(root: &Path, path: &str) -> Result<Place, ToolError> {
    if path.contains('\0') {
        return Err(ToolError::invalid_arguments("`path` holds a NUL character; no file has such a name"));
    }
    let below = match path.strip_prefix(crate::WORKSPACE) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ if path.starts_with('/') => {
            return Err(ToolError::invalid_arguments(format!(
                "`{path}` is outside the workspace: name a path in it, such as `notes.txt` or `/workspace/notes.txt`"
            )));
        }
        _ => path,
    };
    let mut below = below.trim_start_matches('/');
    while let Some(rest) = below.strip_prefix("./") {
        below = rest.trim_start_matches('/');
    }
    let below = if below == "." { "" } else { below };
    if below.is_empty() {
        return Ok(Place { path: root.to_owned(), shown: ".".to_owned() });
    }
    Ok(Place { path: root.join(below), shown: below.to_owned() })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn opened(path: &str) -> String {
        place(Path::new("/workspace"), path).unwrap().path.to_str().unwrap().to_owned()
    }

    #[test]
    fn what_is_no_path_of_the_workspace_is_refused() {
        for path in ["/etc/passwd", "/workspaces/a", "/", "a\0b"] {
            let error = place(Path::new("/workspace"), path).unwrap_err();
            assert_eq!(error.reason(), caisson_sdk::Reason::InvalidArguments, "{path}");
        }
    }

    #[test]
    fn the_ways_to_write_a_path_are_one() {
        for path in ["notes.txt", "./notes.txt", "/workspace/notes.txt", "/workspace//notes.txt", ".//./notes.txt"] {
            assert_eq!(opened(path), "/workspace/notes.txt", "{path}");
        }
        for path in ["", ".", "./", "/workspace", "/workspace/", "/workspace/."] {
            assert_eq!(opened(path), "/workspace", "{path}");
        }
    }

    #[test]
    fn two_dots_are_left_to_the_host() {
        assert_eq!(opened("a/../../x"), "/workspace/a/../../x");
    }
}
