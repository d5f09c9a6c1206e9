//! Checks of single values, shared by manifests, grants, ceilings and settings.

use globset::GlobBuilder;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Longest glob or pattern: a manifest needs none longer, and a matcher's size grows with it.
const MAX_PATTERN: usize = 256;

/// Methods that a rule may name. TRACE shows a server's view of the credentials that were put in, and CONNECT tunnels past the
/// gate, so neither is ever sent.
pub(crate) const METHODS: [&str; 7] = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/// Checks a host pattern: an exact name in lower case (IDNA-encoded), an IP address (IPv6 in brackets), `*.example.com`, or `*`.
///
/// # Errors
/// What is wrong with it and where the part that does not belong there goes.
pub fn host_pattern(pattern: &str) -> Result<(), String> {
    match pattern.strip_prefix("*.") {
        _ if pattern == "*" => Ok(()),
        Some(rest) if rest.parse::<Ipv4Addr>().is_ok() => {
            Err(format!("`{}` is an address with a wildcard; name the address itself", shown(pattern)))
        }
        Some(rest) => {
            host_name(rest).map_err(|why| why.replace(&format!("`{}`", shown(rest)), &format!("`{}`", shown(pattern))))
        }
        None => host_name(pattern),
    }
}

/// Checks an exact host name or IP address.
///
/// # Errors
/// As [`host_pattern`].
pub fn host_name(name: &str) -> Result<(), String> {
    misplaced(name)?;
    if let Some(inner) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr = inner.parse().map_err(|_| format!("`{}` is not an IPv6 address", shown(name)))?;
        let canonical = format!("[{address}]");
        return if canonical == name { Ok(()) } else { Err(format!("write `{canonical}` for `{}`", shown(name))) };
    }
    if name.parse::<Ipv6Addr>().is_ok() {
        return Err(format!("write an IPv6 address in brackets: `[{name}]`"));
    }
    if let Some(at) = name.find(':') {
        let (host, port) = name.split_at(at);
        return Err(format!(
            "`{}` has a port: leave `{}`, and put `{}` into `ports`",
            shown(name),
            shown(host),
            shown(port.trim_start_matches(':'))
        ));
    }
    if !name.is_ascii() {
        return Err(format!("`{}` must be written in its IDNA form (`xn--…`), which is what is compared", shown(name)));
    }
    if name.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(format!("write `{}` in lower case: `{}`", shown(name), shown(&name.to_ascii_lowercase())));
    }
    labels(name)
}

/// Parts of a URL that people put into a host.
fn misplaced(name: &str) -> Result<(), String> {
    let name_shown = shown(name);
    if let Some((scheme, rest)) = name.split_once("://") {
        return Err(format!(
            "`{name_shown}` is not a host: put `{}` into `schemes` and leave the host of `{}`",
            shown(scheme),
            shown(rest)
        ));
    }
    if name.contains('@') {
        return Err(format!("`{name_shown}` has a user in it: secrets go into `[credentials.NAME]`"));
    }
    if let Some((host, _)) = name.split_once(['/', '?', '#']) {
        return Err(format!("`{name_shown}` has a path: leave `{}`, and put the path into `paths`", shown(host)));
    }
    if name.contains('*') {
        return Err(format!("`{name_shown}` has a wildcard in the middle: only `*.example.com` and `*` are patterns"));
    }
    Ok(())
}

fn labels(name: &str) -> Result<(), String> {
    let label_ok = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if name.ends_with('.') && name.len() > 1 {
        return Err(format!("write `{}` without the dot at its end", shown(name)));
    }
    if name.is_empty() || name.len() > 253 || !name.split('.').all(label_ok) {
        return Err(format!("`{}` is not a host name", shown(name)));
    }
    // `127.1`, `0x7f.1` and `2130706433` are addresses to some resolvers; a name that could be one must be a plain one.
    let last = name.rsplit('.').next().unwrap_or_default();
    let numeric = last.bytes().all(|b| b.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    if numeric && name.parse::<Ipv4Addr>().is_err() {
        return Err(format!("`{}` looks like an address; write it as four decimal numbers", shown(name)));
    }
    Ok(())
}

/// Checks an HTTP method.
pub(crate) fn method(text: &str) -> Result<(), String> {
    let upper = text.to_ascii_uppercase();
    if METHODS.contains(&text) {
        Ok(())
    } else if METHODS.contains(&upper.as_str()) {
        Err(format!("write the method `{}` in upper case: `{upper}`", shown(text)))
    } else if upper == "TRACE" || upper == "CONNECT" {
        Err(format!("the method `{upper}` is never sent"))
    } else {
        Err(format!("`{}` is not a method: use {}", shown(text), METHODS.join(", ")))
    }
}

/// Checks a scheme.
pub(crate) fn scheme(text: &str) -> Result<(), String> {
    match text {
        "http" | "https" => Ok(()),
        _ => Err(format!("`{}` is not a scheme: use `https` or `http`", shown(text))),
    }
}

/// Checks a glob on a URL's path.
pub(crate) fn url_glob(text: &str) -> Result<(), String> {
    if !text.starts_with('/') && !text.starts_with("**") {
        return Err(format!("the path glob `{0}` must begin with `/`: `/{0}`", shown(text)));
    }
    if text.contains(['?', '#']) {
        return Err(format!(
            "the path glob `{}` has a `?` or `#`: only the path is matched, never the query",
            shown(text)
        ));
    }
    glob(text)
}

/// Checks a glob beneath a mount.
pub(crate) fn file_glob(text: &str) -> Result<(), String> {
    if text.starts_with('/') {
        return Err(format!(
            "the glob `{}` must be relative to the mount: leave out the `/` at its start",
            shown(text)
        ));
    }
    if text.split('/').any(|part| part == ".." || part == ".") {
        return Err(format!("the glob `{}` has a `.` or `..` part, which no path that is matched has", shown(text)));
    }
    glob(text)
}

fn glob(text: &str) -> Result<(), String> {
    if text.is_empty() || text.len() > MAX_PATTERN {
        return Err(format!("a glob has 1 to {MAX_PATTERN} bytes"));
    }
    match GlobBuilder::new(text).literal_separator(true).build() {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("the glob `{}` does not parse: {}", shown(text), error.kind())),
    }
}

/// Checks `[a-z][a-z0-9-]{0,63}`, with `_` where `underscore` says so.
pub(crate) fn name(what: &str, text: &str, underscore: bool) -> Result<(), String> {
    let also = |b: u8| b == b'-' || (underscore && b == b'_');
    let ok = text.len() <= 64
        && text.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || also(b));
    if ok {
        return Ok(());
    }
    let rest = if underscore { "a-z, 0-9, `-` and `_`" } else { "a-z, 0-9 and `-`" };
    Err(format!("`{}` is not {what}: use 1 to 64 characters {rest}, starting with a letter", shown(text)))
}

/// Checks a tool's name, `[a-z][a-z0-9_]{0,63}`.
pub(crate) fn tool_name(text: &str) -> Result<(), String> {
    let ok = text.len() <= 64
        && text.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if ok {
        return Ok(());
    }
    Err(format!(
        "`{}` is not a tool's name: use 1 to 64 characters a-z, 0-9 and `_`, starting with a letter",
        shown(text)
    ))
}

/// Checks a header that a secret may be put into. Those that frame the message or name the host belong to the gate.
pub(crate) fn header(text: &str) -> Result<(), String> {
    const FRAMING: [&str; 11] = [
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if text.is_empty() || text.len() > 64 || !text.bytes().all(token) {
        return Err(format!("`{}` is not a header's name", shown(text)));
    }
    if FRAMING.contains(&text.to_ascii_lowercase().as_str()) {
        return Err(format!("a secret cannot be put into the header `{text}`: the gateway sets it itself"));
    }
    Ok(())
}

/// Checks the name of an environment variable.
pub(crate) fn variable(text: &str) -> Result<(), String> {
    let ok = text.len() <= 128
        && text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if ok { Ok(()) } else { Err(format!("`{}` is not the name of an environment variable", shown(text))) }
}

/// Text from outside in a message: short, and nothing in it can break the line or the backticks.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 80;
    let mut out: String = text
        .chars()
        .take(MOST)
        .flat_map(char::escape_debug)
        .collect::<String>()
        .replace('`', "'")
        .replace("\\\"", "\"")
        .replace("\\'", "'");
    if text.chars().nth(MOST).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn what_is_no_host_is_told_where_it_goes() {
        for (pattern, says) in [
            ("https://api.example.com", "`schemes`"),
            ("api.example.com:8443", "`ports`"),
            ("api.example.com/v1", "`paths`"),
            ("user@example.com", "credentials"),
            ("Example.com", "`example.com`"),
            ("bücher.example", "IDNA"),
            ("api.*.example", "wildcard"),
            ("*example.com", "wildcard"),
            ("example.com.", "dot"),
            ("::1", "`[::1]`"),
            ("[::0001]", "`[::1]`"),
            ("127.1", "address"),
            ("2130706433", "address"),
            ("0x7f000001", "address"),
            ("", "not a host name"),
            ("a..b", "not a host name"),
            ("-a.example", "not a host name"),
            ("a b", "not a host name"),
            ("*.", "not a host name"),
            ("*.127.0.0.1", "wildcard"),
        ] {
            let why = host_pattern(pattern).unwrap_err();
            assert!(why.contains(says), "{pattern}: {why}");
        }
    }

    #[test]
    fn hosts_patterns_and_addresses_pass() {
        for pattern in [
            "*",
            "*.example.com",
            "api.example.com",
            "localhost",
            "127.0.0.1",
            "[::1]",
            "xn--bcher-kva.example",
            "a_b.example",
        ] {
            assert_eq!(host_pattern(pattern), Ok(()), "{pattern}");
        }
        assert!(host_name("*").is_err() && host_name("*.example.com").is_err());
    }

    #[test]
    fn methods_globs_headers_and_variables() {
        assert!(method("get").unwrap_err().contains("`GET`"));
        assert!(method("TRACE").is_err() && method("FROB").is_err());
        assert!(
            url_glob("v1/*").is_err()
                && url_glob("/a?b").is_err()
                && url_glob("/[").is_err()
                && url_glob("/v1/**").is_ok()
        );
        assert!(
            file_glob("/abs").is_err()
                && file_glob("a/../b").is_err()
                && file_glob("").is_err()
                && file_glob("reports/**").is_ok()
        );
        assert!(header("Host").is_err() && header("a b").is_err() && header("X-Api-Key").is_ok());
        assert!(variable("1A").is_err() && variable("GH_TOKEN").is_ok());
    }

    #[test]
    fn shown_text_cannot_break_out() {
        assert_eq!(shown("a`b\n\u{1b}[1m"), "a'b\\n\\u{1b}[1m");
        assert_eq!(shown(&"x".repeat(100)).chars().count(), 81);
    }
}
