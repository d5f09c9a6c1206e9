//! The price list: a CSV file in the workspace.

use caisson_sdk::ToolError;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

const HEAD: &str = "item,price,quantity,unit,unit price\n";

/// Adds a line; the answer is its number. The list is begun where there is none.
pub fn add(root: &Path, file: &str, fields: &[&str]) -> Result<usize, ToolError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::PermissionDenied => {
            ToolError::unavailable(format!("the host refused `{file}`: this plugin is granted `prices.csv` only"))
        }
        ErrorKind::NotFound => ToolError::not_found(format!("the folder of `{file}` is not there; use `prices.csv`")),
        _ => ToolError::failed(format!("`{file}` cannot be written: {error}")),
    };
    let mut list =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(root.join(file)).map_err(failed)?;
    let mut before = String::new();
    list.read_to_string(&mut before).map_err(failed)?;
    // One write, at the end where reading stopped.
    let mut new = match before.as_str() {
        "" => HEAD.to_owned(),
        text if text.ends_with('\n') => String::new(),
        _ => "\n".to_owned(),
    };
    let line: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
    new.push_str(&line.join(","));
    new.push('\n');
    list.write_all(new.as_bytes()).map_err(failed)?;
    Ok(before.lines().count() + new.trim_start_matches('\n').lines().count())
}

/// A field as RFC 4180 wants it; one that a spreadsheet would take for a formula gets a quote before it.
fn quoted(field: &str) -> String {
    let safe = if field.starts_with(['=', '+', '-', '@']) { format!("'{field}") } else { field.to_owned() };
    if safe.contains([',', '"', '\n', '\r']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_is_told() {
        let root = tempfile::tempdir().unwrap();
        assert!(add(root.path(), "no/prices.csv", &["a"]).unwrap_err().message().contains("use `prices.csv`"));
    }

    #[test]
    fn lines_are_added() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(add(root.path(), "prices.csv", &["apples, red", "3.50", "2", "kg", "1.75"]).unwrap(), 2);
        assert_eq!(add(root.path(), "prices.csv", &["=1+1", "1", "1", "l", "1"]).unwrap(), 3);
        let list = std::fs::read_to_string(root.path().join("prices.csv")).unwrap();
        assert_eq!(list, format!("{HEAD}\"apples, red\",3.50,2,kg,1.75\n'=1+1,1,1,l,1\n"));
    }

    #[test]
    fn a_list_without_a_last_line_end_is_continued() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("prices.csv"), "item\npears").unwrap();
        assert_eq!(add(root.path(), "prices.csv", &["plums"]).unwrap(), 3);
        assert_eq!(std::fs::read_to_string(root.path().join("prices.csv")).unwrap(), "item\npears\nplums\n");
    }
}
