//! A key of each row of the table goes, and what only begins like one stays.

use caisson_scrub::{Alphabet, PROVIDERS, Provider, REDACTED, Scrubber};
use std::collections::BTreeSet;

/// What stands after a prefix: as varied as a key, the same each time.
fn tail(row: &Provider, length: usize) -> String {
    let letters: &[u8] = match row.alphabet {
        Alphabet::Hex => b"3fa90c7be1d65824",
        Alphabet::Upper => b"K7QX2MZP9RTA4VBN",
        _ => b"k7Q2mZp9RtA4vBn8XcW5",
    };
    letters.iter().cycle().take(length).map(|byte| char::from(*byte)).collect()
}

#[test]
fn many_services_are_known() {
    let services: BTreeSet<&str> = PROVIDERS.iter().map(|row| row.service).collect();
    assert!(services.len() >= 80, "{}", services.len());
    let prefixes: BTreeSet<&str> = PROVIDERS.iter().map(|row| row.prefix).collect();
    assert_eq!(prefixes.len(), PROVIDERS.len(), "a prefix stands twice");
    for (place, row) in PROVIDERS.iter().enumerate() {
        let hidden = PROVIDERS.iter().take(place).find(|before| row.prefix.starts_with(before.prefix));
        assert!(hidden.is_none(), "{} stands after {}", row.prefix, hidden.map_or("", |row| row.prefix));
        assert!(row.least <= row.most && row.prefix.len() + row.least >= 14, "{}", row.prefix);
    }
}

#[test]
fn what_is_too_short_or_in_a_word_stays_and_a_key_goes() {
    let scrubber = Scrubber::new();
    for row in PROVIDERS {
        let almost = format!("see {}{} there", row.prefix, tail(row, row.least - 1));
        // Of two rows that begin alike, the shorter prefix may still find it.
        let shorter = PROVIDERS.iter().any(|other| other.prefix != row.prefix && row.prefix.starts_with(other.prefix));
        if !shorter {
            assert_eq!(scrubber.clean_text(&almost), almost, "{}", row.service);
            let within = format!("see q{}{} there", row.prefix, tail(row, row.least));
            assert_eq!(scrubber.clean_text(&within), within, "{}", row.service);
        }
        let key = format!("{}{}", row.prefix, tail(row, row.least));
        for (before, after) in [
            ("", ""),
            ("see ", " there"),
            ("{\"k\":\"", "\"}"),
            ("\\n", "\\n"),
            ("(", ")."),
            ("https://a.example/?k=", "&b=c"),
        ] {
            let explained = scrubber.explain(&format!("{before}{key}{after}"));
            assert_eq!(explained.text, format!("{before}{REDACTED}{after}"), "{}", row.service);
            assert_eq!(explained.classes, [row.class], "{}", row.service);
        }
    }
}

#[test]
fn what_is_longer_than_a_key_can_be_stays() {
    for row in PROVIDERS.iter().filter(|row| row.most < usize::MAX) {
        let longer = format!("{}{}", row.prefix, tail(row, row.most + 1));
        assert_eq!(Scrubber::new().clean_text(&longer), longer, "{}", row.service);
    }
}
