use std::collections::VecDeque;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use crate::running::{Ending, Running};

/// The most bytes of a stream that are kept at each end: together 1 MiB, which is more than any model is shown.
const HALF: usize = 512 << 10;

/// What a program that has ended said.
#[derive(Debug)]
pub struct Captured {
    /// How it ended.
    pub ending: Ending,
    /// What it wrote to standard output.
    pub stdout: Output,
    /// What it wrote to standard error.
    pub stderr: Output,
}

/// Both ends of a stream.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Output {
    /// The beginning, at most 512 KiB. All of it where nothing was dropped and the tail is empty.
    pub head: Vec<u8>,
    /// The end, at most 512 KiB, which follows the head directly where nothing was dropped.
    pub tail: Vec<u8>,
    /// How many bytes between the two were not kept.
    pub dropped: u64,
}

impl Output {
    /// All that was kept, without a mark where something was dropped.
    #[must_use]
    pub fn joined(mut self) -> Vec<u8> {
        self.head.append(&mut self.tail);
        self.head
    }
}

/// What a stream goes through before anybody has it, such as what takes secrets out of it.
pub trait Through: Send {
    /// What may be handed on after these bytes; the rest is held back until more is known.
    fn push(&mut self, bytes: &[u8]) -> Vec<u8>;
    /// The rest, at the stream's end.
    fn finish(&mut self) -> Vec<u8>;
}

impl Running {
    /// Feeds `input`, reads both streams to their ends, and waits at most `timeout`; see [`Running::finish`]. What is written past
    /// the kept size is read and dropped, so that the program never waits for a reader.
    pub async fn capture(self, input: Vec<u8>, timeout: Duration) -> Captured {
        self.capture_through(input, timeout, None).await
    }

    /// The same, with standard output and error each going through something first.
    pub async fn capture_through(
        mut self,
        input: Vec<u8>,
        timeout: Duration,
        through: Option<[Box<dyn Through>; 2]>,
    ) -> Captured {
        let (through_out, through_err) = through.map_or((None, None), |[out, err]| (Some(out), Some(err)));
        let (stdin, stdout, stderr) = (self.take_stdin(), self.take_stdout(), self.take_stderr());
        let feed = async {
            if let Some(mut stdin) = stdin {
                // A program need not read all that it is given.
                let _closed = stdin.write_all(&input).await;
            }
        };
        let (ending, stdout, stderr, ()) =
            tokio::join!(self.finish(timeout), keep(stdout, through_out), keep(stderr, through_err), feed);
        Captured { ending, stdout, stderr }
    }
}

async fn keep(stream: Option<impl AsyncRead + Unpin>, mut through: Option<Box<dyn Through>>) -> Output {
    let (mut kept, mut buffer) = (Kept::default(), vec![0; 64 << 10]);
    if let Some(mut stream) = stream {
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            let bytes = buffer.get(..read).unwrap_or_default();
            match &mut through {
                Some(through) => kept.add(&through.push(bytes)),
                None => kept.add(bytes),
            }
        }
    }
    if let Some(through) = &mut through {
        kept.add(&through.finish());
    }
    Output { head: kept.head, tail: kept.tail.into(), dropped: kept.dropped }
}

#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(HALF - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(HALF);
        self.tail.drain(..over);
        self.dropped += u64::try_from(over).unwrap_or(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_and_both_ends_stay() {
        let mut kept = Kept::default();
        kept.add(b"first");
        for _ in 0..3 {
            kept.add(&vec![b'.'; HALF]);
        }
        kept.add(b"last");
        assert!(kept.head.starts_with(b"first."));
        assert!(kept.tail.iter().rev().take(4).eq(b"tsal"));
        assert_eq!((kept.head.len(), kept.tail.len()), (HALF, HALF));
        assert_eq!(kept.dropped, u64::try_from(5 + 3 * HALF + 4 - 2 * HALF).unwrap_or(0));
    }

    #[test]
    fn what_fits_is_whole() {
        let mut kept = Kept::default();
        kept.add(&vec![b'a'; HALF]);
        kept.add(b"bc");
        let output = Output { head: kept.head, tail: kept.tail.into(), dropped: kept.dropped };
        assert_eq!(output.dropped, 0);
        assert!(output.joined().ends_with(b"abc"));
    }
}
