//! Which addresses are special.
//!
//! The ranges are those of the IANA special-purpose registries. An IPv6 address that carries an IPv4 address is judged by
//! what it carries where a translator or tunnel would deliver it there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is on the public internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Globally reachable.
    Public,
    /// Anything else, with its kind.
    Special(Special),
}

/// Why an address is special.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// `0.0.0.0/8`, `::`.
    Unspecified,
    /// `127.0.0.0/8`, `::1`.
    Loopback,
    /// RFC 1918, unique local.
    Private,
    /// `100.64.0.0/10`.
    SharedNat,
    /// `169.254.0.0/16`, `fe80::/10`.
    LinkLocal,
    /// `fec0::/10`.
    SiteLocal,
    /// A cloud's metadata service.
    Metadata,
    /// Documentation ranges.
    Documentation,
    /// Benchmarking ranges.
    Benchmarking,
    /// Protocol assignments, anycast relays, ORCHID, discard, segment routing.
    Protocol,
    /// Multicast.
    Multicast,
    /// `240.0.0.0/4`, broadcast, everything outside `2000::/3`.
    Reserved,
    /// A translated or tunnelled form of a special IPv4 address, or a form that nothing delivers any more.
    Embedded,
}

impl Special {
    /// The kind in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::SharedNat => "shared address space",
            Self::LinkLocal => "link-local",
            Self::SiteLocal => "site-local",
            Self::Metadata => "cloud metadata",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::Protocol => "protocol assignment",
            Self::Multicast => "multicast",
            Self::Reserved => "reserved",
            Self::Embedded => "embedded IPv4",
        }
    }
}

/// Judges an address.
#[must_use]
pub fn classify(address: IpAddr) -> Class {
    let special = match address {
        IpAddr::V4(v4) => special_v4(v4),
        IpAddr::V6(v6) => special_v6(v6),
    };
    special.map_or(Class::Public, Class::Special)
}

fn special_v4(address: Ipv4Addr) -> Option<Special> {
    let special = match address.octets() {
        // Clouds: most of them; two for container tasks; Alibaba; Oracle; Azure's wire server, in otherwise public space.
        [169, 254, 169, 254]
        | [169, 254, 170, 2 | 23]
        | [100, 100, 100, 200]
        | [192, 0, 0, 192]
        | [168, 63, 129, 16] => Special::Metadata,
        [0, ..] => Special::Unspecified,
        [127, ..] => Special::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Special::Private,
        [100, 64..=127, ..] => Special::SharedNat,
        [169, 254, ..] => Special::LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Special::Documentation,
        [192, 0, 0, _] | [192, 88, 99, _] => Special::Protocol,
        [198, 18 | 19, ..] => Special::Benchmarking,
        [224..=239, ..] => Special::Multicast,
        [240..=255, ..] => Special::Reserved,
        _ => return None,
    };
    Some(special)
}

fn special_v6(address: Ipv6Addr) -> Option<Special> {
    let segments = address.segments();
    let [a, b, _, _, _, _, high, low] = segments;
    let tail = join(high, low);
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => return Some(Special::Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => return Some(Special::Loopback),
        // Mapped, translatable and NAT64: a translator delivers to the IPv4 address, so that is what counts.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            return embedded(tail);
        }
        // AWS and Google, in unique local space.
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254 | 0x23] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => {
            return Some(Special::Metadata);
        }
        _ => {}
    }
    let special = match (a, b) {
        // IPv4-compatible: deprecated in 2006; no translator delivers it anywhere, not even for public addresses.
        (0, 0) if address.octets().iter().take(12).all(|byte| *byte == 0) => Special::Embedded,
        // The local-use translation prefix stands for whatever the local network says.
        (0x64, 0xff9b) => Special::Embedded,
        (0x100, 0) | (0x5f00, _) => Special::Protocol,
        (0xfc00..=0xfdff, _) => Special::Private,
        (0xfe80..=0xfebf, _) => Special::LinkLocal,
        (0xfec0..=0xfeff, _) => Special::SiteLocal,
        (0xff00..=0xffff, _) => Special::Multicast,
        (0x2001, 0xdb8) | (0x3fff, 0..=0x0fff) => Special::Documentation,
        (0x2001, 2) => Special::Benchmarking,
        (0x2001, 0) => return teredo(segments),
        (0x2001, 1..=0x1ff) => Special::Protocol,
        (0x2002, _) => return sixtofour(segments).or_else(|| isatap(segments)),
        (0x2000..=0x3fff, _) => return isatap(segments),
        _ => Special::Reserved,
    };
    Some(special)
}

/// An IPv4 address inside another: special where it is.
fn embedded(inner: Ipv4Addr) -> Option<Special> {
    special_v4(inner).map(|kind| if kind == Special::Metadata { kind } else { Special::Embedded })
}

/// `2002:AABB:CCDD::/48` is delivered to AA.BB.CC.DD.
fn sixtofour([_, high, low, ..]: [u16; 8]) -> Option<Special> {
    embedded(join(high, low))
}

/// The interface identifier `[02]00:5efe:A.B.C.D` is delivered to A.B.C.D, in any prefix.
fn isatap([_, _, _, _, flags, marker, high, low]: [u16; 8]) -> Option<Special> {
    // The universal and group bits of the identifier may be set or not.
    (flags & !0x0300 == 0 && marker == 0x5efe).then(|| embedded(join(high, low))).flatten()
}

/// Teredo carries its server in the clear and its client with every bit turned round; either may be reached.
fn teredo([_, _, server_high, server_low, _, _, high, low]: [u16; 8]) -> Option<Special> {
    let server = join(server_high, server_low);
    // A server of all zeroes is none.
    let by_server = if server.is_unspecified() { None } else { embedded(server) };
    by_server.or_else(|| embedded(join(!high, !low)))
}

fn join(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use proptest::prelude::*;

    fn kind(text: &str) -> Class {
        classify(text.parse().unwrap())
    }

    #[test]
    fn special_addresses_and_their_public_neighbours() {
        // Each line: the first and last address of a range, then the public neighbours where there are any.
        let ranges: &[(&[&str], &[&str])] = &[
            (&["0.0.0.0", "0.255.255.255"], &["1.0.0.0"]),
            (&["10.0.0.0", "10.255.255.255"], &["9.255.255.255", "11.0.0.0"]),
            (&["100.64.0.0", "100.127.255.255"], &["100.63.255.255", "100.128.0.0"]),
            (&["127.0.0.0", "127.255.255.255"], &["126.255.255.255", "128.0.0.0"]),
            (&["169.254.0.0", "169.254.255.255"], &["169.253.255.255", "169.255.0.0"]),
            (&["172.16.0.0", "172.31.255.255"], &["172.15.255.255", "172.32.0.0"]),
            (&["192.0.0.0", "192.0.0.255"], &["191.255.255.255", "192.0.1.0"]),
            (&["192.0.2.0", "192.0.2.255"], &["192.0.1.255", "192.0.3.0"]),
            (&["192.88.99.0", "192.88.99.255"], &["192.88.98.255", "192.88.100.0"]),
            (&["192.168.0.0", "192.168.255.255"], &["192.167.255.255", "192.169.0.0"]),
            (&["198.18.0.0", "198.19.255.255"], &["198.17.255.255", "198.20.0.0"]),
            (&["198.51.100.0", "198.51.100.255"], &["198.51.99.255", "198.51.101.0"]),
            (&["203.0.113.0", "203.0.113.255"], &["203.0.112.255", "203.0.114.0"]),
            (&["224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255"], &["223.255.255.255"]),
            (&["168.63.129.16"], &["168.63.129.15", "168.63.129.17"]),
            (&["::", "::1", "::127.0.0.1", "::8.8.8.8"], &[]),
            (&["::ffff:127.0.0.1", "::ffff:169.254.169.254"], &["::ffff:8.8.8.8"]),
            (&["::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1"], &["::ffff:0:8.8.8.8"]),
            (&["64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8", "64:ff9b:1:ffff::1"], &["64:ff9b::8.8.8.8"]),
            (&["2002:7f00:1::1", "2002:a9fe:a9fe::"], &["2002:808:808::1"]),
            (
                &["2001::80ff:fefe", "2001:0:7f00:1::f7f7:f7f7", "2001:0:4136:e378:8000:63bf:f5ff:fffe"],
                &["2001:0:4136:e378:8000:63bf:f7f7:f7f7"],
            ),
            (
                &["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1", "::5efe:8.8.8.8"],
                &["2606:4700::5efe:8.8.8.8", "2606:4700::1:5efe:10.0.0.1"],
            ),
            (&["100::", "100::ffff:ffff:ffff:ffff", "5f00::1"], &[]),
            (&["fc00::", "fdff:ffff::1", "fe80::1", "febf::1", "fec0::1", "feff::1", "ff02::1"], &[]),
            (&["2001:db8::1", "2001:db8:ffff::1", "3fff::", "3fff:fff::1"], &["2001:db7::1", "2001:db9::1"]),
            (&["2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff::1"], &["2001:200::1", "2001:4860:4860::8888"]),
            (&["4000::1", "1fff::1", "e000::1", "200::1"], &["2600::1", "2a00:1450:4001::1"]),
            (&["fd00:ec2::254", "fd20:ce::254"], &[]),
        ];
        for (special, public) in ranges {
            for address in *special {
                assert_ne!(kind(address), Class::Public, "{address}");
            }
            for address in *public {
                assert_eq!(kind(address), Class::Public, "{address}");
            }
        }
    }

    #[test]
    fn metadata_is_told_apart_even_when_embedded() {
        for address in [
            "169.254.169.254",
            "100.100.100.200",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "2002:a9fe:a9fe::",
            "64:ff9b::a9fe:a9fe",
        ] {
            assert_eq!(kind(address), Class::Special(Special::Metadata), "{address}");
        }
        assert_eq!(kind("169.254.169.253"), Class::Special(Special::LinkLocal));
    }

    proptest! {
        #[test]
        fn every_embedding_of_a_special_address_is_special_and_of_a_public_one_public(bits: u32, prefix in 0x2600_u16..0x3000) {
            let inner = Ipv4Addr::from_bits(bits);
            let is_special = classify(inner.into()) != Class::Public;
            let [a, b, c, d] = inner.octets();
            let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            let forms = [
                Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
                Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, !high, !low),
                Ipv6Addr::new(prefix, 1, 2, 3, 0x0200, 0x5efe, high, low),
            ];
            for form in forms {
                prop_assert_eq!(classify(form.into()) != Class::Public, is_special, "{}", form);
            }
        }

        #[test]
        fn nothing_outside_global_unicast_is_public_but_translations(bits: u128) {
            let address = Ipv6Addr::from_bits(bits);
            if classify(address.into()) == Class::Public {
                let [first, second, ..] = address.segments();
                let translated = address.segments().iter().take(4).all(|s| *s == 0) || (first == 0x64 && second == 0xff9b);
                prop_assert!(translated || first & 0xe000 == 0x2000);
            }
        }
    }
}
