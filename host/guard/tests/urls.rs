//! URLs as people have used them to reach what they should not, each with a twin that is allowed.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use caisson_guard::{Exceptions, Host, Own, Target, check_name};
use proptest::prelude::*;
use std::net::SocketAddr;

/// The rule that refuses a URL, by text alone.
fn rule(url: &str) -> Result<(), &'static str> {
    let none = Exceptions::default();
    let judged = Target::parse(url).and_then(|target| match &target.host {
        Host::Name(name) => check_name(name, &none),
        Host::Address(address) => none.check(SocketAddr::new(*address, target.port), &Own::default()),
    });
    judged.map_err(|refusal| refusal.rule.id())
}

#[test]
fn notations_of_special_addresses_are_refused_and_of_public_ones_allowed() {
    let denied = [
        "http://0xA9FEA9FF/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://017700000001/",
        "http://127.1/",
        "http://127.0.1/",
        "http://0177.0.0.1/",
        "http://0x7f.0.0.0x1/",
        "http://0x7f.1/",
        "http://0/",
        "http://0.0.0.0/",
        "http://10.1/",
        "http://192.168.257/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://127.0.0.1/",
        "http://１２７.0.0.1/",
        "http://127.0.0.1./",
        "http://%31%32%37.0.0.1/",
        "http://[::]/",
        "http://[::1]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[::127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::ffff:0:7f00:1]/",
        "http://[64:ff9b::10.0.0.1]/",
        "http://[2002:7f00:1::1]/",
        "http://[2001::80ff:fefe]/",
        "http://[::5efe:10.0.0.1]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[fec0::1]/",
        "http://127.0.0.1#/",
        "http://127.0.0.1?@example.com/",
    ];
    for url in denied {
        assert_eq!(rule(url), Err("http.address-special"), "{url}");
    }
    let allowed = [
        "http://0x08080808/",
        "http://134744072/",
        "http://8.526344/",
        "http://010.010.010.010/",
        "http://0x8.8.8.8/",
        "http://⑧.⑧.⑧.⑧/",
        "http://8。8。8。8/",
        "http://8.8.8.8./",
        "http://[::ffff:808:808]/",
        "http://[::ffff:0:808:808]/",
        "http://[64:ff9b::8.8.8.8]/",
        "http://[2002:808:808::1]/",
        "http://[2001::f7f7:f7f7]/",
        "http://[2606:4700::5efe:8.8.8.8]/",
        "http://[2606:4700:4700::1111]/",
        "http://8.8.8.8?@127.0.0.1/",
    ];
    for url in allowed {
        assert_eq!(rule(url), Ok(()), "{url}");
    }
}

#[test]
fn metadata_services_are_refused_by_address_and_by_name() {
    for url in [
        "http://169.254.169.254/",
        "http://0xA9FEA9FE/",
        "http://2852039166/",
        "http://169.254.43518/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://169.254.170.2/",
    ] {
        assert_eq!(rule(url), Err("http.address-metadata"), "{url}");
    }
    for url in [
        "http://metadata.google.internal/",
        "http://METADATA.google.internal./",
        "http://metadata/",
        "http://instance-data/",
    ] {
        assert_eq!(rule(url), Err("http.host-metadata"), "{url}");
    }
    assert_eq!(rule("http://metadata.example.com/"), Ok(()));
    assert_eq!(rule("http://168.63.129.17/"), Ok(()));
}

#[test]
fn what_readers_disagree_about_is_refused() {
    let cases = [
        ("http://user@example.com/", "http.userinfo", "http://example.com/user@"),
        ("http://user:pw@example.com/", "http.userinfo", "http://example.com/?u=user:pw@"),
        ("http://example.com@127.0.0.1/", "http.userinfo", "http://example.com/@127.0.0.1"),
        ("http://@example.com/", "http.userinfo", "http://example.com/"),
        ("http://example.com#@evil.example/", "http.url-invalid", "http://example.com/#@evil.example"),
        ("http://example.com\\@evil.example/", "http.backslash", "http://example.com/?q=\\"),
        ("http:\\\\example.com/", "http.backslash", "http://example.com/"),
        ("http://exam\tple.com/", "http.url-invalid", "http://example.com/%09"),
        ("http://exam\nple.com/", "http.url-invalid", "http://example.com/%0a"),
        (" http://example.com/", "http.url-invalid", "http://example.com/%20"),
        ("http:///example.com/", "http.url-invalid", "http://example.com/"),
        ("http:example.com", "http.url-invalid", "http://example.com"),
        ("http://[fe80::1%25eth0]/", "http.zone-id", "http://[2606:4700::1]/"),
        ("http://[fe80::1%eth0]/", "http.zone-id", "http://[2606:4700::1]/"),
        ("http://[::1", "http.url-invalid", "http://[2606:4700::1]"),
        ("http://a..example.com/", "http.host-invalid", "http://a.example.com/"),
        ("http://example.com../", "http.host-invalid", "http://example.com./"),
        ("http://exa!mple.com/", "http.host-invalid", "http://exa-mple.com/"),
        ("http://1.2.3.4.5/", "http.url-invalid", "http://1.2.3.4.5.example.com/"),
        ("http://256.0.0.1/", "http.url-invalid", "http://255a.0.0.1a/"),
        ("http://example.com:0/", "http.url-invalid", "http://example.com:1/"),
        ("http://example.com:99999/", "http.url-invalid", "http://example.com:9999/"),
        ("ftp://example.com/", "http.scheme", "https://example.com/"),
        ("file:///etc/passwd", "http.scheme", "https://example.com/etc/passwd"),
        ("gopher://example.com/", "http.scheme", "HTTP://example.com/"),
        ("http://localhost/", "http.host-local", "http://localhost.example/"),
        ("http://LOCALHOST./", "http.host-local", "http://localhost.example./"),
        ("http://ⓛocalhost/", "http.host-local", "http://ⓛocalhost.example/"),
        ("http://a.b.localhost/", "http.host-local", "http://localhost.a.example/"),
        ("", "http.url-invalid", "http://example.com/"),
    ];
    for (denied, expected, allowed) in cases {
        assert_eq!(rule(denied), Err(expected), "{denied}");
        assert_eq!(rule(allowed), Ok(()), "{allowed}");
    }
}

#[test]
fn a_target_has_the_parts_as_they_will_be_used() {
    let target = Target::parse("HTTPS://Bücher.Example.:8443/a/%2e%2e/b?secret=1#x").unwrap();
    assert_eq!(target.to_string(), "https://xn--bcher-kva.example:8443/a/%2e%2e/b");
    assert_eq!(Target::parse("http://[::FFFF:8.8.8.8]").unwrap().to_string(), "http://[::ffff:8.8.8.8]:80/");
}

proptest! {
    #[test]
    fn any_text_is_judged_without_panic(text: String, host in "[a-z0-9.:%@\\[\\]\\\\①。-]{0,24}") {
        let _ = rule(&text);
        let _ = rule(&format!("http://{host}/"));
    }

    #[test]
    fn every_notation_of_an_address_is_judged_like_the_address(bits: u32) {
        let plain = std::net::Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = plain.octets();
        let expected = rule(&format!("http://{plain}/"));
        for url in [format!("http://{bits}/"), format!("http://{bits:#x}/"), format!("http://0{bits:o}/"), format!("http://{a:#x}.{b}.0{c:o}.{d}/"), format!("http://{a}.{}/", bits & 0xff_ffff)] {
            prop_assert_eq!(rule(&url), expected, "{}", url);
        }
    }
}
