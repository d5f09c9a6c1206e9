//! Options that take a password: `curl -u user:password`, `mysql -ppassword`.

use crate::span::{Found, run, run_back};
use crate::tail::Alphabet;
use crate::value::{is_placeholder, is_reference};

/// How far back in the line the program is looked for.
const MOST_LINE: usize = 400;

/// How a program takes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `-u user:password`
    Pair,
    /// `-p password`, `-ppassword`
    Alone,
    /// `-ppassword` only: without it, the program asks.
    Glued,
}

/// Programs and the options with which they do.
const PROGRAMS: [(&[u8], &[u8], Takes); 15] = [
    (b"curl", b" -u", Takes::Pair),
    (b"curl", b" -U", Takes::Pair),
    (b"curl", b"--user", Takes::Pair),
    (b"curl", b"--proxy-user", Takes::Pair),
    (b"wget", b"--user", Takes::Pair),
    (b"http ", b" -a", Takes::Pair),
    (b"https ", b" -a", Takes::Pair),
    (b"grpcurl", b" -u", Takes::Pair),
    (b"mysql", b" -p", Takes::Glued),
    (b"mariadb", b" -p", Takes::Glued),
    (b"sshpass", b" -p", Takes::Alone),
    (b"docker login", b" -p", Takes::Alone),
    (b"podman login", b" -p", Takes::Alone),
    (b"redis-cli", b" -a", Takes::Alone),
    (b"mongosh", b" -p", Takes::Alone),
];

/// The password after an option that ends with the anchor; of `user:password`, what stands after the colon.
pub(crate) fn password(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    let option = bytes.get(start..end)?;
    let line_start = run_back(bytes, start, MOST_LINE, |b| b != b'\n');
    let line = bytes.get(line_start..start)?;
    let command = [&b"; "[..], b"| ", b"&& "].iter().filter_map(|sign| memchr::memmem::rfind(line, sign)).max();
    let line = line.get(command.unwrap_or(0)..)?;
    let mut programs = PROGRAMS.iter().filter(|(_, name, _)| *name == option);
    let (_, _, takes) = programs.find(|(program, ..)| memchr::memmem::find(line, program).is_some())?;
    let open = run(bytes, end, 4, |b| b == b' ' || b == b'=');
    // `--user-agent` goes on with a dash; `-update` is another option of another program.
    if (open == end && (*takes != Takes::Glued && option.starts_with(b"--"))) || (open > end && *takes == Takes::Glued)
    {
        return None;
    }
    let quote = bytes.get(open).copied().filter(|b| *b == b'"' || *b == b'\'');
    let from = open + usize::from(quote.is_some());
    let stops = |b: u8| quote.map_or(b.is_ascii_whitespace() || b"\"'`\\;|&)<>".contains(&b), |q| b == q || b == b'\n');
    let to = run(bytes, from, usize::MAX, |b| !stops(b));
    let value = bytes.get(from..to)?;
    let secret = match takes {
        Takes::Alone | Takes::Glued if !value.starts_with(b"-") => from,
        Takes::Pair => {
            from + memchr::memchr(b':', value)
                .filter(|colon| !value.get(*colon..).is_some_and(|v| v.starts_with(b"://")))?
                + 1
        }
        _ => return None,
    };
    let password = bytes.get(secret..to)?;
    if is_reference(password) || is_placeholder(password) {
        return None;
    }
    Found::new(secret..to, quote.map_or(Alphabet::Word, Alphabet::Until))
}
