//! `Host` and `Origin`: a page in a browser must not reach a gateway on somebody's own machine by a name that it made point
//! there (DNS rebinding), nor by a request from another site.

use crate::problem::Problem;
use http::{HeaderMap, StatusCode, Uri, header, uri::Authority};
use std::net::IpAddr;

/// Which hosts and origins may be named.
#[derive(Clone, Debug)]
pub struct Allowed {
    hosts: Vec<(String, Option<u16>)>,
    origins: Vec<String>,
}

impl Allowed {
    /// Takes the operator's lists; the loopback names are always hosts.
    #[must_use]
    pub fn new(hosts: &[String], origins: &[String]) -> Self {
        Self {
            hosts: hosts.iter().filter_map(|host| split(host)).collect(),
            origins: origins.iter().map(|origin| plain_origin(origin)).collect(),
        }
    }

    /// Checks a request.
    ///
    /// # Errors
    /// The problem to answer: 421 for a host, 403 for an origin.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        self.check_host(uri, headers)?;
        self.check_origin(headers)
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        // HTTP/2 and an absolute form carry the authority in the target; where there is a header too, both must fit.
        let header = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or(""));
        let named: Vec<&str> = uri.authority().map(Authority::as_str).into_iter().chain(header).collect();
        let fits = |host: &str| split(host).is_some_and(|(name, port)| self.is_host(&name, port));
        let wrong = match named.iter().find(|host| !fits(host)) {
            None if !named.is_empty() => return Ok(()),
            wrong => wrong.copied().unwrap_or(""),
        };
        Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "host-not-allowed",
            "Unknown host",
            format!(
                "this gateway does not answer to the host `{}`; use `127.0.0.1` or `localhost`, or ask the operator to add \
                 the name to the allowed hosts",
                shown(wrong)
            ),
        ))
    }

    fn is_host(&self, name: &str, port: Option<u16>) -> bool {
        let loopback = name == "localhost"
            || name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        loopback || self.hosts.iter().any(|(host, on)| host == name && (on.is_none() || *on == port))
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or("");
            let own = headers
                .get(header::HOST)
                .and_then(|host| host.to_str().ok())
                .is_some_and(|host| is_origin_of(origin, host));
            if !own && !self.origins.iter().any(|allowed| *allowed == plain_origin(origin)) {
                return Err(Problem::new(
                    StatusCode::FORBIDDEN,
                    "origin-not-allowed",
                    "Origin not allowed",
                    format!(
                        "pages of `{}` may not call this gateway; ask the operator to add it to the allowed origins",
                        shown(origin)
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// A host and its port, the host in lower case.
fn split(host: &str) -> Option<(String, Option<u16>)> {
    let authority: Authority = host.parse().ok()?;
    // `user@localhost` is no host header.
    if authority.as_str().contains('@') {
        return None;
    }
    let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
    (!name.is_empty()).then_some((name, authority.port_u16()))
}

/// Whether a page of `origin` came from this very host and port. The host was checked before, so it is no name that a
/// foreign page made up; what is served under it is the gateway itself.
fn is_origin_of(origin: &str, host: &str) -> bool {
    ["http", "https"].iter().any(|scheme| plain_origin(origin) == plain_origin(&format!("{scheme}://{host}")))
}

/// Scheme, host and port in one spelling: lower case, the scheme's own port left out.
fn plain_origin(origin: &str) -> String {
    let origin = origin.trim_end_matches('/').to_ascii_lowercase();
    let own_port = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(own_port).unwrap_or(&origin).to_owned()
}

/// Text of the request, safe and short enough to be shown.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(100).flat_map(char::escape_default).collect()
}

/// The same for a message that quotes the request: control characters escaped, at most 300 characters.
pub(crate) fn shown_long(text: &str) -> String {
    text.chars()
        .take(300)
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn status(allowed: &Allowed, pairs: &[(&str, &str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        allowed.check(&Uri::from_static("/v1/tools"), &headers).map_or_else(|problem| problem.status, |()| 200)
    }

    #[test]
    fn hosts_that_are_not_ours_are_refused() {
        let allowed = Allowed::new(&["gateway.example.com:8443".into(), "other.example.com".into()], &[]);
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "user@localhost",
            "",
            "a b",
            "gateway.example.com",
            "gateway.example.com:80",
            "10.0.0.1",
            "[::2]",
            "0.0.0.0",
        ] {
            assert_eq!(status(&allowed, &[("host", host)]), 421, "{host}");
        }
        assert_eq!(status(&allowed, &[]), 421);
        assert_eq!(status(&allowed, &[("host", "localhost"), ("host", "evil.example")]), 421);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "evil.example".parse().unwrap());
        assert!(allowed.check(&Uri::from_static("http://localhost/v1/tools"), &headers).is_err());
        assert!(allowed.check(&Uri::from_static("http://localhost/v1/tools"), &HeaderMap::new()).is_ok());
        for host in [
            "localhost",
            "LOCALHOST:7",
            "127.0.0.1:8080",
            "127.9.9.9",
            "[::1]:80",
            "gateway.example.com:8443",
            "Other.Example.com:1",
        ] {
            assert_eq!(status(&allowed, &[("host", host)]), 200, "{host}");
        }
    }

    #[test]
    fn origins_are_refused_unless_listed() {
        let allowed = Allowed::new(&[], &["https://console.example.com".into(), "http://localhost:3000".into()]);
        for origin in [
            "https://evil.example",
            "null",
            "http://console.example.com",
            "http://localhost",
            "http://localhost:30000",
            "http://127.0.0.1:80",
            "",
        ] {
            assert_eq!(status(&allowed, &[("host", "localhost:81"), ("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(status(&allowed, &[("host", "evil.example"), ("origin", "http://evil.example")]), 421);
        assert_eq!(status(&allowed, &[("host", "localhost:81"), ("origin", "http://localhost:81")]), 200);
        for origin in ["https://console.example.com", "https://console.example.com:443", "HTTP://localhost:3000"] {
            assert_eq!(status(&allowed, &[("host", "localhost"), ("origin", origin)]), 200, "{origin}");
        }
    }
}
