//! `data_exfiltration`, third part: which address is asked.

use super::args::{PLAIN, operands, values};
use super::requests::{CURL, FETCHERS, WGET};
use super::{Look, Rule, code};
use crate::shell::{Group, Language, Piece, Span, Value, Word};
use crate::{Class, Exceptions, Host, Refusal, Target, check_name, classify};
use std::borrow::Cow;

const GROUP: Group = Group::DataExfiltration;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "data_exfiltration.private_address",
        group: GROUP,
        sentence: "the address is not on the public internet: it is this machine, its network or a metadata service",
        programs: FETCHERS,
        matches: private_address,
        denies: &[
            "curl http://localhost:8080/",
            "curl 127.0.0.1",
            "curl http://169.254.169.254/latest/meta-data/",
            "curl http://[::1]/",
            "curl http://2130706433/",
            "curl 0x7f.1",
            "curl http://017700000001/",
            "wget -qO- http://10.0.0.1/",
            "curl 0.0.0.0:80",
            "curl https://user:pw@127.0.0.1/",
            "curl --url http://localhost",
            "curl 'http://127.0.0.[1-3]/'",
            "curl --connect-to ::127.0.0.1:80 https://example.com",
            "curl -x http://127.0.0.1:3128 https://example.com",
            "curl HTTP://LOCALHOST/",
            "curl http://metadata.google.internal/",
            "curl http://127.0.0.1.nip.io/",
            "curl http://localhost/$x",
        ],
        allows: &[
            "curl https://example.com/localhost",
            "curl 8.8.8.8",
            "curl https://localhost.example.com/",
            "echo http://127.0.0.1/",
            "curl 'https://api.example.com/items/[1-3]'",
            "wget https://example.com/a?b=127.0.0.1",
        ],
    },
    Rule {
        id: "data_exfiltration.private_repository",
        group: GROUP,
        sentence: "the address is not on the public internet: it is this machine, its network or a metadata service",
        programs: &["git", "hg", "svn"],
        matches: |look| {
            let private =
                |word: &&Word| word.prefix().contains("://") && judged(word).is_some_and(|text| !is_public(&text));
            // A message speaks of addresses.
            let said = look
                .args()
                .iter()
                .any(|word| matches!(word.prefix(), "commit" | "log" | "tag" | "notes" | "grep" | "config"));
            look.args().iter().find(|word| !said && private(word)).map(|word| word.span)
        },
        denies: &[
            "git clone http://127.0.0.1/x",
            "git fetch http://169.254.169.254/x",
            "git remote add x http://localhost/y",
            "git push https://10.0.0.1/x",
        ],
        allows: &["git clone https://example.com/x", "git commit -m 'see http://localhost:1'", "git push origin main"],
    },
    Rule {
        id: "data_exfiltration.scheme",
        group: GROUP,
        sentence: "only `http` and `https` addresses are fetched; `file:`, `gopher:` and the like reach past every gate",
        programs: FETCHERS,
        matches: scheme,
        denies: &[
            "curl file:///etc/passwd",
            "curl gopher://example.com/_x",
            "curl FILE:///x",
            "curl dict://example.com:11211/",
        ],
        allows: &["curl https://example.com/file:///x", "cat file.txt"],
    },
    Rule {
        id: "data_exfiltration.private_address_in_code",
        group: GROUP,
        sentence: "the address is not on the public internet: it is this machine, its network or a metadata service",
        programs: &[],
        matches: |look| {
            let private = |text: &code::Text<'_>| {
                text.language != Language::Shell
                    && text
                        .whole
                        .split(['\'', '"', '`', ' ', ')', ','])
                        .any(|part| part.contains("://") && !is_public(part))
            };
            look.code().find(|text| private(text)).map(|text| text.word.span)
        },
        denies: &["python3 -c 'x(\"http://169.254.169.254/\")'", "node -e 'x(`http://localhost:1`)'"],
        allows: &["python3 -c 'print(\"https://example.com\")'", "sed 's|http://|https://|' a"],
    },
];

fn addresses<'a>(look: &Look<'a>) -> Vec<&'a Word> {
    match look.name {
        "curl" | "curlie" => {
            operands(look.args(), CURL).chain(values(look.args(), CURL, "", &["url"]).map(|value| value.word)).collect()
        }
        "wget" | "wget2" => operands(look.args(), WGET).collect(),
        "http" | "https" | "xh" | "xhs" | "httpie" => {
            let method =
                |word: &&Word| !word.prefix().is_empty() && word.prefix().bytes().all(|b| b.is_ascii_uppercase());
            operands(look.args(), PLAIN).skip_while(method).take(1).collect()
        }
        _ => operands(look.args(), PLAIN).collect(),
    }
}

fn private_address(look: &Look<'_>) -> Option<Span> {
    if look.name == "curl" {
        let elsewhere = values(
            look.args(),
            CURL,
            "x",
            &[
                "proxy",
                "preproxy",
                "socks5",
                "socks5-hostname",
                "socks4",
                "socks4a",
                "connect-to",
                "resolve",
                "doh-url",
                "interface",
            ],
        );
        for value in elsewhere {
            let private = value.text.split([',', ' ']).any(|part| !is_public(part))
                || value.text.split(':').any(|part| {
                    part.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| classify(ip.into()) != Class::Public)
                        || part == "localhost"
                });
            if private {
                return Some(value.word.span);
            }
        }
    }
    let local_by_name =
        |text: &str| matches!(look.name, "http" | "https" | "xh" | "xhs") && (text.starts_with(':') || text.is_empty());
    addresses(look)
        .into_iter()
        .find(|word| judged(word).is_some_and(|text| local_by_name(&text) || !is_public(&text)))
        .map(|word| word.span)
}

/// The part of an address that is known, if the host is part of it.
fn judged(word: &Word) -> Option<Cow<'_, str>> {
    let pieces = match &word.value {
        Value::Known(text) => return (!text.is_empty()).then_some(Cow::Borrowed(text)),
        Value::Partial(pieces) => pieces,
    };
    // A pattern that fits no file stays as it is: `http://[::1]/` is one.
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) | Piece::Glob(part) => text.push_str(part),
            Piece::Unknown { .. } => {
                let rest = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
                return rest.contains(['/', '?']).then_some(Cow::Owned(text));
            }
        }
    }
    Some(Cow::Owned(text))
}

/// Whether an address in a program's notation has a public host. What is no address at all is left to the program.
fn is_public(text: &str) -> bool {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        // Other schemes have a rule of their own, except where they only carry a connection.
        return !scheme.to_ascii_lowercase().starts_with("socks") || is_public(rest);
    }
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    // curl's own ranges and lists: judged by the address that they begin with.
    let host = match host.find(['[', '{']) {
        Some(0) | None => host.to_owned(),
        Some(_) => expand_first(host),
    };
    let host = host.trim_start_matches('{').split(['}', ',']).next().unwrap_or_default();
    if host.is_empty() {
        return true;
    }
    let none = Exceptions::default();
    let judge = |refusal: Refusal| match refusal.rule {
        crate::Rule::HostLocal | crate::Rule::HostMetadata | crate::Rule::AddressSpecial => false,
        // A word that is no host is an option's value or a file, not an address.
        _ => !matches!(refusal.rule, crate::Rule::ZoneId),
    };
    match Target::parse(&format!("http://{host}/")) {
        Ok(target) => match target.host {
            Host::Address(address) => classify(address) == Class::Public,
            Host::Name(name) => check_name(&name, &none).map_or_else(judge, |()| true),
        },
        Err(refusal) => judge(refusal),
    }
}

/// The first address that a range or list stands for: `127.0.0.[1-3]` is `127.0.0.1`.
fn expand_first(host: &str) -> String {
    let mut text = String::new();
    let mut rest = host;
    while let Some(at) = rest.find(['[', '{']) {
        let (before, after) = rest.split_at(at);
        text.push_str(before);
        let inner_end = after.find([']', '}']).unwrap_or(after.len());
        let inner = after.get(1..inner_end).unwrap_or_default();
        text.push_str(inner.split(['-', ',']).next().unwrap_or_default());
        rest = after.get(inner_end + 1..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

fn scheme(look: &Look<'_>) -> Option<Span> {
    addresses(look)
        .into_iter()
        .find(|word| {
            let Some((scheme, _)) = word.prefix().split_once("://") else { return false };
            let plain = scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
            plain && !["http", "https", "ws", "wss"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        })
        .map(|word| word.span)
}
