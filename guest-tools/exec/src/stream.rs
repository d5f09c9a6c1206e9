//! What is kept of one stream: its first and its last bytes, and how many there were.

use crate::clean::{Clean, clean};
use std::collections::VecDeque;

/// 1 MiB in all: more than this is no text that anybody reads, and the model is shown far less.
const HEAD: usize = 768 * 1024;
const TAIL: usize = 256 * 1024;

/// How far a line's end is looked for where the last part begins.
const NEAR: usize = 4 * 1024;

/// How far back the newest line is looked for.
const NEWEST: usize = 4 * 1024;
const NEWEST_CHARS: usize = 200;

#[derive(Debug, Default)]
pub struct Stream {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
}

/// The text of a stream.
#[derive(Debug)]
pub struct Text {
    /// All of it, or the first part where bytes between were dropped.
    pub head: Clean,
    /// What follows the dropped bytes.
    pub tail: Option<Clean>,
}

impl Stream {
    pub fn push(&mut self, piece: &[u8]) {
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        let room = HEAD.saturating_sub(self.head.len()).min(piece.len());
        let (first, rest) = piece.split_at_checked(room).unwrap_or((piece, &[]));
        self.head.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(TAIL)..).unwrap_or_default();
        let past = (self.tail.len() + rest.len()).saturating_sub(TAIL);
        self.tail.drain(..past.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// How many bytes were written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many of them are gone.
    pub fn dropped(&self) -> u64 {
        self.bytes.saturating_sub((self.head.len() + self.tail.len()) as u64)
    }

    pub fn text(&self) -> Text {
        let (a, b) = self.tail.as_slices();
        if self.dropped() == 0 {
            return Text { head: clean(&[&self.head, a, b].concat()), tail: None };
        }
        // The part begins anywhere, perhaps within a character or a sequence: it is shown from its first line on, if that is near.
        let tail = [a, b].concat();
        let line = tail.iter().take(NEAR).position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let middle = tail.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
        let start = line.max(middle);
        Text { head: clean(&self.head), tail: Some(clean(tail.get(start..).unwrap_or_default())) }
    }

    /// The newest line that is complete and says something, cut to a length for people. What a line is not yet sure to end with, and a
    /// word that does not fit, are left out: of half a secret nobody could tell that it is one.
    pub fn newest_line(&self) -> Option<String> {
        let from_tail = self.tail.len().min(NEWEST);
        let from_head = self.head.len().min(NEWEST - from_tail);
        let mut last = self.head.get(self.head.len() - from_head..).unwrap_or_default().to_vec();
        last.extend(self.tail.iter().skip(self.tail.len() - from_tail));
        let all = last.len() == self.head.len() + self.tail.len();
        let end = last.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'))?;
        last.truncate(end);
        if !all {
            let start = last.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b' '))?;
            last.drain(..start);
        }
        let text = clean(&last).text;
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        let Some((cut, _)) = line.char_indices().nth(NEWEST_CHARS) else { return Some(line.to_owned()) };
        let start = line.get(..cut)?;
        Some(start.rsplit_once(char::is_whitespace)?.0.trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn of(pieces: &[&[u8]]) -> Stream {
        let mut stream = Stream::default();
        pieces.iter().for_each(|piece| stream.push(piece));
        stream
    }

    #[test]
    fn all_is_kept_up_to_the_most() {
        let stream = of(&[&vec![b'a'; HEAD], &vec![b'b'; TAIL]]);
        assert_eq!((stream.bytes(), stream.dropped()), ((HEAD + TAIL) as u64, 0));
        assert_eq!(stream.text().head.text.len(), HEAD + TAIL);
        assert!(stream.text().tail.is_none());
    }

    #[test]
    fn one_byte_more_is_dropped_between() {
        for piece in [1, 7, 64 * 1024, 4 << 20] {
            let all: Vec<u8> = (0..HEAD + TAIL + 1).map(|at| if at == HEAD { b'!' } else { b'.' }).collect();
            let stream = of(&all.chunks(piece).collect::<Vec<_>>());
            assert_eq!((stream.bytes(), stream.dropped()), (all.len() as u64, 1), "{piece}");
            let text = stream.text();
            let tail = text.tail.unwrap().text;
            assert_eq!((text.head.text.len(), tail.len()), (HEAD, TAIL));
            assert!(!text.head.text.contains('!') && !tail.contains('!'));
        }
    }

    #[test]
    fn the_last_part_begins_with_a_whole_line_or_at_least_a_whole_character() {
        let stream = of(&[&vec![b'a'; HEAD], "ü".repeat(TAIL).as_bytes(), b"x"]);
        let tail = stream.text().tail.unwrap();
        assert_eq!(tail.odd, 0);
        assert!(tail.text.starts_with('ü') && tail.text.ends_with("üx"));
        let stream = of(&[&vec![b'a'; HEAD + TAIL], b"\x1b[3", b"1m half\nwhole\n", &vec![b'b'; TAIL - 20]]);
        assert!(stream.text().tail.unwrap().text.starts_with("whole\nb"));
    }

    #[test]
    fn a_character_split_over_pieces_is_whole() {
        assert_eq!(of(&[b"\xe2", b"\x82", b"\xac"]).text().head.text, "€");
    }

    #[test]
    fn the_newest_line_is_complete_and_says_something() {
        for (written, newest) in [
            ("", None),
            (" \n\n", None),
            ("not yet", None),
            ("one\ntoken=half", Some("one")),
            ("one\n 10%\r\x1b[32m 20%\x1b[0m \n\n", Some("20%")),
            ("10%\r20%\r30", Some("20%")),
            ("one\r\ntwo\r\n", Some("two")),
        ] {
            assert_eq!(of(&[written.as_bytes()]).newest_line().as_deref(), newest, "{written:?}");
        }
        assert_eq!(of(&[&vec![b'a'; HEAD], b"\nnewest\n"]).newest_line().unwrap(), "newest");
    }

    #[test]
    fn the_newest_line_is_short_and_splits_no_word() {
        let line = |word: &str, n: usize| of(&[format!("{word} ").repeat(n).as_bytes(), b"\n"]).newest_line();
        for n in [50, 5_000] {
            let newest = line("grüße", n).unwrap();
            assert!(
                newest.chars().count() <= NEWEST_CHARS && newest.split(' ').all(|word| word == "grüße"),
                "{newest}"
            );
            assert!(newest.chars().count() > NEWEST_CHARS - 10);
        }
        assert_eq!(line(&"x".repeat(NEWEST_CHARS + 1), 1), None);
        assert_eq!(line(&"x".repeat(NEWEST_CHARS), 1).unwrap().len(), NEWEST_CHARS);
    }
}
