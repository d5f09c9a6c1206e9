//! Host names that are refused without asking a resolver.

use crate::{Class, Exceptions, Refusal, Rule, classify};
use std::net::{IpAddr, Ipv4Addr};

/// Names and, with a dot before them, endings that are local by definition (RFC 6761, 6762, 8375, ICANN's `internal`) or by
/// wide custom.
const LOCAL: &[&str] =
    &["localhost", "local", "internal", "localdomain", "home.arpa", "ip6-localhost", "ip6-loopback", "svc", "intranet"];

/// Metadata services that answer to a name; those under `internal` have names of their own here so that the rule says so.
const METADATA: &[&str] = &[
    "metadata",
    "instance-data",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data.ec2.internal",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "rancher-metadata",
];

/// Public services under whose names everything is loopback.
const LOOPBACK_ZONES: &[&str] = &["localtest.me", "lvh.me", "vcap.me", "lacolhost.com"];

/// Public services that answer with the address written in the name.
const ADDRESS_ZONES: &[&str] = &["nip.io", "sslip.io", "xip.io"];

/// Judges a normalised name (lower case, IDNA-encoded, no trailing dot). What passes is still judged by its addresses.
///
/// # Errors
/// The rule that refuses it. Where the operator has exceptions, local names are left to the address check, since that is
/// what exceptions are for; metadata names never are.
pub fn check_name(name: &str, exceptions: &Exceptions) -> Result<(), Refusal> {
    if METADATA.contains(&name) {
        return Err(Refusal::about(Rule::HostMetadata, format!("`{name}`")));
    }
    if !exceptions.is_empty() {
        return Ok(());
    }
    // A name without a dot is completed by the resolver's search list, so it is the gateway's network that answers.
    let local = !name.contains('.') || LOCAL.iter().chain(LOOPBACK_ZONES).any(|zone| is_in(name, zone));
    if local {
        return Err(Refusal::about(Rule::HostLocal, format!("`{name}`")));
    }
    match written_address(name).map(|ip| (ip, classify(IpAddr::V4(ip)))) {
        Some((ip, Class::Special(kind))) => {
            Err(Refusal::about(Rule::AddressSpecial, format!("`{name}` stands for {ip} ({})", kind.as_str())))
        }
        _ => Ok(()),
    }
}

fn is_in(name: &str, zone: &str) -> bool {
    name.strip_suffix(zone).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The IPv4 address written in a name such as `app.10.0.0.1.nip.io` or `10-0-0-1.sslip.io`; the last one, as those services do.
fn written_address(name: &str) -> Option<Ipv4Addr> {
    let rest = ADDRESS_ZONES.iter().find_map(|zone| name.strip_suffix(zone)?.strip_suffix('.'))?;
    let numbers: Vec<Option<u8>> = rest.split(['.', '-']).map(|part| part.parse().ok()).collect();
    numbers.windows(4).rev().find_map(|four| match four {
        [Some(a), Some(b), Some(c), Some(d)] => Some(Ipv4Addr::new(*a, *b, *c, *d)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn check(name: &str) -> Result<(), &'static str> {
        check_name(name, &Exceptions::default()).map_err(|refusal| refusal.rule.id())
    }

    #[test]
    fn local_and_metadata_names_are_refused_and_their_look_alikes_pass() {
        for name in
            ["localhost", "a.localhost", "printer.local", "db.internal", "router", "x.svc", "localtest.me", "a.lvh.me"]
        {
            assert_eq!(check(name), Err("http.host-local"), "{name}");
        }
        for name in ["metadata", "metadata.google.internal", "metadata.goog", "instance-data"] {
            assert_eq!(check(name), Err("http.host-metadata"), "{name}");
        }
        for name in ["127.0.0.1.nip.io", "a.10-0-0-1.sslip.io", "magic-192-168-0-1.nip.io"] {
            assert_eq!(check(name), Err("http.address-special"), "{name}");
        }
        for name in [
            "localhost.com",
            "notlocalhost.example",
            "local.example",
            "internal.example.com",
            "metadata.example.com",
            "8.8.8.8.nip.io",
            "www.nip.io",
        ] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn exceptions_leave_local_names_to_the_address_check() {
        let exceptions = Exceptions::new(vec!["10.0.0.0/8".parse().unwrap()]);
        assert!(check_name("metadata.google.internal", &exceptions).is_err());
        assert!(check_name("db.internal", &exceptions).is_ok());
    }
}
