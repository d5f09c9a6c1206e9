//! The output of commands that only print what stands on the line.

use crate::shell::reach::Scan;
use crate::shell::seen::{Input, Invocation};
use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};

/// Reads base64 with or without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Decodes base64, blanks dropped, as the tools do.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    LENIENT.decode(&text).or_else(|_| general_purpose::URL_SAFE_NO_PAD.decode(&text)).ok()
}

impl Scan {
    /// What an invocation prints, where that is certain; `piped` is the known text of the pipe it reads.
    pub(crate) fn output(&self, invocation: &Invocation, piped: Option<&str>) -> Option<String> {
        let name = invocation.program.as_ref()?.known()?;
        let own = !self.tally.functions.iter().any(|function| function == name) && !self.tally.set.contains_key("PATH");
        let redirected = invocation.redirects.iter().any(|redirect| redirect.fd != Some(0));
        if !own || redirected || !invocation.assignments.is_empty() {
            return None;
        }
        let args: Vec<&str> = invocation.args.iter().map(|arg| arg.known()).collect::<Option<_>>()?;
        let input = || match &invocation.stdin {
            Input::Text(word) => word.known(),
            Input::Pipe(_) => piped,
            _ => None,
        };
        match (name, args.as_slice()) {
            ("echo" | "printf", args) => printed(name, args),
            ("cat", [] | ["-"]) => input().map(str::to_owned),
            ("base64", ["-d" | "-D" | "--decode"]) => String::from_utf8(decode_base64(input()?)?).ok(),
            ("tee", args) if args.iter().all(|arg| !arg.starts_with('-')) => input().map(str::to_owned),
            _ => None,
        }
    }
}

/// What `echo` or `printf` prints for these words, where every shell prints the same.
pub(crate) fn printed(name: &str, args: &[&str]) -> Option<String> {
    match (name, args) {
        ("echo", args) => echo(args),
        ("printf", [format, args @ ..]) => printf(format, args),
        _ => None,
    }
}

/// `echo`; some shells read escapes in it, and options beside `-n`.
fn echo(args: &[&str]) -> Option<String> {
    let (args, end) = match args {
        ["-n", args @ ..] => (args, ""),
        args => (args, "\n"),
    };
    let options = args.first().is_some_and(|arg| arg.starts_with('-'));
    if options || args.iter().any(|arg| arg.contains('\\')) {
        return None;
    }
    Some(args.join(" ") + end)
}

/// `printf` with `%s`, `%%` and the escapes that every shell knows; its format is used again while arguments are left.
fn printf(format: &str, args: &[&str]) -> Option<String> {
    let mut out = String::new();
    let mut args = args.iter();
    loop {
        let before = args.len();
        let mut rest = format;
        while let Some(at) = rest.find(['%', '\\']) {
            out.push_str(rest.get(..at)?);
            let (skip, text) = match rest.as_bytes().get(at..)? {
                [b'%', b's', ..] => (2, args.next().copied().unwrap_or_default().to_owned()),
                [b'%', b'%', ..] => (2, "%".to_owned()),
                [b'\\', b'n', ..] => (2, "\n".to_owned()),
                [b'\\', b't', ..] => (2, "\t".to_owned()),
                [b'\\', b'\\', ..] => (2, "\\".to_owned()),
                [b'\\', digits @ ..] => octal(digits)?,
                _ => return None,
            };
            out.push_str(&text);
            rest = rest.get(at + skip..)?;
        }
        out.push_str(rest);
        // Each round takes at least one argument, and the text grows by what stands on the line.
        if args.len() == 0 || args.len() == before || out.len() > crate::shell::seen::MAX_TEXT {
            return (args.len() == 0 || args.len() == before).then_some(out);
        }
    }
}

/// `\NNN` behind its `\`: how many bytes it is, and what it stands for.
fn octal(digits: &[u8]) -> Option<(usize, String)> {
    let length = digits.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let value = digits.iter().take(length).fold(0_u32, |value, byte| value * 8 + u32::from(byte - b'0'));
    if length == 0 || !(1..128).contains(&value) {
        return None;
    }
    Some((length + 1, char::from_u32(value)?.to_string()))
}
