//! Codes and digests.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD};
use caisson_sdk::ToolError;
use sha2::{Digest, Sha256};

pub fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

/// Takes both alphabets, with padding or without, and white space in it.
pub fn from_base64(text: &str) -> Result<String, ToolError> {
    const ANY_PADDING: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let plain: String = text.split_whitespace().collect::<String>().replace('-', "+").replace('_', "/");
    let bytes = GeneralPurpose::new(&alphabet::STANDARD, ANY_PADDING).decode(plain);
    as_text(bytes.map_err(|error| ToolError::invalid_arguments(format!("`text` is not base64: {error}")))?)
}

/// Percent-encoding of everything but the unreserved characters of RFC 3986.
pub fn url(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// `+` is a space, as in forms.
pub fn from_url(text: &str) -> Result<String, ToolError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes().iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits: Vec<u8> = rest.by_ref().take(2).copied().collect();
                let value =
                    std::str::from_utf8(&digits).ok().filter(|digits| digits.len() == 2 && !digits.starts_with('+'));
                let value = value.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or_else(|| {
                    let shown = String::from_utf8_lossy(&digits).into_owned();
                    ToolError::invalid_arguments(format!("`%{shown}` is no percent-code; a bare `%` is written `%25`"))
                })?;
                bytes.push(value);
            }
            other => bytes.push(*other),
        }
    }
    as_text(bytes)
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn from_hex(text: &str) -> Result<String, ToolError> {
    let plain: String = text.split_whitespace().collect();
    let plain = plain.strip_prefix("0x").unwrap_or(&plain);
    if !plain.len().is_multiple_of(2) {
        return Err(ToolError::invalid_arguments(format!(
            "`text` has {} digits; hexadecimal needs an even number",
            plain.len()
        )));
    }
    let pairs = plain.as_bytes().chunks(2).map(|pair| {
        std::str::from_utf8(pair)
            .ok()
            .filter(|pair| !pair.starts_with('+'))
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
    });
    let bytes: Option<Vec<u8>> = pairs.collect();
    as_text(bytes.ok_or_else(|| ToolError::invalid_arguments("`text` is not hexadecimal; use the digits 0-9 and a-f"))?)
}

pub fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// With its name before it: the host takes a bare run of so many digits for a key and removes it.
pub fn sha256(text: &str) -> String {
    format!("sha256:{}", hex(&Sha256::digest(text.as_bytes())))
}

fn as_text(bytes: Vec<u8>) -> Result<String, ToolError> {
    String::from_utf8(bytes).map_err(|error| {
        let bytes = error.into_bytes();
        let start = hex(bytes.get(..bytes.len().min(32)).unwrap_or_default());
        ToolError::invalid_arguments(format!(
            "it decodes to {} bytes that are not text; they begin with hex {start}",
            bytes.len()
        ))
    })
}
