//! Cleans 1 MB of clean text, all classes on, and reads the same text once with one `RegexSet` of the same patterns.
//! `cargo bench -p caisson-scrub --bench against_regex` prints both speeds and how many times faster the scrubber is.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measuring program for people")]

use caisson_scrub::{Alphabet, PROVIDERS, Scrubber, Secrets};
use regex::bytes::RegexSet;
use std::borrow::Cow;
use std::hint::black_box;
use std::time::{Duration, Instant};

const SIZE: usize = 1 << 20;

fn main() {
    let set = RegexSet::new(patterns()).unwrap();
    let scrubber = Scrubber::new().with_long_hex(true);
    let known = Secrets::new(["k7Q2mZp9RtA4vBn8", "correct horse battery", "postgres-pa55word"]);
    for (name, text) in [("log", repeated(LOG)), ("prose", repeated(PROSE)), ("source", repeated(SOURCE))] {
        assert!(
            matches!(scrubber.clean_text(&text), Cow::Borrowed(_)),
            "{name} is not clean: {:?}",
            scrubber.explain(&text).classes
        );
        assert!(!set.is_match(text.as_bytes()), "{name}: {:?}", set.matches(text.as_bytes()));
        let regex = fastest(|| usize::from(black_box(&set).is_match(black_box(text.as_bytes()))));
        let fixed = fastest(|| black_box(&scrubber).clean_text(black_box(&text)).len());
        let all = fastest(|| black_box(&scrubber).clean_text_with(black_box(&text), &known).len());
        println!(
            "{name:7} regex set {:6.0} MB/s, scrub {:6.0} MB/s ({:.1} times), with known values {:6.0} MB/s ({:.1} times)",
            speed(regex),
            speed(fixed),
            regex.as_secs_f64() / fixed.as_secs_f64(),
            speed(all),
            regex.as_secs_f64() / all.as_secs_f64()
        );
    }
}

fn repeated(text: &str) -> String {
    text.chars().cycle().take(SIZE).collect()
}

fn speed(time: Duration) -> f64 {
    SIZE as f64 / 1e6 / time.as_secs_f64()
}

/// The fastest of some runs: what else the machine does only adds.
fn fastest(mut run: impl FnMut() -> usize) -> Duration {
    let mut best = Duration::MAX;
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        let before = Instant::now();
        black_box(run());
        best = best.min(before.elapsed());
    }
    best
}

fn patterns() -> Vec<String> {
    let mut all: Vec<String> = PROVIDERS
        .iter()
        .map(|row| format!("(?-u)\\b{}{}{{{},}}", regex::escape(row.prefix), class(row.alphabet), row.least))
        .collect();
    let name = "password|passwd|passphrase|passcode|pwd|api[_-]?key|secret[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|\
                access_?token|refresh_?token|auth_?token|token|secret|bearer|authorization|credentials?";
    all.extend(
        [
            &format!("(?i-u)(?:{name})[\"']?[ \\t]{{0,4}}(?:=|:=|:|=>)[ \\t]{{0,8}}[\"']?[^\\s\"'`<$(\\[{{]{{8,}}"),
            &format!("(?i-u)[?&](?:{name}|sig|signature|key)=[^&\\s]{{8,}}"),
            "(?-u)\\b[A-Z0-9_]{0,64}(?:KEY|SECRET|CREDENTIAL|PRIVATE|TOKEN|PASSWORD|PASSWD|DSN|DATABASE_URL|REDIS_URL|MONGO_URI|MONGODB_URI)[A-Z0-9_]{0,64}=[^\\s$`<]{8,}",
            "(?-u)\\bVIRTUAL_[A-Z0-9_]+=\\S{4,}",
            "(?-u)\\beyJ[A-Za-z0-9_-]{8,512}\\.[A-Za-z0-9_-]{8,}",
            "(?i-u)\\bbearer [A-Za-z0-9_.~+/=-]{24,}",
            "(?i-u)\\bbasic [A-Za-z0-9+/]{16,}={0,2}",
            "(?-u)\\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|amqps?|mssql|sqlserver|clickhouse|nats|oracle)://[^\\s:@]{0,256}:[^\\s@]{1,256}@\\S+",
            "(?-u)://[^\\s:@/?#]{0,256}:[^\\s@/?#]{1,256}@",
            "(?-u)\\b[0-9a-fA-F]{64,}\\b",
            "(?-u)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
            "(?i-u)hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/-]{16,}",
            "(?i-u)/api/webhooks/[A-Za-z0-9_/-]{16,}",
            "(?-u)\\b[0-9]{6,12}:[A-Z][A-Za-z0-9_-]{32,}",
            "(?-u)\\b[MNO][A-Za-z0-9]{21,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,}",
            "(?-u)\\b[a-z0-9A-Z]{14}\\.atlasv1\\.[A-Za-z0-9_-]{40,}",
            "(?-u)\\bcurl [^\\n]{0,256}-u ?[^\\s:]+:\\S+",
        ]
        .map(str::to_owned),
    );
    all
}

fn class(alphabet: Alphabet) -> &'static str {
    match alphabet {
        Alphabet::Plain => "[A-Za-z0-9]",
        Alphabet::Upper => "[A-Z0-9]",
        Alphabet::Hex => "[0-9a-f]",
        Alphabet::Under => "[A-Za-z0-9_]",
        Alphabet::Dashed => "[A-Za-z0-9_-]",
        Alphabet::Dotted => "[A-Za-z0-9_.-]",
        _ => "[A-Za-z0-9+/=_-]",
    }
}

const LOG: &str = "2026-04-07T12:34:56.789Z INFO gateway::calls: call finished id=01890a5d-ac96-774b-bcce-b302099a8057 tool=web_fetch took=12ms bytes=48211\n\
2026-04-07T12:34:57.002Z WARN gateway::egress: https://example.org/articles/2026/some-long-name?page=3 answered 503, trying again in 2s\n\
Apr  7 12:34:58 node-3 systemd[1]: Started Daily apt upgrade and clean activities.\n\
commit da39a3ee5e6b4b0d3255bfef95601890afd80709 (HEAD -> main, origin/main)\n\
192.0.2.17 - - [07/Apr/2026:12:34:59 +0000] \"GET /static/app.3f9c.js HTTP/1.1\" 200 18211 \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"\n";

const PROSE: &str = "The parser reads one word after the other and keeps what it cannot place yet on a stack of its own, so that no \
input, however deep, can make it run out of room. Most people never see this: they ask a question, the tool answers, and the answer is \
what they wanted. When it is not, the record says which rule decided, what it had seen, and what would have to change.\n\n\
* A second list is kept beside the first, for reasons explained in the chapter on recovery.\n\
* Numbers such as 1,024 or 3.14159 are written as they are; dates follow the calendar of the reader.\n";

const SOURCE: &str = "fn advance(&mut self, bytes: &[u8]) -> Result<usize, Error> {\n    let mut position = self.position;\n    while let Some(byte) = bytes.get(position) {\n        match byte {\n            b'\\n' => self.line += 1,\n            b'{' | b'}' => self.depth = self.depth.checked_add(1).ok_or(Error::TooDeep)?,\n            _ => {}\n        }\n        position += 1;\n    }\n    Ok(position)\n}\n\nexport const total = (items) => items.reduce((sum, item) => sum + item.price * item.count, 0);\n\nclass Queue:\n    def push(self, item, priority=0):\n        heapq.heappush(self._items, (priority, next(self._counter), item))\n";
