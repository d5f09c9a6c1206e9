#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn ran(stdout: impl AsRef<[u8]>, stderr: impl AsRef<[u8]>, stop: Stop) -> Followed {
    let mut followed = Followed { stdout: Stream::default(), stderr: Stream::default(), stop };
    followed.stdout.push(stdout.as_ref());
    followed.stderr.push(stderr.as_ref());
    followed
}

fn exited(status: i32) -> Stop {
    Stop::Ended(Ending::Exited(status))
}

fn shown(stdout: impl AsRef<[u8]>, stderr: impl AsRef<[u8]>, stop: Stop) -> String {
    told(&ran(stdout, stderr, stop), MINUTE)
}

#[test]
fn output_then_errors_then_the_ending() {
    assert_eq!(shown("a\nb\n", "", exited(0)), "a\nb");
    assert_eq!(shown("a\n", "x\n", exited(0)), "a\n[stderr]\nx");
    assert_eq!(shown("", "x\n", exited(3)), "[stderr]\nx\n[exit status 3]");
    assert_eq!(shown("a", "", exited(-1)), "a\n[exit status -1]");
    assert_eq!(shown("", "", exited(0)), "[no output]");
    assert_eq!(shown("\n \n", "\r\n", exited(1)), "[no output]\n[exit status 1]");
}

#[test]
fn every_ending_says_what_to_do() {
    let ended = |ending| shown("a", "", Stop::Ended(ending));
    assert_eq!(ended(Ending::Signalled(9)), "a\n[ended by signal 9]");
    assert_eq!(ended(Ending::TimedOut), "a\n[stopped after 60 s: the time limit; raise `timeout_seconds` or run less]");
    assert!(ended(Ending::OutOfMemory).starts_with("a\n[ended: out of memory; "));
    let call = shown("a", "", Stop::CallTime(Duration::from_millis(297_400)));
    assert!(call.starts_with("a\n[stopped after 297 s: the call's own time is up; "), "{call}");
}

#[test]
fn the_model_never_gets_more_than_its_share() {
    let long = |word: &str, n: usize| format!("{word} ü\n").repeat(n);
    let all = |text: &str| text.chars().count();
    for (out, err) in [(0, 0), (1, 50_000), (50_000, 1), (50_000, 50_000), (3_000, 3_000), (200_000, 0), (0, 200_000)] {
        for stop in [exited(0), exited(1), Stop::Ended(Ending::OutOfMemory)] {
            let made = shown(long("out", out), long("err", err), stop);
            assert!(all(&made) <= CHARS, "{out} {err}: {}", all(&made));
            assert_eq!(made.contains("out ü"), out > 0, "{out} {err}");
            assert_eq!(made.contains("[stderr]\nerr ü"), err > 0, "{out} {err}");
        }
    }
}

#[test]
fn what_one_stream_does_not_need_the_other_gets() {
    let long = "x".repeat(100_000);
    let made = shown("", &long, exited(0));
    assert!(made.matches('x').count() > 29_000, "{}", made.matches('x').count());
    let made = shown("short", &long, exited(0));
    assert!(made.contains("short") && made.matches('x').count() > 28_900);
    let made = shown(&long, "y".repeat(100_000), exited(0));
    assert!(made.matches('y').count() > 8_000 && made.matches('x').count() > 20_000);
}

#[test]
fn what_fits_to_the_last_character_is_whole() {
    let most = "ü".repeat(CHARS);
    assert_eq!(shown(&most, "", exited(0)), most);
    assert!(shown(format!("{most}x"), "", exited(0)).contains("left out"));
    for (err, frame) in [("", "\n[exit status 1]"), ("e", "\n[stderr]\ne\n[exit status 1]")] {
        let most = "x".repeat(CHARS - frame.len());
        assert_eq!(shown(&most, err, exited(1)), format!("{most}{frame}"));
        let made = shown(format!("{most}x"), err, exited(1));
        assert!(made.contains("left out") && made.chars().count() <= CHARS);
    }
}

#[test]
fn progress_bars_are_collapsed_and_that_is_said() {
    let made = shown("", "\x1b[32m10%\r20%\r100%\x1b[0m\n", exited(0));
    assert_eq!(made, "[stderr]\n100%\n[of lines that were written over, only the last state is shown]");
}

#[test]
fn binary_output_is_named_and_not_shown() {
    let binary: Vec<u8> = (0..=255).cycle().take(5_000).collect();
    let made = shown(&binary, "", exited(0));
    assert!(made.starts_with("[binary output of 5,000 bytes") && made.len() < 200, "{made}");
    // A few odd bytes are not enough, and neither are many in a long text.
    assert_eq!(shown(b"caf\xe9", "", exited(0)), "caf\u{fffd}");
    let names = b"some/longer/name.txt\0".repeat(100);
    assert!(shown(&names, "", exited(0)).starts_with("some/longer/name.txt\u{2400}some"));
}

#[test]
fn dropped_bytes_are_told_as_text_and_as_data() {
    let followed = ran(vec![b'x'; 3 << 20], "", exited(0));
    assert!(told(&followed, MINUTE).contains(" and 2,097,152 bytes, past the 1 MiB"));
    let output = report(&followed, MINUTE);
    let data: serde_json::Value = serde_json::from_str(output.structured().unwrap()).unwrap();
    assert_eq!(
        data,
        serde_json::json!({
            "exitStatus": 0, "timedOut": false, "outOfMemory": false,
            "stdoutBytes": 3 << 20, "stderrBytes": 0, "stdoutDroppedBytes": 2 << 20, "stderrDroppedBytes": 0,
        })
    );
}

#[test]
fn the_data_says_how_it_ended() {
    let data = |stop| summary(&ran("", "", stop));
    assert_eq!(data(exited(3)).exit_status, Some(3));
    let killed = data(Stop::Ended(Ending::Signalled(9)));
    assert_eq!((killed.exit_status, killed.signal, killed.timed_out), (None, Some(9), false));
    assert!(data(Stop::Ended(Ending::TimedOut)).timed_out && data(Stop::CallTime(MINUTE)).timed_out);
    assert!(data(Stop::Ended(Ending::OutOfMemory)).out_of_memory && !data(exited(1)).out_of_memory);
}
