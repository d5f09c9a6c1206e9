//! Finds what was put in, in the forms that servers echo it, and masks it with as many asterisks, so that lengths stay.

use aho_corasick::{AhoCorasick, BuildError, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Forms shorter than this are common in any text; only a secret itself is masked at any length.
const MIN_FORM: usize = 4;

/// Finds secrets. Letter case is ignored: servers change it, and hexadecimal has two.
pub(crate) struct Needles {
    automaton: AhoCorasick,
    longest: usize,
}

impl Needles {
    /// From what was put into a request.
    pub(crate) fn new(secrets: &[&[u8]]) -> Result<Self, BuildError> {
        let forms: BTreeSet<Vec<u8>> =
            secrets.iter().filter(|s| !s.is_empty()).flat_map(|secret| forms(secret)).collect();
        let longest = forms.iter().map(Vec::len).max().unwrap_or(1);
        let automaton =
            AhoCorasick::builder().match_kind(MatchKind::Standard).ascii_case_insensitive(true).build(forms)?;
        Ok(Self { automaton, longest })
    }

    /// Whether a text has one.
    pub(crate) fn found_in(&self, text: &[u8]) -> bool {
        self.automaton.is_match(text)
    }

    /// Masks a whole text.
    pub(crate) fn mask(&self, text: &mut [u8]) {
        let matches: Vec<_> = self.automaton.find_overlapping_iter(&*text).map(|found| found.range()).collect();
        for range in matches {
            if let Some(found) = text.get_mut(range) {
                found.fill(b'*');
            }
        }
    }
}

/// Masks a stream, also across its chunks. Holds back as many bytes as a form may need to be complete.
pub(crate) struct Redactor {
    needles: Arc<Needles>,
    held: Vec<u8>,
    /// Which of `held` belong to a match that may have begun before them.
    masked: Vec<bool>,
    found: bool,
}

impl Redactor {
    pub(crate) fn new(needles: Arc<Needles>) -> Self {
        Self { needles, held: Vec::new(), masked: Vec::new(), found: false }
    }

    /// Whether anything was masked so far.
    pub(crate) fn found(&self) -> bool {
        self.found
    }

    /// Takes a chunk, gives what is settled.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(chunk);
        self.masked.resize(self.held.len(), false);
        for found in self.needles.automaton.find_overlapping_iter(&self.held) {
            self.found = true;
            if let Some(range) = self.masked.get_mut(found.range()) {
                range.fill(true);
            }
        }
        self.give(self.held.len().saturating_sub(self.needles.longest - 1))
    }

    /// Gives the rest.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        self.give(self.held.len())
    }

    fn give(&mut self, bytes: usize) -> Vec<u8> {
        self.held
            .drain(..bytes)
            .zip(self.masked.drain(..bytes))
            .map(|(byte, masked)| if masked { b'*' } else { byte })
            .collect()
    }
}

/// Every form in which a secret is looked for.
fn forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = base64_forms(secret);
    // Browsers, `encodeURI`, `encodeURIComponent`, forms and paths each leave other characters alone.
    for kept in ["", "-._~", "-._~!'()*", "-._~!$&'()*+,;=:@", "-._~!$&'()*+,;=:@/?#[]"] {
        forms.push(percent(secret, |byte| byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte)));
    }
    forms.push(percent(secret, |_| false));
    let spaces_as_plus = |form: Vec<u8>| String::from_utf8_lossy(&form).replace("%20", "+").into_bytes();
    forms.push(spaces_as_plus(percent(secret, |byte| byte.is_ascii_alphanumeric() || b"-._*".contains(&byte))));
    forms.push(hex(secret));
    if let Ok(text) = std::str::from_utf8(secret) {
        forms.extend(escaped_forms(text));
    }
    forms.retain(|form| form.len() >= MIN_FORM);
    forms.push(secret.to_vec());
    forms
}

/// Base64 within a longer text: for each of the three ways it can lie over the groups of three bytes, the characters that
/// depend on the secret alone; and the same with `+` and `/` percent-encoded.
fn base64_forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for before in 0..3_usize {
        let mut text = vec![0; before];
        text.extend_from_slice(secret);
        let skip = (before * 8).div_ceil(6);
        let whole = text.len() * 8 / 6;
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let form = engine.encode(&text).into_bytes();
            if let Some(certain) = form.get(skip..whole) {
                forms.push(percent(certain, |byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
                forms.push(certain.to_vec());
            }
        }
    }
    forms
}

fn percent(text: &[u8], kept: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut form = Vec::with_capacity(text.len());
    for byte in text {
        if kept(*byte) {
            form.push(*byte);
        } else {
            form.extend(format!("%{byte:02X}").bytes());
        }
    }
    form
}

fn hex(text: &[u8]) -> Vec<u8> {
    text.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

/// JSON as most, as some (`\/`, `\u003c`) and as the most careful encoders write it, and HTML.
fn escaped_forms(text: &str) -> Vec<Vec<u8>> {
    let unicode = |c: char| {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    let short = |c: char| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c.is_ascii_control() => unicode(c),
        c => c.to_string(),
    };
    let html = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        c => c.to_string(),
    };
    let each = |write: &dyn Fn(char) -> String| text.chars().map(write).collect::<String>().into_bytes();
    vec![
        each(&short),
        each(&|c| if c == '/' { "\\/".into() } else { short(c) }),
        each(&|c| if matches!(c, '<' | '>' | '&' | '\'') { unicode(c) } else { short(c) }),
        each(&|c| if c.is_ascii() { short(c) } else { unicode(c) }),
        each(&|c| if c.is_ascii_alphanumeric() { c.to_string() } else { unicode(c) }),
        each(&unicode),
        each(&html),
        each(&|c| if c == '\'' { "&#x27;".into() } else { html(c) }),
    ]
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use proptest::prelude::*;

    const SECRET: &str = "s3cr+t/\"va<l&ue ü=";

    fn redactor(secret: &str) -> Redactor {
        Redactor::new(Arc::new(Needles::new(&[secret.as_bytes()]).unwrap()))
    }

    fn all(redactor: &mut Redactor, chunks: &[&[u8]]) -> Vec<u8> {
        let mut out: Vec<u8> = chunks.iter().flat_map(|chunk| redactor.push(chunk)).collect();
        out.extend(redactor.finish());
        out
    }

    #[test]
    fn every_form_is_masked_and_the_rest_kept() {
        let json = format!("{SECRET:?}");
        let forms = [
            SECRET.to_owned(),
            SECRET.to_uppercase().replace('Ü', "ü"),
            "s3cr%2Bt%2F%22va%3Cl%26ue%20%C3%BC%3D".to_owned(),
            "s3cr%2bt%2f%22va%3cl%26ue+%c3%bc%3d".to_owned(),
            json.trim_matches('"').to_owned(),
            "s3cr+t\\/\\\"va<l&ue ü=".to_owned(),
            "s3cr+t/\\\"va\\u003cl\\u0026ue ü=".to_owned(),
            "s3cr+t/&quot;va&lt;l&amp;ue ü=".to_owned(),
            String::from_utf8(hex(SECRET.as_bytes())).unwrap().to_uppercase(),
        ];
        for form in forms {
            let text = format!("before {form} after");
            let out = all(&mut redactor(SECRET), &[text.as_bytes()]);
            assert_eq!(String::from_utf8(out).unwrap(), format!("before {} after", "*".repeat(form.len())), "{form}");
        }
        assert_eq!(all(&mut redactor(SECRET), &[b"nothing of the kind: s3cr+t"]), b"nothing of the kind: s3cr+t");
    }

    proptest! {
        #[test]
        fn base64_of_anything_around_it_gives_nothing_back(secret in "[ -~]{8,40}", before in "[ -~]{0,8}", after in "[ -~]{0,8}") {
            for engine in [&STANDARD, &URL_SAFE] {
                let text = engine.encode(format!("{before}{secret}{after}"));
                let out = String::from_utf8(all(&mut redactor(&secret), &[text.as_bytes()])).unwrap();
                let left = out.replace('*', "A");
                let decoded = engine.decode(left).unwrap();
                // At most one byte at each end is left half.
                let middle = secret.as_bytes().get(1..secret.len() - 1).unwrap();
                prop_assert!(!decoded.windows(middle.len()).any(|window| window == middle), "{} {}", text, out);
            }
        }

        #[test]
        fn cuts_between_chunks_change_nothing(secret in "[a-c]{4,9}", text in "[a-c]{0,64}", cuts in proptest::collection::vec(0_usize..64, 0..6)) {
            let whole = all(&mut redactor(&secret), &[text.as_bytes()]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).collect();
            prop_assert_eq!(&all(&mut redactor(&secret), &chunks), &whole);
            prop_assert_eq!(whole.len(), text.len());
            prop_assert!(!String::from_utf8(whole).unwrap().contains(&secret));
        }
    }
}
