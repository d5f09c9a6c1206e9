//! `list_files`.

use crate::scan::{Entry, Kind, scan};
use crate::told::told;
use crate::workspace::place;
use caisson_sdk::ToolError;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const LIMIT: usize = 1_000;
/// Past this many entries nothing more is looked at: they must be held to be sorted.
const SEEN: usize = 50_000;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Args {
    /// Folder in the workspace; the workspace itself by default
    #[serde(default)]
    pub path: String,
    /// List the folders in it too; false by default
    #[serde(default)]
    pub recursive: bool,
    /// Show size in bytes and time of the last change; false by default
    #[serde(default)]
    pub details: bool,
    /// How many entries to list; 1000 by default
    #[schemars(range(min = 1, max = 50_000))]
    pub limit: Option<usize>,
}

pub fn list(root: &Path, args: &Args) -> Result<String, ToolError> {
    let place = place(root, &args.path)?;
    let limit = args.limit.unwrap_or(LIMIT);
    if limit == 0 {
        return Err(ToolError::invalid_arguments("`limit` counts from 1; leave it out for 1000"));
    }
    let mut entries = scan(&place.path).map_err(|error| told("listed", &place, &error))?;
    let whole = !args.recursive || descend(&place.path, &mut entries);
    if entries.is_empty() {
        return Ok(format!("[`{}` is empty]", place.shown));
    }
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let mut text = String::with_capacity(entries.len().min(limit) * 24);
    for entry in entries.iter().take(limit) {
        if args.details {
            text.push_str(&about(&place.path, entry));
        }
        push_name(&mut text, entry);
    }
    let left = entries.len().saturating_sub(limit);
    if left > 0 {
        text.push_str(&format!("[{left} more of {}; raise `limit` or list a folder in it]", entries.len()));
    } else {
        text.pop();
    }
    if !whole {
        text.push_str(&format!("\n[more than {SEEN} entries, the rest was not looked at; list a folder in it]"));
    }
    Ok(text)
}

/// Adds what is in the folders below, their paths relative to `top`. Links are not followed. The answer is whether it saw all.
fn descend(top: &Path, entries: &mut Vec<Entry>) -> bool {
    let mut at = 0;
    while let Some(entry) = entries.get(at) {
        at += 1;
        if entry.kind != Kind::Folder {
            continue;
        }
        let folder = entry.name.clone();
        // A folder that cannot be read, or is gone by now, still stands in the list by its name.
        let Ok(below) = scan(&top.join(&folder)) else { continue };
        if entries.len() + below.len() > SEEN {
            return false;
        }
        entries.extend(below.into_iter().map(|entry| Entry { name: format!("{folder}/{}", entry.name), ..entry }));
    }
    true
}

fn push_name(text: &mut String, entry: &Entry) {
    // A name with a line end in it must not look like two names.
    if entry.name.contains(char::is_control) {
        text.extend(entry.name.chars().flat_map(|c| if c.is_control() { c.escape_debug().collect() } else { vec![c] }));
    } else {
        text.push_str(&entry.name);
    }
    text.push_str(if entry.kind == Kind::Folder { "/\n" } else { "\n" });
}

/// Size and time, in columns, before the name.
fn about(folder: &Path, entry: &Entry) -> String {
    let Ok(about) = std::fs::symlink_metadata(folder.join(&entry.name)) else {
        return format!("{:>12}  {:<17}  ", "?", "?");
    };
    let size = match entry.kind {
        Kind::Folder => "folder".to_owned(),
        Kind::Link => "link".to_owned(),
        Kind::Other => about.len().to_string(),
    };
    format!("{size:>12}  {:<17}  ", about.modified().map_or_else(|_| "?".to_owned(), minute))
}

/// For example `2026-03-01T09:30Z`.
fn minute(time: SystemTime) -> String {
    let minutes = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 60);
    let (year, month, day) = date(minutes / (24 * 60));
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}Z", minutes / 60 % 24, minutes % 60)
}

/// The Gregorian date of a day since 1970. Years are counted from March, so that the leap day comes last.
fn date(days: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097;
    let days = days + 719_468;
    let (era, of_era) = (days / ERA, days % ERA);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use std::time::Duration;

    fn workspace() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("b/c")).unwrap();
        for file in ["z", "a.txt", "b/x", "b/c/deep"] {
            std::fs::write(root.path().join(file), "12345").unwrap();
        }
        root
    }

    fn args(path: &str) -> Args {
        Args { path: path.into(), recursive: false, details: false, limit: None }
    }

    #[test]
    fn what_is_no_folder_is_told() {
        let root = workspace();
        assert!(list(root.path(), &args("nowhere")).unwrap_err().message().contains("no such file or folder"));
        assert!(list(root.path(), &args("z")).unwrap_err().message().contains("a folder is needed"));
        assert!(list(root.path(), &Args { limit: Some(0), ..args("") }).is_err());
    }

    #[test]
    fn sorted_with_folders_marked() {
        let root = workspace();
        assert_eq!(list(root.path(), &args("")).unwrap(), "a.txt\nb/\nz");
        assert_eq!(list(root.path(), &args("/workspace/b/")).unwrap(), "c/\nx");
    }

    #[test]
    fn recursive_names_are_relative() {
        let root = workspace();
        let all = list(root.path(), &Args { recursive: true, ..args(".") }).unwrap();
        assert_eq!(all, "a.txt\nb/\nb/c/\nb/c/deep\nb/x\nz");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let root = workspace();
        std::os::unix::fs::symlink(".", root.path().join("b/loop")).unwrap();
        let all = list(root.path(), &Args { recursive: true, details: true, ..args("b") }).unwrap();
        assert_eq!(all.lines().count(), 4, "{all}");
        assert!(all.lines().any(|line| line.trim_start().starts_with("link") && line.ends_with("loop")), "{all}");
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let root = workspace();
        let some = list(root.path(), &Args { limit: Some(2), ..args("") }).unwrap();
        assert_eq!(some, "a.txt\nb/\n[1 more of 3; raise `limit` or list a folder in it]");
    }

    #[test]
    fn an_empty_folder_says_so() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(list(root.path(), &args("")).unwrap(), "[`.` is empty]");
    }

    #[cfg(unix)]
    #[test]
    fn a_line_end_in_a_name_is_escaped() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a\nb\"é"), "").unwrap();
        assert_eq!(list(root.path(), &args("")).unwrap(), "a\\nb\"é");
    }

    #[test]
    fn details_have_size_and_time() {
        let root = workspace();
        let all = list(root.path(), &Args { details: true, ..args("") }).unwrap();
        let line = all.lines().next().unwrap();
        assert!(line.trim_start().starts_with("5  20") && line.ends_with("Z  a.txt"), "{line}");
        assert!(all.contains("folder  "), "{all}");
    }

    #[test]
    fn times_are_dates() {
        for (seconds, wanted) in [
            (0, "1970-01-01T00:00Z"),
            (951_782_400, "2000-02-29T00:00Z"),
            (1_709_251_199, "2024-02-29T23:59Z"),
            (4_107_542_400, "2100-03-01T00:00Z"),
        ] {
            assert_eq!(minute(UNIX_EPOCH + Duration::from_secs(seconds)), wanted);
        }
    }
}
