//! Any text.

use caisson_scrub::{Scrubber, Secrets};
use proptest::prelude::*;

/// Texts made of what the parsers look for.
fn fragments() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "password",
        "token",
        "=",
        ": ",
        "\"",
        "\\\"",
        "'",
        "`",
        "$",
        "$(",
        "sk-",
        "eyJ",
        ".",
        "://",
        "user:pw@",
        "postgres",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "Bearer ",
        "Basic ",
        "Authorization",
        "abcdefgh12345678",
        "ABCDEFGHIJKLMNOP",
        "0123456789abcdef",
        "é",
        "\u{10ffff}",
        "\n",
        " ",
        "--api-key ",
        "SECRET_KEY=",
        "VIRTUAL_X=",
        "%",
        "123456789:",
        "&",
        "?",
        "\\",
        "hooks.slack.com/services/",
        "[REDACTED]",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn no_text_panics_and_what_is_clean_stays(text in prop_oneof![any::<String>(), fragments()]) {
        let scrubber = Scrubber::new();
        let secrets = Secrets::new(["é12345", "token="]);
        let _ = scrubber.clean_text_with(&text, &secrets);
        let once = scrubber.clean_text(&text).into_owned();
        let twice = scrubber.clean_text(&once).into_owned();
        prop_assert!(twice.matches("[REDACTED]").count() >= once.matches("[REDACTED]").count().min(1));
    }

    #[test]
    fn a_known_value_never_leaves(before in any::<String>(), after in any::<String>(), value in "[a-zA-Z0-9/+=é ]{6,40}") {
        let text = format!("{before}{value}{after}");
        let cleaned = Scrubber::new().clean_text_with(&text, &Secrets::new([&value])).into_owned();
        prop_assert!(!cleaned.contains(&value) || "[REDACTED]".contains(&value));
    }
}
