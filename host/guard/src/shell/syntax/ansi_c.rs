//! Escapes of `$'…'`.

/// The text that `$'…'` stands for, given what is between its quotes. None where it holds a byte of zero, at which bash
/// forgets the rest and others do not. Bytes that are no UTF-8 become U+FFFD.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        out.extend_from_slice(plain.as_bytes());
        let Some(letter) = escaped.chars().next() else {
            out.push(b'\\');
            rest = "";
            continue;
        };
        let behind = escaped.get(letter.len_utf8()..).unwrap_or_default();
        rest = escape(letter, escaped, behind, &mut out);
    }
    out.extend_from_slice(rest.as_bytes());
    if out.contains(&0) { None } else { Some(String::from_utf8_lossy(&out).into_owned()) }
}

/// Decodes one escape and returns what is behind it.
fn escape<'t>(letter: char, escaped: &'t str, behind: &'t str, out: &mut Vec<u8>) -> &'t str {
    let simple = match letter {
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 27,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '?' => u8::try_from(letter).unwrap_or(b'?'),
        '0'..='7' => {
            let (value, rest) = number(escaped, 8, 3);
            out.push(u8::try_from(value & 0xff).unwrap_or_default());
            return rest;
        }
        'x' | 'u' | 'U' => return hexadecimal(letter, behind, out),
        'c' => {
            let Some(control) = behind.chars().next() else { return behind };
            out.push(u8::try_from(u32::from(control) & 0x1f).unwrap_or_default());
            return behind.get(control.len_utf8()..).unwrap_or_default();
        }
        other => {
            out.push(b'\\');
            out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            return behind;
        }
    };
    out.push(simple);
    behind
}

fn hexadecimal<'t>(letter: char, behind: &'t str, out: &mut Vec<u8>) -> &'t str {
    let braced = letter == 'x' && behind.starts_with('{');
    let digits = if braced { behind.get(1..).unwrap_or_default() } else { behind };
    let most = match letter {
        'x' if braced => 8,
        'x' => 2,
        'u' => 4,
        _ => 8,
    };
    let (value, rest) = number(digits, 16, most);
    if rest.len() == digits.len() {
        out.push(b'\\');
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        return behind;
    }
    if letter == 'x' {
        out.push(u8::try_from(value & 0xff).unwrap_or_default());
    } else {
        let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    if braced { rest.strip_prefix('}').unwrap_or(rest) } else { rest }
}

/// A number of at most so many digits at the start of the text, and the rest.
fn number(text: &str, base: u32, most: usize) -> (u32, &str) {
    let length = text.bytes().take(most).take_while(|byte| char::from(*byte).is_digit(base)).count();
    let (digits, rest) = text.split_at_checked(length).unwrap_or(("", text));
    (u32::from_str_radix(digits, base).unwrap_or_default(), rest)
}
