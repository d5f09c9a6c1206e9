//! A registered value leaves in no form that is listed, in whichever layer it was registered.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use caisson_call::TenantId;
use caisson_scrub::{Ignored, REDACTED, Scrubber, SecretCache, Secrets};
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

static SCRUBBER: LazyLock<Arc<Scrubber>> = LazyLock::new(|| Arc::new(Scrubber::new()));

fn cleaned(text: &str, value: &str) -> String {
    SCRUBBER.clean_text_with(text, &Secrets::new([value])).into_owned()
}

fn escaped(value: &str, each: impl Fn(char) -> bool, upper: bool) -> String {
    let mut out = String::new();
    for c in value.chars() {
        let mut units = [0; 2];
        match c {
            _ if each(c) => c.encode_utf16(&mut units).iter().for_each(|unit| {
                out.push_str(&if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
            }),
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out
}

fn forms(value: &str) -> Vec<String> {
    let mut all = vec![value.to_owned()];
    for upper in [false, true] {
        all.push(value.bytes().map(|b| if upper { format!("{b:02X}") } else { format!("{b:02x}") }).collect());
        all.push(value.bytes().map(|b| if upper { format!("\\x{b:02X}") } else { format!("\\x{b:02x}") }).collect());
        all.push(value.bytes().map(|b| if upper { format!("%{b:02X}") } else { format!("%{b:02x}") }).collect());
        all.push(escaped(value, |c| !c.is_ascii(), upper));
        all.push(escaped(value, |_| true, upper));
        all.push(escaped(value, |c| "<>&".contains(c), upper));
    }
    let json = serde_json::to_string(value).unwrap();
    let twice = serde_json::to_string(&json).unwrap();
    all.push(json[1..json.len() - 1].to_owned());
    all.push(twice[3..twice.len() - 3].to_owned());
    all
}

#[test]
fn what_is_too_short_or_the_marker_itself_is_refused_with_a_reason() {
    assert_eq!(Secrets::why_ignored("12345"), Some(Ignored::TooShort));
    assert_eq!(Secrets::why_ignored("üüüüü"), Some(Ignored::TooShort));
    assert_eq!(Secrets::why_ignored("REDACTED"), Some(Ignored::PartOfMarker));
    assert_eq!(Secrets::why_ignored("üüüüüü"), None);
    assert!(
        Ignored::TooShort.to_string().contains("6 characters") && Ignored::PartOfMarker.to_string().contains(REDACTED)
    );
    assert_eq!(cleaned("REDACTED 12345", "REDACTED"), "REDACTED 12345");
    assert_eq!(cleaned("REDACTED 123456", "123456"), "REDACTED [REDACTED]");
}

#[test]
fn layers_lie_beside_each_other_and_do_not_hide_each_other() {
    let gateway = Secrets::new(["abcdefgh"]);
    let tenant = gateway.and(&Secrets::new(["efghijkl"]));
    let call = tenant.and(&Secrets::new(["ijklmnop"]));
    assert_eq!(SCRUBBER.clean_text_with("-abcdefghijklmnop-", &call), "-[REDACTED]-");
    assert_eq!(SCRUBBER.clean_text_with("-abcdefghijklmnop-", &tenant), "-[REDACTED]mnop-");
    assert_eq!(SCRUBBER.clean_text_with("-abcdefghijklmnop-", &gateway), "-[REDACTED]ijklmnop-");
    assert!(Secrets::none().and(&Secrets::none()).is_empty() && !call.is_empty());
}

#[test]
fn overlapping_values_go_whole() {
    let known = Secrets::new(["abcdefgh", "ghijklmn", "defghi"]);
    assert_eq!(SCRUBBER.clean_text_with("xabcdefghijklmnx", &known), "x[REDACTED]x");
    assert_eq!(SCRUBBER.explain_with("xdefghix", &known).classes, ["known-value"]);
}

#[test]
fn lines_of_a_long_key_go_alone_too() {
    let key = "-----BEGIN X-----\nk7Q2mZp9RtA4vBn8XcW5\nXcW5k7Q2mZp9RtA4vBn8\n-----END X-----";
    assert_eq!(cleaned("  XcW5k7Q2mZp9RtA4vBn8\n-----BEGIN X-----", key), "  [REDACTED]\n-----BEGIN X-----");
}

#[test]
fn a_tenants_values_are_built_once_an_epoch_and_given_to_no_other() {
    let cache = SecretCache::default();
    let [one, two] = ["one", "two"].map(|name| TenantId::new(name).unwrap());
    let find = |known: &Secrets, text: &str| SCRUBBER.clean_text_with(text, known).into_owned();
    let first = cache.get_or(&one, 1, || ["value-of-one"]);
    assert_eq!(find(&first, "value-of-one"), REDACTED);
    assert!(cache.get(&two, 1).is_none() && cache.get(&one, 2).is_none());
    let other = cache.get_or(&two, 1, || ["value-of-two"]);
    assert_eq!(find(&other, "value-of-one value-of-two"), "value-of-one [REDACTED]");
    // Not built again.
    let again = cache.get_or(&one, 1, || -> [&str; 1] { panic!("it is kept") });
    assert_eq!(find(&again, "value-of-one"), REDACTED);
    // A late builder of an old epoch does not take back a newer one.
    cache.put(&one, 3, &Secrets::new(["value-three"]));
    cache.put(&one, 2, &Secrets::new(["value-second"]));
    assert!(cache.get(&one, 2).is_none());
    assert_eq!(find(&cache.get(&one, 3).unwrap(), "value-three"), REDACTED);
    cache.forget(&one);
    assert!(cache.get(&one, 3).is_none());
}

#[test]
fn the_cache_is_bounded_and_keeps_what_is_used() {
    let cache = SecretCache::default();
    let name = |number: usize| TenantId::new(&format!("t{number}")).unwrap();
    for number in 0..1100 {
        let _ = cache.get_or(&name(number), 1, || ["abcdef"]);
        assert!(cache.get(&name(0), 1).is_some());
    }
    assert!(cache.get(&name(1), 1).is_none());
}

proptest! {
    #[test]
    fn no_listed_form_leaves(value in "[a-zA-Z0-9/+=<>&\"\\\\\n é\u{1f511}]{6,24}", before in "[ -Z^-~é]{0,6}", after in "[ -Z^-~é]{0,6}") {
        prop_assume!(Secrets::why_ignored(&value).is_none());
        for form in forms(&value) {
            let out = cleaned(&format!("{before}{form}{after}"), &value);
            prop_assert!(out.contains(REDACTED) && !out.contains(&form), "{} {}", form, out);
        }
        for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD] {
            let text = engine.encode(format!("{before}{value}{after}"));
            let out = cleaned(&text, &value);
            // What depends on the value alone is gone: what is left is what stood beside it.
            let left = out.replace(REDACTED, "");
            prop_assert!(out.contains(REDACTED) && left.len() <= (before.len() + after.len()) * 4 / 3 + 8, "{} {}", text, out);
        }
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(value in "[a-z0-9]{6,12}", words in prop::collection::vec("[a-z=:\" ]{0,8}", 1..6)) {
        let known = Secrets::new([&value]);
        let text = words.join(&format!(" {value} "));
        let once = SCRUBBER.clean_text_with(&text, &known).into_owned();
        prop_assert_eq!(SCRUBBER.clean_text_with(&once, &known).into_owned(), once);
    }
}
