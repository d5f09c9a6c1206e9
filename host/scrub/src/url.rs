//! Passwords in URLs.

use crate::span::{run, run_back};
use std::ops::Range;

/// Schemes of databases and queues: their whole address goes, as it says where inside the data lies.
const DATABASES: [&str; 18] = [
    "amqp",
    "amqps",
    "clickhouse",
    "cockroachdb",
    "couchdb",
    "db2",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "mssql",
    "mysql",
    "nats",
    "oracle",
    "postgres",
    "postgresql",
    "redis",
    "rediss",
    "sqlserver",
];

/// Longest user and password that are looked for; a URL is not longer in practice, and a bound keeps the scan linear.
const MOST: usize = 1024;

/// `scheme://user:password@host`: of a database the whole, else what stands before the `@`.
pub(crate) fn with_password(bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let scheme_start = run_back(bytes, start, 16, |b| b.is_ascii_alphanumeric() || b"+.-:".contains(&b));
    let scheme = String::from_utf8_lossy(bytes.get(scheme_start..start)?).to_ascii_lowercase();
    let last = scheme.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '+').next().unwrap_or_default();
    let database = DATABASES.contains(&last);
    // Nothing after the authority can hold its `@`, but people paste database passwords with a `/` or `?` in them unescaped.
    let limit = run(bytes, end, MOST, |b| in_url(b) && (database || !b"/?#".contains(&b)));
    let at = end + memchr::memrchr(b'@', bytes.get(end..limit)?)?;
    let colon = end + memchr::memchr(b':', bytes.get(end..at)?)?;
    let password = bytes.get(colon + 1..at)?;
    if password.is_empty() || crate::value::is_reference(password) {
        return None;
    }
    if database {
        return Some(start - last.len()..run(bytes, limit, MOST, in_url));
    }
    Some(end..at)
}

fn in_url(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`<>\\".contains(&byte)
}
