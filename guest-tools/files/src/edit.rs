//! `edit`.

use crate::told::told;
use crate::workspace::place;
use caisson_sdk::ToolError;
use std::fs;
use std::path::Path;

/// The text is held several times while it is edited.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// How many places an error names.
const PLACES: usize = 10;
/// How many characters of a line an error shows.
const SHOWN: usize = 200;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Args {
    /// Path in the workspace, for example `src/main.rs`
    pub path: String,
    /// The text to replace, exactly as it stands in the file, indentation included
    #[schemars(length(min = 1))]
    pub old_string: String,
    /// The text to put in its place; empty removes it
    pub new_string: String,
    /// Replace every occurrence; false by default
    #[serde(default)]
    pub replace_all: bool,
}

pub fn edit(root: &Path, args: &Args) -> Result<String, ToolError> {
    let place = place(root, &args.path)?;
    let failed = |what: &str, error: &std::io::Error| told(what, &place, error);
    let about = fs::metadata(&place.path).map_err(|error| failed("edited", &error))?;
    if about.is_dir() {
        return Err(failed("edited", &std::io::ErrorKind::IsADirectory.into()));
    }
    if about.len() > MAX_BYTES {
        return Err(ToolError::invalid_arguments(format!(
            "`{}` has {} bytes; at most {MAX_BYTES} can be edited: split the file, or write it anew with `write_file`",
            place.shown,
            about.len()
        )));
    }
    let bytes = fs::read(&place.path).map_err(|error| failed("edited", &error))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        ToolError::invalid_arguments(format!("`{}` is not UTF-8 text and cannot be edited as such", place.shown))
    })?;
    let edited = replace(&text, args, &place.shown)?;
    fs::write(&place.path, &edited.text).map_err(|error| failed("written", &error))?;
    let count = edited.lines.len();
    let (times, plural) = if count == 1 { ("once".to_owned(), "") } else { (format!("{count} times"), "s") };
    Ok(format!("replaced {times} in `{}` (line{plural} {})", place.shown, listed(&edited.lines)))
}

struct Edited {
    text: String,
    /// Where it was replaced, counted in the old text.
    lines: Vec<usize>,
}

fn replace(text: &str, args: &Args, shown: &str) -> Result<Edited, ToolError> {
    if args.old_string.is_empty() {
        return Err(ToolError::invalid_arguments(
            "`old_string` is empty: give the text to replace, or use `write_file` for a whole file",
        ));
    }
    if args.old_string == args.new_string {
        return Err(ToolError::invalid_arguments(
            "`old_string` and `new_string` are the same: there is nothing to change",
        ));
    }
    let (mut old, mut new) = (args.old_string.clone(), args.new_string.clone());
    let mut lines = places(text, &old);
    // Models write `\n`; the file keeps the line ends that it has.
    if lines.is_empty() && text.contains("\r\n") && !old.contains('\r') {
        (old, new) = (old.replace('\n', "\r\n"), new.replace("\r\n", "\n").replace('\n', "\r\n"));
        lines = places(text, &old);
    }
    if lines.is_empty() {
        return Err(ToolError::not_found(format!(
            "`old_string` does not occur in `{shown}`; {}",
            hint(text, &args.old_string)
        )));
    }
    if lines.len() > 1 && !args.replace_all {
        return Err(ToolError::invalid_arguments(format!(
            "`old_string` occurs {} times in `{shown}` (lines {}): add lines around it to make it unique, or set `replace_all`",
            lines.len(),
            listed(&lines)
        )));
    }
    Ok(Edited { text: text.replace(&old, &new), lines })
}

/// The line of each occurrence, counted from 1.
fn places(text: &str, old: &str) -> Vec<usize> {
    let (mut line, mut from) = (1, 0);
    text.match_indices(old)
        .map(|(at, _)| {
            line += text.get(from..at).unwrap_or_default().matches('\n').count();
            from = at;
            line
        })
        .collect()
}

fn listed(lines: &[usize]) -> String {
    let first: Vec<String> = lines.iter().take(PLACES).map(ToString::to_string).collect();
    let rest = lines.len().saturating_sub(PLACES);
    if rest > 0 { format!("{} and {rest} more", first.join(", ")) } else { first.join(", ") }
}

/// Names the line that is most like the first line of what was looked for.
fn hint(text: &str, old: &str) -> String {
    let Some(wanted) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return "read the file again and copy the text exactly".to_owned();
    };
    let nearest = text
        .lines()
        .enumerate()
        .map(|(index, line)| (likeness(wanted, line.trim()), index + 1, line))
        .max_by(|(a, at_a, _), (b, at_b, _)| a.cmp(b).then(at_b.cmp(at_a)));
    match nearest {
        Some((1000, number, line)) if line.contains(wanted) && !old.trim().contains('\n') => format!(
            "line {number} has the same words with other white space around them: `{}`; copy it exactly",
            cut(line)
        ),
        Some((1000, number, _)) => {
            format!(
                "its first line is like line {number}, but white space or a later line differs; read the file from there and copy it exactly"
            )
        }
        Some((score, number, line)) if score >= 400 => {
            format!("the nearest is line {number}: `{}`; read the file again and copy the text exactly", cut(line))
        }
        _ => "no line is like it; read the file again and copy the text exactly".to_owned(),
    }
}

/// How much two lines have in common: 0 to 1000, by the pairs of bytes that both have.
fn likeness(a: &str, b: &str) -> usize {
    if a == b {
        return 1000;
    }
    let pairs = |text: &str| {
        // Long lines are alike by their starts; all of them would cost too much.
        let mut pairs: Vec<[u8; 2]> =
            text.as_bytes().windows(2).take(SHOWN).filter_map(|pair| pair.try_into().ok()).collect();
        pairs.sort_unstable();
        pairs
    };
    let (a, b) = (pairs(a), pairs(b));
    let (mut left, mut right, mut common) = (a.iter().peekable(), b.iter().peekable(), 0_usize);
    while let (Some(x), Some(y)) = (left.peek(), right.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal => {
                common += 1;
                left.next();
                right.next();
            }
        }
    }
    (common * 2 * 999).checked_div(a.len() + b.len()).unwrap_or(0)
}

fn cut(line: &str) -> String {
    let mut short: String = line.chars().take(SHOWN).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use caisson_sdk::Reason;

    fn edited(content: &str, old: &str, new: &str, all: bool) -> Result<(String, String), ToolError> {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("f"), content).unwrap();
        let args = Args { path: "f".into(), old_string: old.into(), new_string: new.into(), replace_all: all };
        let said = edit(root.path(), &args);
        let after = fs::read_to_string(root.path().join("f")).unwrap();
        match said {
            Ok(said) => Ok((said, after)),
            Err(error) => {
                assert_eq!(after, content, "a refused edit changes nothing");
                Err(error)
            }
        }
    }

    fn refused(content: &str, old: &str, new: &str) -> String {
        edited(content, old, new, false).unwrap_err().message().to_owned()
    }

    #[test]
    fn nothing_to_do_is_refused() {
        assert!(refused("a", "", "b").contains("`old_string` is empty"));
        assert!(refused("a", "a", "a").contains("the same"));
    }

    #[test]
    fn several_matches_are_named() {
        let said = refused("x\ny\nx\nx x\n", "x", "z");
        assert!(said.contains("4 times") && said.contains("(lines 1, 3, 4, 4)"), "{said}");
    }

    #[test]
    fn no_match_names_the_nearest_line() {
        let content = "fn main() {\n    println!(\"hello\");\n}\n";
        let said = refused(content, "println!(\"helo\");", "");
        assert!(said.contains("the nearest is line 2: `    println!(\"hello\");`"), "{said}");
        let said = refused(content, "\tprintln!(\"hello\");", "");
        assert!(said.contains("line 2 has the same words"), "{said}");
        let said = refused(content, "fn main() {\nprintln!(\"hello\");", "");
        assert!(said.contains("like line 1, but white space or a later line differs"), "{said}");
        let said = refused(content, "%%%%", "");
        assert!(said.contains("no line is like it"), "{said}");
    }

    #[test]
    fn a_missing_file_is_not_found() {
        let root = tempfile::tempdir().unwrap();
        let args = Args { path: "g".into(), old_string: "a".into(), new_string: "b".into(), replace_all: false };
        assert_eq!(edit(root.path(), &args).unwrap_err().reason(), Reason::NotFound);
    }

    #[test]
    fn one_match_is_replaced() {
        let (said, after) = edited("a\nb\nc\n", "b\nc", "d", false).unwrap();
        assert_eq!(after, "a\nd\n");
        assert_eq!(said, "replaced once in `f` (line 2)");
    }

    #[test]
    fn all_are_replaced_on_request() {
        let (said, after) = edited("x\ny x\n", "x", "xx", true).unwrap();
        assert_eq!(after, "xx\ny xx\n");
        assert_eq!(said, "replaced 2 times in `f` (lines 1, 2)");
    }

    #[test]
    fn line_ends_of_the_file_are_kept() {
        let (_, after) = edited("a\r\nb\r\nc\r\n", "a\nb", "1\n2", false).unwrap();
        assert_eq!(after, "1\r\n2\r\nc\r\n");
    }
}
