//! Text in pieces comes out as the whole would, wherever it was cut.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use caisson_scrub::{Scrubber, Secrets};
use common::fragments;
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

static SCRUBBER: LazyLock<Arc<Scrubber>> = LazyLock::new(|| Arc::new(Scrubber::new().with_long_hex(true)));

fn in_pieces<'t>(secrets: &Secrets, pieces: impl IntoIterator<Item = &'t [u8]>) -> (String, usize) {
    let mut stream = SCRUBBER.stream(secrets);
    let mut out = Vec::new();
    let mut most = 0;
    for piece in pieces {
        out.extend(stream.push(piece));
        most = most.max(stream.held());
    }
    out.extend(stream.finish());
    (String::from_utf8(out).unwrap(), most)
}

const TEXTS: &[&str] = &[
    "a sk-proj-abc123def456ghi789jkl012mno345pqr678 b",
    "password=hunter2hunter2\nuser: x\n",
    "password:\n  \"hunter2\"\nnext: |-\n  x\nsecret: |-\n  abcdefgh12\n  more\n",
    "{\"password\":\n \"x\", \"token\": \"abcdefghij\"}",
    "postgres://u:p@h/d?x=y https://a:b@c/ d",
    "Authorization: Basic dXNlcjpwYXNzd29yZDEyMw== and Bearer abcdefghijk1234567890. End.",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA1234567890+/abcdefgh==\n-----END RSA PRIVATE KEY-----\nafter",
    "-----BEGIN PRIVATE KEY-----\\nMIIEowIBAAKCAQEA1234567890+/abcdefgh==\\n cut off here",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    "bot 123456789:AAFdefGHIjklMNOpqrSTUvwxYZ012345678 and s3cretvalue and c2VjcmV0IHZhbHVlIDE= x",
    "é\u{10ffff} kéy=ü password=ü12345678ü\u{10ffff}x é",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "curl -u bob:pa55 https://x.example -H 'Authorization: token abcdefgh12'",
    "Server=a;User Id=b;Password=c;x=1",
    "s3cretvalues3cretvalue2s3cretvalue",
    "aaaaaaaaaaaaaa.atlasv1.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0 x",
];

fn known() -> Secrets {
    Secrets::new(["s3cretvalue", "valueofone"]).and(&Secrets::new(["secret value 1", "ü12345678ü"]))
}

#[test]
fn every_text_cut_at_every_two_places() {
    let known = known();
    for text in TEXTS {
        let bytes = text.as_bytes();
        let whole = SCRUBBER.clean_text_with(text, &known).into_owned();
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(in_pieces(&known, pieces).0, whole, "{text:?} {first} {second}");
            }
        }
        assert_eq!(in_pieces(&known, bytes.chunks(1)).0, whole, "{text:?}");
    }
}

#[test]
fn long_secrets_go_whole_and_little_is_held() {
    let long = "k7Q2mZp9RtA4vBn8XcW5".repeat(5_000);
    let hex = "3fa90c7be1d65824".repeat(5_000);
    for (before, secret, after) in [
        ("a sk-", long.as_str(), " b"),
        ("password=", &long, "\nb"),
        ("{\"password\":\"", &long, "\"}"),
        ("Bearer ", &long, " b"),
        ("x ", &hex, " y"),
        ("-----BEGIN PRIVATE KEY-----\n", &long, ""),
        ("token: '", &long, "' c"),
        ("postgres://u:p@h/", &long, " z"),
        ("eyJhbGciOiJIUzI1NiJ9.", &long, " z"),
    ] {
        let text = format!("{before}{secret}{after}");
        let whole = SCRUBBER.clean_text(&text).into_owned();
        assert!(whole.len() < 60 && whole.ends_with(after), "{}", whole.len());
        for size in [1, 7, 1000, 4096, 70_000] {
            let (out, held) = in_pieces(&Secrets::none(), text.as_bytes().chunks(size));
            assert_eq!(out, whole);
            assert!(held <= size + (40 << 10), "{held}");
        }
    }
}

/// However densely anchors stand, a parser looks at a bounded piece around each: so little is ever held, and the work for a text
/// is at most so many bytes for each of its bytes.
#[test]
fn dense_anchors_are_judged_within_a_bound() {
    for piece in [
        "password='",
        "token=",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "eyJ",
        "sk-",
        "Bearer ",
        "Authorization: Basic ",
        "\"password\":\n",
        "123456789:A",
        "curl -u",
        "--password ",
        "%",
        "password: |\n",
        "SECRET_KEY",
        "&sig=",
        "-----END PRIVATE KEY-----",
        "s3cretvalu",
        "hooks.slack.com/services/",
        "a1",
    ] {
        let text = piece.repeat((256 << 10) / piece.len());
        let whole = SCRUBBER.clean_text_with(&text, &known()).into_owned();
        let (out, held) = in_pieces(&known(), text.as_bytes().chunks(8192));
        assert!(out == whole, "{piece:?}");
        assert!(held <= 8192 + (40 << 10), "{piece:?} {held}");
    }
}

#[test]
fn a_clean_text_is_held_by_a_few_bytes_only() {
    let mut stream = SCRUBBER.stream(&known());
    let text = b"Downloading the file, please wait ... 50 % ";
    let out = stream.push(text);
    assert!(text.len() - out.len() <= 3, "{}", String::from_utf8_lossy(&out));
}

#[test]
fn a_stream_begins_anew_after_its_end() {
    let mut stream = SCRUBBER.stream(&known());
    for _ in 0..2 {
        let mut out = stream.push(b"password=hunter2");
        out.extend(stream.finish());
        assert_eq!(out, b"password=[REDACTED]");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn any_text_cut_anywhere(text in prop_oneof![1 => any::<String>(), 6 => fragments()], cuts in prop::collection::vec(0_usize..600, 0..8)) {
        let known = known();
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        let whole = SCRUBBER.clean_text_with(&text, &known).into_owned();
        prop_assert_eq!(&in_pieces(&known, pieces).0, &whole);
        prop_assert_eq!(&in_pieces(&known, bytes.chunks(1)).0, &whole);
        prop_assert!(!whole.contains("s3cretvalue") && !whole.contains("secret value 1"));
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(text in prop_oneof![1 => any::<String>(), 6 => fragments()]) {
        let scrubber = Scrubber::new();
        let once = scrubber.clean_text(&text).into_owned();
        let twice = scrubber.clean_text(&once).into_owned();
        prop_assert_eq!(twice, once);
    }
}
