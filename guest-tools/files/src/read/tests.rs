#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use caisson_sdk::Reason;

fn with(content: &[u8], offset: Option<u64>, limit: Option<u64>) -> Result<String, ToolError> {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("f"), content).unwrap();
    read(root.path(), &Args { path: "f".into(), offset, limit })
}

#[test]
fn what_cannot_be_read_says_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("d")).unwrap();
    let read =
        |path: &str| super::read(root.path(), &Args { path: path.into(), offset: None, limit: None }).unwrap_err();
    assert_eq!(read("missing").reason(), Reason::NotFound);
    assert!(read("missing").message().contains("`list_files`"));
    assert!(read("d").message().contains("is a folder"), "{}", read("d"));
}

#[test]
fn binary_is_refused_with_size_and_type() {
    let error = with(b"\x89PNG\r\n\x1a\n123", None, None).unwrap_err();
    assert!(error.message().contains("a PNG image of 11 bytes"), "{error}");
    let error = with(b"a\0b", None, None).unwrap_err();
    assert!(error.message().contains("binary data of 3 bytes"), "{error}");
    assert!(with("h\u{e9}llo".as_bytes(), None, None).is_ok());
}

#[test]
fn offsets_outside_are_refused() {
    assert!(with(b"a\n", Some(0), None).is_err());
    assert!(with(b"a\n", None, Some(0)).is_err());
    let error = with(b"a\nb\n", Some(3), None).unwrap_err();
    assert!(error.message().contains("has 2 lines"), "{error}");
}

#[test]
fn a_whole_file_has_no_note() {
    assert_eq!(with(b"a\r\nb", None, None).unwrap(), "a\r\nb");
    assert_eq!(with(b"", None, None).unwrap(), "[`f` is empty]");
}

#[test]
fn a_range_says_where_it_is_and_how_to_read_on() {
    let lines = b"1\n2\n3\n4\n5";
    assert_eq!(with(lines, Some(2), Some(2)).unwrap(), "2\n3\n[lines 2–3 of 5; read on with offset 4]");
    assert_eq!(with(lines, Some(4), Some(9)).unwrap(), "4\n5\n[lines 4–5 of 5]");
    assert_eq!(with(lines, Some(1), Some(5)).unwrap(), "1\n2\n3\n4\n5");
    assert_eq!(with(lines, Some(4), Some(1)).unwrap(), "4\n[lines 4–4 of 5; read on with offset 5]");
}

#[test]
fn reading_on_loses_and_repeats_nothing() {
    let content: String = (1..=9_000).map(|n| format!("line {n} é\n")).collect();
    let (mut offset, mut all) = (1, String::new());
    loop {
        let part = with(content.as_bytes(), Some(offset), None).unwrap();
        assert!(part.chars().count() <= MAX_CHARS);
        let (text, note) = part.rsplit_once("\n[").unwrap();
        all.push_str(text);
        all.push('\n');
        let Some((_, next)) = note.split_once("offset ") else { break };
        offset = next.trim_end_matches(']').parse().unwrap();
    }
    assert!(all == content, "{} {}", all.len(), content.len());
}

#[test]
fn a_giant_line_is_cut_and_told() {
    let mut content = "x".repeat(3_000_000);
    content.push_str("\nend\n");
    let part = with(content.as_bytes(), None, None).unwrap();
    assert!(part.chars().count() <= MAX_CHARS);
    assert!(part.ends_with("only its first 49500 are shown]"), "{}", &part[part.len() - 200..]);
    assert!(part.contains("read on with offset 2"));
    assert_eq!(with(content.as_bytes(), Some(2), None).unwrap(), "end\n[lines 2–2 of 2]");
}

#[test]
fn what_is_not_utf8_is_told() {
    let part = with(b"caf\xe9\n", None, None).unwrap();
    assert!(part.starts_with("caf\u{fffd}\n[not all of it is UTF-8"), "{part}");
}
