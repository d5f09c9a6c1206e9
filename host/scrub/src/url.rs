//! Passwords in URLs.

use crate::span::{Found, run, run_back};
use crate::tail::Alphabet;

/// Schemes of databases and queues: their whole address goes, as it says where inside the data lies.
const DATABASES: [&str; 26] = [
    "amqp",
    "amqps",
    "cassandra",
    "clickhouse",
    "cockroachdb",
    "couchdb",
    "db2",
    "elasticsearch",
    "firebird",
    "kafka",
    "ldap",
    "ldaps",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "mssql",
    "mysql",
    "nats",
    "neo4j",
    "oracle",
    "postgres",
    "postgresql",
    "redis",
    "rediss",
    "snowflake",
    "sqlserver",
];

/// Longest user and password that are looked for; a URL is not longer in practice, and a bound keeps the scan linear.
const MOST: usize = 1024;

/// `scheme://user:password@host`: of a database the whole, else what stands before the `@`.
pub(crate) fn with_password(bytes: &[u8], start: usize, end: usize) -> Option<Found> {
    // Most addresses have no user.
    memchr::memchr(b'@', bytes.get(end..bytes.len().min(end + MOST))?)?;
    let scheme_start = run_back(bytes, start, 24, |b| b.is_ascii_alphanumeric() || b"+.-:".contains(&b));
    let scheme = String::from_utf8_lossy(bytes.get(scheme_start..start)?).to_ascii_lowercase();
    // `postgresql+asyncpg`, `mysql+pymysql`: the driver says nothing.
    let last = scheme.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '+').next().unwrap_or_default();
    let database = DATABASES.contains(&last) || last.split('+').next().is_some_and(|first| DATABASES.contains(&first));
    // Nothing after the authority can hold its `@`, but people paste database passwords with a `/` or `?` in them unescaped.
    let limit = run(bytes, end, MOST, |b| in_url(b) && (database || !b"/?#".contains(&b)));
    let at = end + memchr::memrchr(b'@', bytes.get(end..limit)?)?;
    let Some(colon) = memchr::memchr(b':', bytes.get(end..at)?).map(|colon| end + colon) else {
        // `https://token@host`: a user whom nobody would call so.
        return if crate::value::is_random(bytes.get(end..at)?) { Found::new(end..at, Alphabet::Url) } else { None };
    };
    let password = bytes.get(colon + 1..at)?;
    if password.is_empty() || crate::value::is_reference(password) {
        return None;
    }
    if database {
        return Found::new(start - last.len()..run(bytes, limit, usize::MAX, in_url), Alphabet::Url);
    }
    Found::new(end..at, Alphabet::Url)
}

fn in_url(byte: u8) -> bool {
    Alphabet::Url.has(byte)
}

/// The password of `user/password@host` after `jdbc:oracle:thin:`.
pub(crate) fn thin(bytes: &[u8], end: usize) -> Option<Found> {
    let slash = run(bytes, end, 64, |b| b.is_ascii_alphanumeric() || b"_$#".contains(&b));
    let at = run(bytes, slash + 1, MOST, |b| in_url(b) && b != b'@');
    let whole = bytes.get(slash) == Some(&b'/') && bytes.get(at) == Some(&b'@');
    if !whole || crate::value::is_reference(bytes.get(slash + 1..at)?) {
        return None;
    }
    Found::new(slash + 1..at, Alphabet::Url)
}
