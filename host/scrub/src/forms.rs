//! The forms in which a value leaves: as it is, and as encoders write it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::BTreeSet;

/// Shorter forms are common in any text.
const LEAST_FORM: usize = 6;

/// Adds every form in which a value is looked for.
pub(crate) fn add(value: &str, forms: &mut BTreeSet<Vec<u8>>) {
    let mut all = base64_forms(value.as_bytes());
    all.extend(percent_forms(value.as_bytes()));
    all.extend(hex_forms(value.as_bytes()));
    all.extend(escaped_forms(value));
    all.retain(|form| form.len() >= LEAST_FORM);
    all.push(value.as_bytes().to_vec());
    forms.extend(all);
}

/// Base64 within a longer text: for each of the three ways in which it can lie over the groups of three bytes, the characters
/// that depend on the value alone; and the same with `+` and `/` escaped for URLs and for JSON. Where it is all that was
/// encoded, its last character and padding go too.
fn base64_forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for before in 0..3_usize {
            let mut text = vec![0; before];
            text.extend_from_slice(value);
            let encoded = engine.encode(&text);
            let from = (before * 8).div_ceil(6);
            let certain = encoded.get(from..text.len() * 8 / 6).unwrap_or_default();
            let to_its_end = encoded.get(from..).unwrap_or_default();
            let padding = "=".repeat((4 - encoded.len() % 4) % 4);
            for form in [certain.to_owned(), to_its_end.to_owned(), format!("{to_its_end}{padding}")] {
                forms.push(form.replace('/', "\\/").into_bytes());
                forms.push(form.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D").into_bytes());
                forms.push(form.replace('+', "%2b").replace('/', "%2f").replace('=', "%3d").into_bytes());
                forms.push(form.into_bytes());
            }
        }
    }
    forms
}

/// Browsers, `encodeURI`, `encodeURIComponent`, forms and paths each leave other characters alone.
fn percent_forms(value: &[u8]) -> Vec<Vec<u8>> {
    const KEPT: [&str; 6] = ["", "-._~", "-._~/", "-._~!'()*", "-._~!$&'()*+,;=:@", "-._~!$&'()*+,;=:@/?#[]"];
    let mut forms = Vec::new();
    for upper in [true, false] {
        forms.push(percent(value, upper, |_| false));
        for kept in KEPT {
            let form = percent(value, upper, |b| b.is_ascii_alphanumeric() || kept.as_bytes().contains(&b));
            forms.push(form.replace("%20", "+"));
            forms.push(form);
        }
        forms.push(percent(value, upper, |b| b.is_ascii_alphanumeric() || b"-._*".contains(&b)).replace("%20", "+"));
    }
    // Encoded twice: an address within an address.
    let twice = percent(value, true, |b| b.is_ascii_alphanumeric() || b"-._~".contains(&b)).replace('%', "%25");
    forms.push(twice);
    forms.into_iter().map(String::into_bytes).collect()
}

fn percent(text: &[u8], upper: bool, kept: impl Fn(u8) -> bool) -> String {
    let mut form = String::with_capacity(text.len() * 3);
    for byte in text {
        match byte {
            kept_byte if kept(*kept_byte) => form.push(char::from(*byte)),
            _ if upper => form.push_str(&format!("%{byte:02X}")),
            _ => form.push_str(&format!("%{byte:02x}")),
        }
    }
    form
}

/// Digits alone, after `\x`, and as dumps write them.
fn hex_forms(value: &[u8]) -> Vec<Vec<u8>> {
    let lower: Vec<String> = value.iter().map(|byte| format!("{byte:02x}")).collect();
    let upper: Vec<String> = value.iter().map(|byte| format!("{byte:02X}")).collect();
    let joined = |digits: &[String], with: &str| digits.join(with).into_bytes();
    let mut forms: Vec<Vec<u8>> = Vec::new();
    for digits in [&lower, &upper] {
        forms.extend(["", " ", ":", "\\x", "\\\\x"].map(|with| joined(digits, with)));
    }
    forms
}

/// JSON as most, as some (`\/`, `\u003c`) and as the most careful encoders write it, JSON in JSON, and HTML.
fn escaped_forms(text: &str) -> Vec<Vec<u8>> {
    let each = |write: &dyn Fn(char) -> String| text.chars().map(write).collect::<String>();
    let mut forms = vec![each(&html), each(&|c| if c == '\'' { "&#x27;".into() } else { html(c) })];
    for upper in [false, true] {
        let unicode = |c: char| unicode(c, upper);
        let short = |c: char| match c {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            '\u{8}' => "\\b".to_owned(),
            '\u{c}' => "\\f".to_owned(),
            c if c.is_ascii_control() => unicode(c),
            c => c.to_string(),
        };
        let slash = |c: char| if c == '/' { "\\/".into() } else { short(c) };
        let markup = |c: char| matches!(c, '<' | '>' | '&' | '\'' | '\u{7f}' | '\u{2028}' | '\u{2029}');
        forms.extend([
            each(&short),
            each(&slash),
            each(&|c| if matches!(c, '<' | '>' | '&') { unicode(c) } else { short(c) }),
            each(&|c| if markup(c) { unicode(c) } else { short(c) }),
            each(&|c| if c.is_ascii() { short(c) } else { unicode(c) }),
            each(&|c| if c.is_ascii() { slash(c) } else { unicode(c) }),
            each(&|c| if c.is_ascii() && !markup(c) { short(c) } else { unicode(c) }),
            each(&|c| if c == '"' || c == '\\' || markup(c) || !c.is_ascii() { unicode(c) } else { short(c) }),
            each(&|c| if c.is_ascii_alphanumeric() { c.to_string() } else { unicode(c) }),
            each(&unicode),
        ]);
        let once = each(&short);
        forms.push(once.replace('\\', "\\\\").replace('"', "\\\""));
        forms.push(each(&unicode).replace('\\', "\\\\"));
    }
    forms.into_iter().map(String::into_bytes).collect()
}

fn unicode(c: char, upper: bool) -> String {
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units).iter();
    units.map(|unit| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") }).collect()
}

fn html(c: char) -> String {
    match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        c => c.to_string(),
    }
}
