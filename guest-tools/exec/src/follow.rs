//! Follows a program to its end: keeps what it writes, tells its newest line now and then, and stops before the call's own time is up,
//! so that what was written until then is not lost with it.

use crate::refused;
use crate::stream::Stream;
use caisson_sdk::ToolError;
use caisson_sdk::exec::{Ending, Event, Failure};
use std::time::Duration;

/// What is left of the call's time when the program is given up: enough to shorten its output and answer.
const RESERVE_MS: u32 = 3_000;

/// No more than one line a second is told, and the longer it takes the fewer: the host counts them, and an hour of them is 250.
const PACE: Duration = Duration::from_secs(1);
const PACE_SLOWS: u32 = 50;

/// What the host said of the program at one time.
pub struct Tick {
    pub event: Result<Event, Failure>,
    /// Since its start.
    pub at: Duration,
    /// Of the whole call.
    pub remaining_ms: u32,
}

/// Why nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Ended(Ending),
    /// The call's own time is nearly up.
    CallTime(Duration),
}

#[derive(Debug)]
pub struct Followed {
    pub stdout: Stream,
    pub stderr: Stream,
    pub stop: Stop,
}

/// Follows `ticks`; `tell` gets the newest line.
pub fn follow(ticks: impl Iterator<Item = Tick>, mut tell: impl FnMut(Duration, &str)) -> Result<Followed, ToolError> {
    let (mut stdout, mut stderr) = (Stream::default(), Stream::default());
    let mut pace = Pace::default();
    let mut reserve = None;
    let mut newest_is_stderr = false;
    for Tick { event, at, remaining_ms } in ticks {
        let newest = if newest_is_stderr { &stderr } else { &stdout };
        match event {
            Err(failure) => return Err(refused::lost(failure, newest.newest_line().as_deref())),
            Ok(Event::Ended(ending)) => return Ok(Followed { stdout, stderr, stop: Stop::Ended(ending) }),
            Ok(Event::Stdout(piece)) => {
                stdout.push(&piece);
                newest_is_stderr = false;
            }
            Ok(Event::Stderr(piece)) => {
                stderr.push(&piece);
                newest_is_stderr = true;
            }
            Ok(Event::Pending) => {}
        }
        // A call that may only take a few seconds in all must not give up at once.
        let reserve = *reserve.get_or_insert(RESERVE_MS.min(remaining_ms / 10));
        if remaining_ms <= reserve {
            return Ok(Followed { stdout, stderr, stop: Stop::CallTime(at) });
        }
        if pace.is_due(at) {
            pace.tell(at, if newest_is_stderr { &stderr } else { &stdout }, &mut tell);
        }
    }
    Err(ToolError::failed(
        "the host stopped to say how the program goes on; look at what it did before you run it again",
    ))
}

/// When the next line may be told.
#[derive(Default)]
struct Pace {
    told: Option<Duration>,
    line: String,
}

impl Pace {
    fn is_due(&self, at: Duration) -> bool {
        let since = at.saturating_sub(self.told.unwrap_or_default());
        since >= PACE.max(at / PACE_SLOWS)
    }

    fn tell(&mut self, at: Duration, stream: &Stream, tell: &mut impl FnMut(Duration, &str)) {
        // Also where there is nothing new, so that the search for it stays as rare.
        self.told = Some(at);
        let Some(line) = stream.newest_line().filter(|line| *line != self.line) else { return };
        tell(at, &line);
        self.line = line;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use caisson_sdk::exec::Code;

    fn tick(millis: u64, event: Event) -> Tick {
        Tick { event: Ok(event), at: Duration::from_millis(millis), remaining_ms: 300_000 }
    }

    fn out(text: &str) -> Event {
        Event::Stdout(text.into())
    }

    fn followed(ticks: Vec<Tick>) -> (Result<Followed, ToolError>, Vec<(u64, String)>) {
        let mut told = Vec::new();
        let followed =
            follow(ticks.into_iter(), |at, line| told.push((u64::try_from(at.as_millis()).unwrap(), line.into())));
        (followed, told)
    }

    #[test]
    fn both_streams_are_kept_apart_up_to_the_end() {
        let end = Ending::Exited(3);
        let (followed, told) = followed(vec![
            tick(1, out("a")),
            tick(2, Event::Stderr("x".into())),
            tick(3, Event::Pending),
            tick(4, out("b")),
            tick(5, Event::Ended(end)),
            tick(6, out("never")),
        ]);
        let followed = followed.unwrap();
        assert_eq!(followed.stop, Stop::Ended(end));
        assert_eq!((followed.stdout.text().head.text, followed.stderr.text().head.text), ("ab".into(), "x".into()));
        assert_eq!(told, [], "what ends within a second tells nothing");
    }

    #[test]
    fn the_newest_line_is_told_once_a_second_if_it_is_new() {
        let (_, told) = followed(vec![
            tick(500, out("one\n")),
            tick(1_000, Event::Pending),
            tick(1_500, out("two\n")),
            tick(2_000, Event::Stderr("three\n".into())),
            tick(3_000, Event::Pending),
            tick(4_000, out("four\n")),
            tick(4_001, Event::Ended(Ending::Exited(0))),
        ]);
        assert_eq!(told, [(1_000, "one".into()), (2_000, "three".into()), (4_000, "four".into())]);
    }

    #[test]
    fn an_hour_of_lines_tells_a_few_hundred() {
        let ticks = (0..36_000).map(|at| tick(at * 100, out(&format!("line {at}\n")))).collect();
        let (_, told) = followed(ticks);
        assert!((100..300).contains(&told.len()), "{}", told.len());
    }

    #[test]
    fn the_calls_own_end_is_not_waited_for() {
        let near = |millis, remaining_ms| Tick { remaining_ms, ..tick(millis, out("x")) };
        let (stopped, _) =
            followed(vec![near(1, 300_000), near(297_000, 3_001), near(297_001, 3_000), near(297_002, 2_999)]);
        let stopped = stopped.unwrap();
        assert_eq!(stopped.stop, Stop::CallTime(Duration::from_millis(297_001)));
        assert_eq!(stopped.stdout.bytes(), 3);
        let (short, _) = followed(vec![near(1, 2_000), near(1_700, 300), near(1_701, 250), near(1_801, 200)]);
        assert_eq!(short.unwrap().stop, Stop::CallTime(Duration::from_millis(1_801)));
    }

    #[test]
    fn a_host_that_lost_the_program_is_an_error_with_its_last_line() {
        let failure =
            Failure { code: Code::Failed, message: "the child is gone".into(), retry_after_ms: None, details: None };
        let lost = Tick { event: Err(failure), ..tick(2, Event::Pending) };
        let (error, _) = followed(vec![tick(1, out("one\ntwo\n")), lost]);
        let error = error.unwrap_err();
        assert!(error.message().contains("the child is gone") && error.message().contains("`two`"), "{error}");
        assert!(followed(Vec::new()).0.is_err());
    }
}
