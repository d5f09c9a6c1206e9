//! The parts of a URL that a request needs; judging it is the host's.

use crate::ToolError;

/// The parts of an absolute `http` or `https` URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Url<'a> {
    pub https: bool,
    pub authority: &'a str,
    /// Starts with `/`, or is `?…`, or is empty.
    pub rest: &'a str,
}

impl Url<'_> {
    /// Path and query as a request line has them.
    pub fn path_with_query(&self) -> String {
        if self.rest.starts_with('/') { self.rest.to_owned() } else { format!("/{}", self.rest) }
    }
}

/// Takes a URL apart. The fragment stays behind: it is never sent.
pub(super) fn parse(url: &str) -> Result<Url<'_>, ToolError> {
    let bad = |why: &str| ToolError::invalid_arguments(format!("`{url}` is no URL to request: {why}"));
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(bad("it contains white space; percent-encode it"));
    }
    let (scheme, after) = url.split_once("://").ok_or_else(|| bad("start it with `https://`"))?;
    let https = match scheme.to_ascii_lowercase().as_str() {
        "https" => true,
        "http" => false,
        _ => return Err(bad("only `https` and `http` are spoken")),
    };
    let after = after.split_once('#').map_or(after, |(before, _)| before);
    let end = after.find(['/', '?']).unwrap_or(after.len());
    let (authority, rest) = after.split_at(end);
    if authority.is_empty() {
        return Err(bad("it names no host"));
    }
    Ok(Url { https, authority, rest })
}

/// Percent-encodes text for one path segment, query name or query value.
pub fn encode(text: &str) -> String {
    use std::fmt::Write;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn what_is_no_url_is_refused_with_the_reason() {
        for (url, why) in [
            ("oslo", "https://"),
            ("ftp://a/", "only"),
            ("http://", "host"),
            ("http://a b/", "white space"),
            ("http:///x", "host"),
        ] {
            assert!(parse(url).unwrap_err().message().contains(why), "{url}");
        }
    }

    #[test]
    fn a_url_is_taken_apart() {
        let url = parse("HTTP://a.example:81?x=1#top").unwrap();
        assert_eq!((url.https, url.authority, url.path_with_query().as_str()), (false, "a.example:81", "/?x=1"));
        assert_eq!(parse("https://a.example").unwrap().path_with_query(), "/");
        assert_eq!(parse("https://a.example/b/c?d=/e").unwrap().path_with_query(), "/b/c?d=/e");
    }

    #[test]
    fn encoding_leaves_only_unreserved_letters() {
        assert_eq!(encode("São Paulo & co/~"), "S%C3%A3o%20Paulo%20%26%20co%2F~");
    }
}
