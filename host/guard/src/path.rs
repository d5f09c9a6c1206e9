//! Globs on URL paths, and the paths they cannot judge.

/// Whether a glob matches a path. `*` is any run within a segment, `**` any run at all, everything else itself. Takes time
/// in proportion to glob times path, whatever the glob.
#[must_use]
pub fn glob_matches(glob: &str, path: &str) -> bool {
    let glob = glob.as_bytes();
    // `reached[i]`: the first `i` bytes of the path can be matched by the part of the glob read so far.
    let mut reached = vec![false; path.len() + 1];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    let mut rest = glob;
    while let Some((first, after)) = rest.split_first() {
        reached = match (first, after) {
            (b'*', [b'*', after @ ..]) => {
                rest = after;
                spread(&reached, path, |_| true)
            }
            (b'*', after) => {
                rest = after;
                spread(&reached, path, |byte| byte != b'/')
            }
            (literal, after) => {
                rest = after;
                std::iter::once(false)
                    .chain(reached.iter().zip(path.bytes()).map(|(here, byte)| *here && byte == *literal))
                    .collect()
            }
        };
    }
    reached.last().copied().unwrap_or(false)
}

fn spread(reached: &[bool], path: &str, crosses: impl Fn(u8) -> bool) -> Vec<bool> {
    let mut open = false;
    // Beside each position, the byte before it.
    let bytes = std::iter::once(None).chain(path.bytes().map(Some));
    reached
        .iter()
        .zip(bytes)
        .map(|(here, byte)| {
            open = *here || (open && byte.is_some_and(&crosses));
            open
        })
        .collect()
}

/// Whether a server might read the path as another one than is written: `.` or `..` segments (also with parameters, as in
/// `..;x`), empty segments, backslashes, NUL, slashes that are encoded, all of it also when encoded twice or thrice.
/// `%2e` within a longer name is a legal name.
#[must_use]
pub fn hidden_step(path: &str) -> bool {
    let mut stage: Vec<u8> = path.as_bytes().to_vec();
    let slashes = count_slashes(&stage);
    for _ in 0..4 {
        if steps(&stage) || count_slashes(&stage) != slashes {
            return true;
        }
        let decoded = percent_decode(&stage);
        if decoded == stage {
            return false;
        }
        stage = decoded;
    }
    // Encoded deeper than anybody has a reason to.
    true
}

fn steps(path: &[u8]) -> bool {
    if path.iter().any(|byte| matches!(byte, b'\\' | 0)) || path.windows(2).any(|pair| pair == b"//") {
        return true;
    }
    path.split(|byte| *byte == b'/').any(|segment| {
        let name = segment.split(|byte| *byte == b';').next().unwrap_or_default();
        name == b"." || name == b".."
    })
}

fn count_slashes(path: &[u8]) -> usize {
    path.iter().filter(|byte| **byte == b'/').count()
}

fn percent_decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        match (first, after) {
            (b'%', [high, low, tail @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                decoded.push((digit(*high) << 4) | digit(*low));
                rest = tail;
            }
            _ => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    decoded
}

fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20).wrapping_sub(b'a').wrapping_add(10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hidden_steps_are_found_and_legal_names_are_not_mistaken_for_them() {
        let hidden = [
            "/a/../b",
            "/a/./b",
            "/..",
            "//a",
            "/a//b",
            "/a/%2e%2e/b",
            "/a/%2E./b",
            "/a/..%2fb",
            "/a%5cb",
            "/a\\b",
            "/a/%252e%252e/b",
            "/a/..;x/b",
            "/a/%2e%2e;/b",
            "/a%00",
            "/a/%25252e%25252e/b",
            "/a/.;/b",
            "/%2525252561",
        ];
        for path in hidden {
            assert!(hidden_step(path), "{path}");
        }
        for path in [
            "/",
            "/a/b",
            "/a%2eb",
            "/..a",
            "/a..",
            "/...",
            "/%2e%2e%2e",
            "/a%20b",
            "/a;v=1/b",
            "/100%25",
            "/a%zz",
            "/a/",
        ] {
            assert!(!hidden_step(path), "{path}");
        }
    }

    #[test]
    fn globs() {
        for (glob, path) in [
            ("/a/*", "/a/b/c"),
            ("/a/*", "/b"),
            ("/a", "/ab"),
            ("/a", "/%61"),
            ("/a/**", "/b/a/"),
            ("", "/"),
            ("/*.json", "/a/b.json"),
        ] {
            assert!(!glob_matches(glob, path), "{glob} {path}");
        }
        for (glob, path) in [
            ("/a/*", "/a/b"),
            ("/a/*", "/a/"),
            ("/a/**", "/a/b/c"),
            ("**", "/x/y"),
            ("/**/z", "/a/b/z"),
            ("/*.json", "/a.json"),
            ("/a*b*c", "/aXbYc"),
        ] {
            assert!(glob_matches(glob, path), "{glob} {path}");
        }
    }

    proptest! {
        #[test]
        fn a_literal_glob_is_equality(glob in "[a-z/%]{0,8}", path in "[a-z/%]{0,8}") {
            prop_assert_eq!(glob_matches(&glob, &path), glob == path);
            prop_assert!(glob_matches(&path, &path));
        }

        #[test]
        fn any_text_is_judged_without_panic(glob: String, path: String) {
            let _ = (glob_matches(&glob, &path), hidden_step(&path));
            prop_assert!(glob_matches("**", &path));
        }
    }
}
