#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::*;

fn args(mode: Mode) -> Args {
    let reference = "x".into();
    Args {
        reference,
        mode: Some(mode),
        lines: None,
        from: None,
        to: None,
        offset: None,
        query: None,
        context_lines: None,
    }
}

fn run(content: &str, args: &Args) -> Result<String, ToolError> {
    let source = |offset: u64, limit: u32| {
        let rest = content.as_bytes().get(offset as usize..).unwrap_or_default();
        Ok(rest.iter().take(limit as usize).copied().collect())
    };
    let shown = read(args, &source);
    if let Ok(shown) = &shown {
        assert!(shown.len() <= MAX_BYTES, "{}", shown.len());
    }
    shown
}

fn numbered(count: u32) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

/// The number after a word in a note.
fn after(text: &str, word: &str) -> u64 {
    let (_, rest) = text.rsplit_once(word).unwrap();
    rest.trim_end_matches(']').parse().unwrap()
}

#[test]
fn what_does_not_fit_is_told() {
    let content = numbered(3);
    assert!(run(&content, &args(Mode::Search)).unwrap_err().message().contains("needs `query`"));
    assert!(
        run(&content, &Args { from: Some(4), ..args(Mode::Slice) }).unwrap_err().message().contains("it has 3 lines")
    );
    assert!(
        run(&content, &Args { from: Some(3), to: Some(2), ..args(Mode::Slice) })
            .unwrap_err()
            .message()
            .contains("swap them")
    );
    assert!(run(&content, &Args { from: Some(0), ..args(Mode::Slice) }).is_err());
    assert!(
        run(&content, &Args { offset: Some(99), ..args(Mode::Slice) }).unwrap_err().message().contains("past its end")
    );
    let error = read_output(&Args { reference: " ref: ".into(), ..args(Mode::Head) }).unwrap_err();
    assert!(error.message().contains("`ref` is empty"), "{error}");
}

#[test]
fn first_and_last_lines() {
    let content = numbered(5);
    let head = run(&content, &Args { lines: Some(2), ..args(Mode::Head) }).unwrap();
    assert_eq!(head, "line 1\nline 2\n[lines 1–2; read on with mode `slice` and from 3]");
    let tail = run(&content, &Args { lines: Some(2), ..args(Mode::Tail) }).unwrap();
    assert_eq!(tail, "line 4\nline 5\n[lines 4–5, the end; the lines before with mode `slice`, from and to 3]");
    assert_eq!(run("a\nb", &args(Mode::Tail)).unwrap(), "a\nb\n[lines 1–2, the end]");
    assert_eq!(run("a\nb", &args(Mode::All)).unwrap(), "a\nb\n[end, line 2]");
}

#[test]
fn reading_on_by_lines_loses_nothing() {
    let content = numbered(20_000);
    let (mut from, mut offset, mut all) = (1, None, String::new());
    loop {
        let shown = run(&content, &Args { from: Some(from), offset, ..args(Mode::Slice) }).unwrap();
        let (text, note) = shown.rsplit_once('[').unwrap();
        if note.contains("stopped within") || note.starts_with("bytes") {
            all.push_str(text);
            offset = Some(after(&shown, "offset "));
        } else if note.starts_with("end") {
            all.push_str(text);
            break;
        } else {
            all.push_str(text);
            from = after(&shown, "from ");
        }
    }
    // What was stopped within a line got a line end of its own before the note.
    assert!(all.replace('\n', "") == content.replace('\n', ""), "{} {}", all.len(), content.len());
}

#[test]
fn a_single_giant_line_is_read_by_bytes() {
    let content = "é".repeat(150_000);
    let first = run(&content, &args(Mode::Head)).unwrap();
    assert!(first.contains("stopped within line 1"), "{}", &first[first.len() - 200..]);
    let (mut offset, mut count) = (after(&first, "offset "), first.matches('é').count());
    loop {
        let shown = run(&content, &Args { offset: Some(offset), ..args(Mode::Slice) }).unwrap();
        assert!(!shown.contains('\u{fffd}'));
        count += shown.matches('é').count();
        if shown.ends_with("[end]") {
            break;
        }
        offset = after(&shown, "offset ");
    }
    assert_eq!(count, 150_000);
    let tail = run(&content, &args(Mode::Tail)).unwrap();
    assert!(tail.contains("the end of line 1") && !tail.contains('\u{fffd}'));
}

#[test]
fn a_tail_too_long_drops_its_first_lines() {
    let content = format!("{}\n", "x".repeat(999)).repeat(100);
    let tail = run(&content, &args(Mode::Tail)).unwrap();
    assert!(
        tail.ends_with(
            "[lines 21–100, the end; 80896 bytes are shown at once; the lines before with mode `slice`, from and to 20]"
        ),
        "{}",
        &tail[tail.len() - 200..]
    );
}

#[test]
fn hits_have_lines_around_them() {
    let content = "a\nb\nHit one\nc\nd\ne\nf\nhit two\n";
    let search =
        |query: &str, context| Args { query: Some(query.into()), context_lines: Some(context), ..args(Mode::Search) };
    assert_eq!(
        run(content, &search("hit", 1)).unwrap(),
        "2- b\n3: Hit one\n4- c\n--\n7- f\n8: hit two\n[2 lines with a hit in all 8 lines]"
    );
    assert_eq!(run(content, &search("h.t", 1)).unwrap(), "[0 lines with a hit in all 8 lines]");
    let some = Args { from: Some(4), ..search("hit", 0) };
    assert_eq!(run(content, &some).unwrap(), "8: hit two\n[1 lines with a hit in lines 4–8]");
}

#[test]
fn hits_in_giant_lines_are_cut_out() {
    let content = format!("{}needle{}needle{}", "x".repeat(5_000), "y".repeat(9_000), "z".repeat(7_000));
    let shown = run(&content, &Args { query: Some("needle".into()), ..args(Mode::Search) }).unwrap();
    assert_eq!(shown.matches("needle").count(), 2);
    assert!(
        shown.starts_with("1: …(4000 bytes)… x")
            && shown.contains("…(7000 bytes)… y")
            && shown.contains("z …(6000 bytes)…"),
        "{shown}"
    );
    let many = "needle ".repeat(100_000);
    let shown = run(&many, &Args { query: Some("needle".into()), ..args(Mode::Search) }).unwrap();
    assert!(shown.len() < 5_000, "{}", shown.len());
}

#[test]
fn too_many_hits_say_where_to_go_on() {
    let content = format!("hit {}\n", "x".repeat(500)).repeat(1_000);
    let search = Args { query: Some("hit".into()), context_lines: Some(0), ..args(Mode::Search) };
    let shown = run(&content, &search).unwrap();
    let from = after(&shown, "from ");
    assert_eq!(shown.lines().count() as u64, from, "every line before it, and the note");
    assert!(run(&content, &Args { from: Some(from), ..search }).unwrap().starts_with(&format!("{from}: hit")));
}
