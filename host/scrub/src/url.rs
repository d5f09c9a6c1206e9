//! Passwords in URLs.

use crate::span::{run, run_back};
use std::ops::Range;

/// Schemes of databases and queues: their whole address goes, as it says where inside the data lies.
const DATABASES: [&str; 20] = [
    "amqp",
    "amqps",
    "clickhouse",
    "cockroachdb",
    "couchdb",
    "db2",
    "jdbc:mysql",
    "jdbc:postgresql",
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
    // What follows the authority cannot hold its `@`.
    let limit = run(bytes, end, MOST, |b| b.is_ascii_graphic() && !b"/\"'`<>?#\\".contains(&b));
    let authority = bytes.get(end..limit)?;
    let at = end + memchr::memrchr(b'@', authority)?;
    let colon = end + memchr::memchr(b':', bytes.get(end..at)?)?;
    let password = bytes.get(colon + 1..at)?;
    if password.is_empty() || crate::value::is_reference(password) {
        return None;
    }
    let scheme_start = run_back(bytes, start, 16, |b| b.is_ascii_alphanumeric() || b"+.-:".contains(&b));
    let scheme = String::from_utf8_lossy(bytes.get(scheme_start..start)?).to_ascii_lowercase();
    let database = |name: &&str| {
        scheme.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '+').next() == Some(*name) || scheme == **name
    };
    if DATABASES.iter().any(database) {
        let from =
            start - DATABASES.iter().filter(|name| scheme.ends_with(*name)).map(|name| name.len()).max().unwrap_or(0);
        return Some(from..run(bytes, limit, MOST, |b| b.is_ascii_graphic() && !b"\"'`<>\\".contains(&b)));
    }
    Some(end..at)
}
