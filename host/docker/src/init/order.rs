use std::ffi::OsString;
use std::fs::File;
use std::io::{Error, Read, Result};
use std::os::unix::ffi::OsStringExt;

/// One program, as the gateway orders it: words that each end with NUL.
#[derive(Debug, PartialEq, Eq)]
pub struct Order {
    /// Descriptors that each process may have open.
    pub open_files: u64,
    /// Bytes of each file that is written.
    pub file_size: u64,
    /// Seconds of CPU of each process.
    pub cpu_seconds: u64,
    /// Where it starts.
    pub directory: OsString,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    pub program: OsString,
    pub arguments: Vec<OsString>,
}

impl Order {
    pub fn read(mut file: File) -> Result<Self> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Self::parse(&bytes).ok_or_else(|| Error::other("an order that cannot be read"))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut words = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0);
        let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<u64>().ok();
        let [open_files, file_size, cpu_seconds, variables] = [number()?, number()?, number()?, number()?];
        let mut word = || Some(OsString::from_vec(words.next()?.to_vec()));
        let directory = word()?;
        let environment = (0..variables).map(|_| Some((word()?, word()?))).collect::<Option<_>>()?;
        let program = word()?;
        let arguments = std::iter::from_fn(word).collect();
        Some(Self { open_files, file_size, cpu_seconds, directory, environment, program, arguments })
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn words_are_read_as_they_were_given_and_what_is_cut_off_is_not_read() {
        let whole = b"8\x001024\x0060\x001\0/workspace/a b\0A\0x=\n\0sh\0-c\0\0";
        let order = Order::parse(whole);
        assert_eq!(
            order,
            Some(Order {
                open_files: 8,
                file_size: 1024,
                cpu_seconds: 60,
                directory: "/workspace/a b".into(),
                environment: vec![("A".into(), "x=\n".into())],
                program: "sh".into(),
                arguments: vec!["-c".into(), "".into()],
            })
        );
        for end in [0, 1, 10, 20, 30] {
            assert_eq!(Order::parse(whole.get(..end).unwrap_or_default()), None, "{end}");
        }
    }
}
