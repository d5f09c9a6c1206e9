//! `curl -u user:password` and options alike.

use crate::span::{Found, before, run, run_back};
use crate::tail::Alphabet;
use crate::value::is_reference;

/// How far back in the line the program is looked for.
const MOST_LINE: usize = 400;

/// Programs whose `-u` takes a user and a password.
const PROGRAMS: [&[u8]; 6] = [b"curl", b"wget", b"http ", b"https ", b"sshpass -p", b"grpcurl"];

/// The password after an option that ends with the anchor; of `user:password`, what stands after the colon.
pub(crate) fn user_and_password(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    let line_start = run_back(bytes, start, MOST_LINE, |b| b != b'\n');
    let line = bytes.get(line_start..end)?;
    if !PROGRAMS.iter().any(|program| memchr::memmem::find(line, program).is_some()) {
        return None;
    }
    let from = run(bytes, end, 4, |b| b == b' ' || b == b'=');
    // `--user-agent` goes on with a dash, `-update` is another option.
    let glued = from == end;
    let quote = bytes.get(from).copied().filter(|b| *b == b'"' || *b == b'\'');
    let from = from + usize::from(quote.is_some());
    let stops = |b: u8| quote.map_or(b.is_ascii_whitespace() || b"\"'`\\;|&)".contains(&b), |q| b == q || b == b'\n');
    let to = run(bytes, from, usize::MAX, |b| !stops(b));
    let value = bytes.get(from..to)?;
    let alone = line.ends_with(b"sshpass -p");
    let secret = match memchr::memchr(b':', value) {
        _ if alone => from,
        Some(colon) if !(glued && value.starts_with(b"-")) && value.get(colon + 1..colon + 3) != Some(b"//") => {
            from + colon + 1
        }
        _ => return None,
    };
    let password = bytes.get(secret..to)?;
    // `user:` asks; `1000:1000` are numbers of a user and a group.
    if password.is_empty() || is_reference(password) || before(bytes, start).is_some_and(|b| b == b'-') {
        return None;
    }
    Found::new(secret..to, quote.map_or(Alphabet::Word, Alphabet::Until))
}
