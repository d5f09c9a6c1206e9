//! Host patterns of the manifest.

use crate::Host;
use std::net::IpAddr;

/// Whether a pattern covers a host: an exact name or address, `*.example.com` (not `example.com` itself), or `*`.
#[must_use]
pub fn host_matches(pattern: &str, host: &Host) -> bool {
    if pattern == "*" {
        return true;
    }
    let pattern = pattern.strip_suffix('.').unwrap_or(pattern);
    match host {
        Host::Address(address) => {
            let bare = pattern.strip_prefix('[').and_then(|p| p.strip_suffix(']')).unwrap_or(pattern);
            bare.parse::<IpAddr>().is_ok_and(|listed| listed == *address)
        }
        Host::Name(name) => match pattern.strip_prefix("*.") {
            Some(zone) => {
                let zone = encoded(zone);
                name.strip_suffix(zone.as_str())
                    .and_then(|rest| rest.strip_suffix('.'))
                    .is_some_and(|label| !label.is_empty())
            }
            None => encoded(pattern) == *name,
        },
    }
}

/// Manifests hold encoded names; one typed by a person may still have capitals or letters beyond ASCII.
fn encoded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    url::Host::parse(name).map_or_else(|_| name.to_lowercase(), |host| host.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    #[test]
    fn patterns() {
        let name = |text: &str| Host::Name(text.into());
        for (pattern, host) in [
            ("*.example.com", "example.com"),
            ("*.example.com", "badexample.com"),
            ("example.com", "a.example.com"),
            ("example.com", "example.com.evil.net"),
            ("", "example.com"),
            ("*.", "example.com"),
            ("ex*mple.com", "example.com"),
        ] {
            assert!(!host_matches(pattern, &name(host)), "{pattern} {host}");
        }
        for (pattern, host) in [
            ("*.example.com", "a.example.com"),
            ("*.example.com", "a.b.example.com"),
            ("Example.COM", "example.com"),
            ("example.com.", "example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("*", "anything.example"),
        ] {
            assert!(host_matches(pattern, &name(host)), "{pattern} {host}");
        }
        let loopback = Host::Address(Ipv6Addr::LOCALHOST.into());
        assert!(host_matches("[::1]", &loopback) && host_matches("::1", &loopback) && host_matches("*", &loopback));
        assert!(!host_matches("::2", &loopback) && !host_matches("*.1", &loopback));
    }
}
