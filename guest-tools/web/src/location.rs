//! URLs, as far as following redirects and completing links needs them.

/// Where an http or https URL leads: the part before the path, the path, the query with its `?`.
struct Parts<'u> {
    scheme: &'u str,
    /// `scheme://authority`
    origin: &'u str,
    path: &'u str,
}

fn parts(url: &str) -> Option<Parts<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if authority == 0 {
        return None;
    }
    let end = scheme.len() + 3 + authority;
    let path = url.get(end..)?;
    let path = path.get(..path.find(['?', '#']).unwrap_or(path.len()))?;
    Some(Parts { scheme, origin: url.get(..end)?, path })
}

/// The URL as it is sent: white space around it and the fragment removed. `None` where it is no http or https URL.
pub fn absolute(url: &str) -> Option<&str> {
    let url = url.trim();
    let url = url.split_once('#').map_or(url, |(url, _)| url);
    let plain = !url.contains(|c: char| c.is_whitespace() || c.is_control());
    (plain && parts(url).is_some()).then_some(url)
}

/// Where `reference` leads on a page at `base` (RFC 3986, 5.2). `None` for what is neither http nor https.
pub fn join(base: &str, reference: &str) -> Option<String> {
    let reference = reference.trim();
    let at = parts(base)?;
    // A scheme: letters before the first colon, and that before any slash.
    let scheme = reference
        .find([':', '/', '?', '#'])
        .filter(|end| reference.get(*end..).is_some_and(|rest| rest.starts_with(':')));
    if scheme.is_some_and(|end| end > 0) {
        return parts(reference).map(|_| reference.to_owned());
    }
    if reference.starts_with("//") {
        let url = format!("{}:{reference}", at.scheme);
        return parts(&url).is_some().then_some(url);
    }
    let (path, rest) = reference.split_at_checked(reference.find(['?', '#']).unwrap_or(reference.len()))?;
    let path = match path {
        "" if rest.starts_with('?') => at.path.to_owned(),
        "" => return Some(format!("{}{rest}", base.split_once('#').map_or(base, |(base, _)| base))),
        path if path.starts_with('/') => without_dots(path),
        path => {
            let folder = at.path.rfind('/').and_then(|end| at.path.get(..=end)).unwrap_or("/");
            without_dots(&format!("{folder}{path}"))
        }
    };
    let slash = if path.is_empty() { "/" } else { "" };
    Some(format!("{}{slash}{path}{rest}", at.origin))
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (index, segment) in segments.iter().enumerate() {
        let last = index + 1 == segments.len();
        match *segment {
            "." | ".." => {
                if *segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_web_address_is_none() {
        for url in [
            "",
            "example.com",
            "ftp://example.com/",
            "file:///etc/passwd",
            "http://",
            "http:///x",
            "https://a b/",
            "javascript:alert(1)",
            "http://a\n/",
        ] {
            assert_eq!(absolute(url), None, "{url}");
        }
        for reference in ["javascript:x", "mailto:a@b", "data:text/html,x", "ftp://a/", "g:8080"] {
            assert_eq!(join("http://a/", reference), None, "{reference}");
        }
    }

    #[test]
    fn fragments_are_not_sent() {
        assert_eq!(absolute(" https://a.example/x?y#z "), Some("https://a.example/x?y"));
    }

    #[test]
    fn references_are_joined() {
        let base = "http://a/b/c/d?q";
        for (reference, wanted) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d?q#s"),
            ("", "http://a/b/c/d?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../../../g", "http://a/g"),
            ("/./g/../h", "http://a/h"),
            ("HTTPS://x/y", "HTTPS://x/y"),
        ] {
            assert_eq!(join(base, reference).as_deref(), Some(wanted), "{reference}");
        }
        assert_eq!(join("http://a", "g").as_deref(), Some("http://a/g"));
        assert_eq!(join("http://a?q", "?r").as_deref(), Some("http://a/?r"));
    }
}
