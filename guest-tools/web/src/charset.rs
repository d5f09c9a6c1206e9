//! From the bytes of a page to its text.

use encoding_rs::{Encoding, UTF_8};

/// How far into a page it may say its own encoding.
const SNIFFED: usize = 1024;

/// Decodes a body: by its byte order mark, the header's `charset`, what the page says of itself, else UTF-8; what does not fit is
/// replaced.
pub fn decode(body: &[u8], content_type: &str) -> String {
    let named = parameter(content_type).or_else(|| declared(body)).unwrap_or(UTF_8);
    // A byte order mark wins over it.
    named.decode(body).0.into_owned()
}

/// `charset=…` of a header or a meta element.
fn parameter(text: &str) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    let (_, value) = lower.split_once("charset")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c)).unwrap_or(value.len());
    Encoding::for_label(value.get(..end)?.as_bytes())
}

fn declared(body: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(body.get(..SNIFFED).unwrap_or(body)).to_ascii_lowercase();
    if let Some(declaration) = start.strip_prefix("<?xml") {
        let (_, label) = declaration.split_once("encoding")?;
        return Encoding::for_label(label.split(['"', '\'']).nth(1)?.as_bytes());
    }
    let mut rest = start.as_str();
    while let Some((_, meta)) = rest.split_once("<meta") {
        let (inside, after) = meta.split_once('>').unwrap_or((meta, ""));
        if let Some(encoding) = parameter(inside) {
            // What could be read this far was no UTF-16, whatever it says.
            return Some(if encoding.is_ascii_compatible() { encoding } else { UTF_8 });
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_replaced() {
        assert_eq!(decode(b"a\xffb", "text/plain"), "a\u{fffd}b");
        assert_eq!(decode(b"a", "text/plain; charset=nonsense"), "a");
    }

    #[test]
    fn encodings_are_found() {
        for (body, content_type) in [
            (&b"\xe9"[..], "text/html; charset=ISO-8859-1"),
            (b"\xe9", "text/html; Charset=\"windows-1252\""),
            (b"\xc3\xa9", "text/plain"),
            (b"\xef\xbb\xbf\xc3\xa9", "text/plain; charset=latin1"),
            (b"\xff\xfe\xe9\x00", "text/plain"),
        ] {
            assert_eq!(decode(body, content_type), "é", "{content_type}");
        }
        assert!(decode(b"<html><meta name=x><META charset=latin1>\xe9", "text/html").ends_with('é'));
        assert!(
            decode(b"<meta http-equiv=\"Content-Type\" content=\"text/html; charset=koi8-r\">\xc1", "").ends_with('а')
        );
        assert!(decode(b"<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\xe9", "").ends_with('é'));
        assert!(decode(b"<meta charset=utf-16>\xc3\xa9", "").ends_with('é'));
        assert_eq!(decode(b"\x93\xfa\x96\x7b", "text/html; charset=shift_jis"), "日本");
    }
}
