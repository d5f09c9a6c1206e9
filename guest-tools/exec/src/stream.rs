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

    /// The newest line that says something, cut to a length for people.
    pub fn newest_line(&self) -> Option<String> {
        let last: Vec<u8> = if self.tail.is_empty() {
            self.head.get(self.head.len().saturating_sub(NEWEST)..).unwrap_or_default().to_vec()
        } else {
            self.tail.iter().skip(self.tail.len().saturating_sub(NEWEST)).copied().collect()
        };
        let text = clean(&last).text;
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().take(NEWEST_CHARS).collect())
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
    fn the_newest_line_is_short_and_says_something() {
        assert_eq!(of(&[]).newest_line(), None);
        assert_eq!(of(&[b" \n\n"]).newest_line(), None);
        assert_eq!(of(&[b"one\n 10%\r\x1b[32m 20%\x1b[0m \n\n"]).newest_line().unwrap(), "20%");
        assert_eq!(of(&["ü".repeat(5_000).as_bytes()]).newest_line().unwrap().chars().count(), NEWEST_CHARS);
        assert_eq!(of(&[&vec![b'a'; HEAD], b"\nnewest"]).newest_line().unwrap(), "newest");
    }
}
