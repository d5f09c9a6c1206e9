//! JSON laid out for reading. Keys keep their order and numbers their digits, which reading them into values would not.

/// Layout may make a text this many times as long, and a little more; past it the text stays as it is.
const GROWTH: usize = 8;
const LITTLE: usize = 64 * 1024;

/// The text with each member and element on a line of its own; `None` where it is no JSON, or too deep or too long laid out.
pub fn laid_out(json: &str) -> Option<String> {
    serde_json::from_str::<serde::de::IgnoredAny>(json).ok()?;
    let most = json.len().saturating_mul(GROWTH).saturating_add(LITTLE);
    let mut text = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for c in json.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            text.push(c);
            continue;
        }
        match c {
            c if c.is_ascii_whitespace() => continue,
            '{' | '[' => depth += 1,
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if text.ends_with(['{', '[']) {
                    text.push(c);
                    continue;
                }
            }
            '"' => in_string = true,
            _ => {}
        }
        // What opened or separated before is what begins a line, so that empty ones stay on theirs.
        if matches!(c, '}' | ']') || text.ends_with(['{', '[', ',']) {
            text.push('\n');
            text.extend(std::iter::repeat_n("  ", if matches!(c, '{' | '[') { depth - 1 } else { depth }));
        }
        text.push(c);
        if c == ':' {
            text.push(' ');
        }
        if text.len() > most {
            return None;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_stays() {
        for text in ["", "{", "{oops", "[1,]", "plain"] {
            assert_eq!(laid_out(text), None, "{text}");
        }
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(laid_out(&deep), None);
        let wide = format!("{}{}1{}", "[".repeat(120), "1,".repeat(100_000), "]".repeat(120));
        assert_eq!(laid_out(&wide), None);
    }

    #[test]
    fn members_stand_on_lines_of_their_own() {
        for (text, wanted) in [
            (r#"{"b":1,"a":[2,{}]}"#, "{\n  \"b\": 1,\n  \"a\": [\n    2,\n    {}\n  ]\n}"),
            (
                " [ [ ] , { \"x\" : [[1]] } ] ",
                "[\n  [],\n  {\n    \"x\": [\n      [\n        1\n      ]\n    ]\n  }\n]",
            ),
            (
                r#"["a,[\"]{", "\\", 1.10, 12345678901234567890123]"#,
                "[\n  \"a,[\\\"]{\",\n  \"\\\\\",\n  1.10,\n  12345678901234567890123\n]",
            ),
            ("1", "1"),
        ] {
            assert_eq!(laid_out(text).as_deref(), Some(wanted), "{text}");
        }
    }
}
