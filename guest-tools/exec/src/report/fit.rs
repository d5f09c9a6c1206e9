//! Shortens a text: its first part, and where the end matters its last part too, with what was left out said between.

/// Characters of the last part at most.
const TAIL: usize = 4_000;
/// The longest note about what was left out.
const NOTE: usize = 300;
/// A cut moves at most so many characters to be between lines or words.
const NEAR: usize = 400;

/// Parts of words that tell of a failure, wherever they stand: `ValueError`, `failures`, `ERR!`.
const FAILURES: [&str; 12] = [
    "error",
    "exception",
    "fail",
    "fatal",
    "panic",
    "traceback",
    "abort",
    "killed",
    "denied",
    "warning",
    "undefined",
    "cannot",
];
/// Words that a summary has.
const SUMMARIES: [&str; 12] = [
    "summary",
    "total",
    "passed",
    "result",
    "results",
    "finished",
    "complete",
    "completed",
    "done",
    "success",
    "err",
    "exit",
];

/// The text of a stream.
pub struct Piece {
    pub head: String,
    /// What follows the dropped bytes.
    pub tail: Option<String>,
    pub dropped_bytes: u64,
}

impl Piece {
    /// Whether there is nothing to be seen.
    pub fn is_empty(&self) -> bool {
        self.head.trim().is_empty() && self.tail.as_ref().is_none_or(|tail| tail.trim().is_empty())
    }

    /// Characters, that of the note included where bytes were dropped.
    pub fn chars(&self) -> usize {
        let tail = self.tail.as_ref().map_or(0, |tail| tail.chars().count() + NOTE);
        self.head.trim_end().chars().count() + tail
    }
}

/// The text in at most `room` characters; `None` where there is none. `failed`: what matters is at the end, whatever it says.
pub fn fit(piece: &Piece, room: usize, failed: bool) -> Option<String> {
    if piece.is_empty() {
        return None;
    }
    let last = piece.tail.as_ref().unwrap_or(&piece.head).trim_end();
    if piece.chars() <= room {
        let head = piece.head.trim_end();
        return Some(match &piece.tail {
            None => head.to_owned(),
            Some(_) => [head, &note(0, piece.dropped_bytes), last].join("\n"),
        });
    }
    // What the text may have beside the note.
    let beside = room.saturating_sub(NOTE);
    let first_part = (room * 7 / 10).min(beside - TAIL.min(beside * 3 / 10));
    let with_end = failed || tells(from_last_exact(last, TAIL));
    let end = from_last(last, TAIL.min(beside - first_part));
    let head = first(&piece.head, if with_end { first_part } else { beside });
    let end = if with_end { end } else { "" };
    let all = piece.head.chars().count() + piece.tail.as_ref().map_or(0, |tail| tail.chars().count());
    let shown = head.chars().count() + end.chars().count();
    let note = note(all.saturating_sub(shown), piece.dropped_bytes);
    let parts = [head.trim_end_matches('\n'), &note, end];
    Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n"))
}

/// Whether the end of a text is worth showing.
fn tells(end: &str) -> bool {
    let end = end.to_lowercase();
    FAILURES.iter().any(|part| end.contains(part))
        || end.split(|c: char| !c.is_alphanumeric()).any(|word| SUMMARIES.contains(&word))
}

/// The first `chars` characters, or a few less to end with a line, or at least with a word: of half a secret nobody could tell any
/// more that it is one.
fn first(text: &str, chars: usize) -> &str {
    let Some((cut, _)) = text.char_indices().nth(chars) else { return text };
    let start = text.get(..cut).unwrap_or_default();
    let near = from_last_exact(start, NEAR);
    let Some(end) = near.rfind('\n').or_else(|| near.rfind(char::is_whitespace)) else { return start };
    start.get(..start.len() - near.len() + end).unwrap_or_default()
}

/// The last `chars` characters, or a few less to begin with a line, or at least with a word.
fn from_last(text: &str, chars: usize) -> &str {
    let end = from_last_exact(text, chars);
    if end.len() == text.len() {
        return text;
    }
    let near = end.char_indices().nth(NEAR).and_then(|(cut, _)| end.get(..cut)).unwrap_or(end);
    let border = near.split_once('\n').or_else(|| near.split_once(char::is_whitespace));
    let start = border.map_or(0, |(_, rest)| near.len() - rest.len());
    end.get(start..).unwrap_or_default()
}

fn from_last_exact(text: &str, chars: usize) -> &str {
    let Some(before) = chars.checked_sub(1) else { return "" };
    text.char_indices().rev().nth(before).and_then(|(cut, _)| text.get(cut..)).unwrap_or(text)
}

fn note(chars: usize, dropped_bytes: u64) -> String {
    let what = match (chars, dropped_bytes) {
        (chars, 0) => format!("{} characters", grouped(chars as u64)),
        (0, bytes) => format!("{} bytes, past the 1 MiB that is kept of a stream,", grouped(bytes)),
        (chars, bytes) => format!(
            "{} characters and {} bytes, past the 1 MiB that is kept of a stream,",
            grouped(chars as u64),
            grouped(bytes)
        ),
    };
    format!("[… {what} left out here: write the output to a file and read a part of it, or ask for less …]")
}

/// A number with its thousands apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn whole(text: impl Into<String>) -> Piece {
        Piece { head: text.into(), tail: None, dropped_bytes: 0 }
    }

    fn chars(text: &str) -> usize {
        text.chars().count()
    }

    #[test]
    fn what_fits_stays_and_nothing_is_nothing() {
        assert_eq!(fit(&whole("  a\n b \n\n"), 10, false).unwrap(), "  a\n b");
        assert_eq!(fit(&whole("äöü"), 3, false).unwrap(), "äöü");
        for empty in ["", "\n", " \n \t"] {
            assert_eq!(fit(&whole(empty), 10, true), None, "{empty:?}");
        }
    }

    #[test]
    fn without_a_telling_end_only_the_head_is_shown() {
        let text = format!("{}END", "ü".repeat(5_000));
        let made = fit(&whole(text.clone()), 1_000, false).unwrap();
        assert!(made.starts_with(&"ü".repeat(1_000 - NOTE)) && made.contains("4,303 characters left out"), "{made}");
        assert!(!made.contains("END") && chars(&made) <= 1_000, "{made}");
        // The twin: the same text of a program that failed.
        let made = fit(&whole(text), 1_000, true).unwrap();
        assert!(made.ends_with("ü\u{fc}END") && chars(&made) <= 1_000, "{made}");
    }

    #[test]
    fn an_end_that_tells_is_shown_with_seventy_percent_of_head() {
        for end in [
            "ValueError: no",
            "3 FAILED",
            "fatal: x",
            "npm ERR! x",
            "Traceback",
            "== summary ==",
            "total 5",
            "12 passed",
            "Done.",
        ] {
            let made = fit(&whole(format!("{}\n{end}", "x".repeat(100_000))), 30_000, false).unwrap();
            let (head, rest) = made.split_once("\n[…").unwrap();
            assert_eq!(head.len(), 21_000, "{end}");
            let tail = rest.split_once("…]\n").unwrap().1;
            assert!(tail.ends_with(end) && chars(tail) <= TAIL, "{end}");
        }
        for end in ["totally", "the abandoned", "compress", "undo", "12 of 13"] {
            let made = fit(&whole(format!("{}\n{end}", "x".repeat(100_000))), 30_000, false).unwrap();
            assert!(!made.contains(end), "{end}");
        }
    }

    #[test]
    fn a_word_far_from_the_end_does_not_count() {
        let text = format!("{}error{}", "x".repeat(90_000), "y".repeat(TAIL));
        assert!(!fit(&whole(text), 20_000, false).unwrap().contains('y'));
        let text = format!("{}error{}", "x".repeat(90_000), "y".repeat(TAIL - 5));
        assert!(fit(&whole(text), 20_000, false).unwrap().ends_with("yyy"));
    }

    #[test]
    fn cuts_are_at_line_ends_where_those_are_near() {
        let lines: String = (0..5_000).map(|at| format!("line {at} ünïcödé\n")).collect();
        let made = fit(&whole(format!("{lines}error")), 10_000, false).unwrap();
        for line in made.lines().filter(|line| !line.starts_with('[') && *line != "error") {
            assert!(line.starts_with("line ") && line.ends_with(" ünïcödé"), "{line}");
        }
        let shown = chars(&made) - chars(made.lines().find(|line| line.starts_with('[')).unwrap());
        let left: usize =
            made.split_once("[… ").unwrap().1.split_once(' ').unwrap().0.replace(',', "").parse().unwrap();
        let all = chars(&lines) + 5;
        assert!(left + shown >= all && left + shown <= all + 4, "{left} and {shown} of {all}");
    }

    #[test]
    fn a_cut_splits_no_word_where_there_is_a_space_near() {
        let words = "correct-horse-battery-staple ".repeat(2_000);
        for room in 1_000..1_060 {
            let made = fit(&whole(words.clone()), room, true).unwrap();
            for word in made.lines().filter(|line| !line.starts_with('[')).flat_map(str::split_whitespace) {
                assert_eq!(word, "correct-horse-battery-staple", "{room}");
            }
        }
        let made = fit(&whole(format!("a {}", "x".repeat(5_000))), 1_000, false).unwrap();
        assert!(made.matches('x').count() > 600, "a space that is far does not take the text with it");
    }

    #[test]
    fn every_room_holds_and_no_character_is_cut() {
        let text = "aü日👩‍👩‍👧\n".repeat(3_000);
        for room in (NOTE..3_000).step_by(7) {
            for failed in [false, true] {
                assert!(chars(&fit(&whole(text.clone()), room, failed).unwrap()) <= room, "{room}");
            }
        }
        assert!(fit(&whole(text), 0, true).unwrap().contains("left out"));
    }

    #[test]
    fn dropped_bytes_are_said_even_where_all_that_was_kept_fits() {
        let piece = |n: usize| Piece { head: "a".repeat(n), tail: Some("b".repeat(n)), dropped_bytes: 1_234_567 };
        let made = fit(&piece(10), 1_000, false).unwrap();
        assert!(
            made.starts_with("aaaaaaaaaa\n[… 1,234,567 bytes, past the 1 MiB") && made.ends_with("…]\nbbbbbbbbbb"),
            "{made}"
        );
        let made = fit(&piece(5_000), 1_000, true).unwrap();
        assert!(made.contains("9,300 characters and 1,234,567 bytes") && made.ends_with('b'), "{made}");
        assert!(chars(&made) <= 1_000);
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, shown) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345, "12,345"), (u64::MAX, "18,446,744,073,709,551,615")]
        {
            assert_eq!(grouped(number), shown);
        }
    }
}
