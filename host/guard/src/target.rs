//! A URL, taken apart once, so that what is judged is what is connected to.

use crate::{Refusal, Rule};
use std::fmt;
use std::net::IpAddr;
use url::Url;

/// `http` or `https`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// 80 or 443.
    #[must_use]
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Where a URL points.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// Lower case, IDNA-encoded, without a trailing dot.
    Name(String),
    /// A literal address, in whatever notation it was written.
    Address(IpAddr),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// The parts of a URL that are judged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Scheme.
    pub scheme: Scheme,
    /// Host.
    pub host: Host,
    /// Port, the scheme's own where none is written.
    pub port: u16,
    /// Path exactly as written, without the query; `/` where it is empty.
    pub path: String,
}

/// Longest URL in bytes; common servers refuse longer ones.
const MAX_URL: usize = 16 * 1024;

impl Target {
    /// Takes a URL apart as the WHATWG standard does for its host (hexadecimal, octal and short IPv4 forms become
    /// addresses, names are IDNA-encoded), and refuses what standards and libraries read differently.
    ///
    /// # Errors
    /// The rule that the URL breaks.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        // The standard drops tabs and newlines and trims blanks; other readers do not.
        if text.len() > MAX_URL || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(Refusal::plain(Rule::UrlInvalid));
        }
        let (scheme, rest) = text.split_once(':').ok_or(Refusal::plain(Rule::UrlInvalid))?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return Err(Refusal::plain(Rule::Scheme)),
        };
        if rest.split(['?', '#']).next().is_some_and(|part| part.contains('\\')) {
            return Err(Refusal::plain(Rule::Backslash));
        }
        // The standard takes any number of slashes here; two is what a URL has.
        let rest = rest.strip_prefix("//").ok_or(Refusal::plain(Rule::UrlInvalid))?;
        let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.is_empty() {
            // `http:///host`: the standard skips the third slash.
            return Err(Refusal::plain(Rule::UrlInvalid));
        }
        check_authority(authority, tail)?;
        let url = Url::parse(text).map_err(|_| Refusal::plain(Rule::UrlInvalid))?;
        let host = match url.host().ok_or(Refusal::plain(Rule::UrlInvalid))? {
            url::Host::Ipv4(address) => Host::Address(address.into()),
            url::Host::Ipv6(address) => Host::Address(address.into()),
            url::Host::Domain(name) => Host::Name(checked_name(name)?),
        };
        let port = url.port().unwrap_or(scheme.default_port());
        if port == 0 {
            return Err(Refusal::plain(Rule::UrlInvalid));
        }
        let path = tail.split(['?', '#']).next().filter(|path| !path.is_empty()).unwrap_or("/");
        Ok(Self { scheme, host, port, path: path.to_owned() })
    }
}

fn check_authority(authority: &str, tail: &str) -> Result<(), Refusal> {
    if authority.contains('@') {
        return Err(Refusal::plain(Rule::Userinfo));
    }
    // `http://a#@b/`: readers that look for the last `@` first see another host.
    if tail.starts_with('#') && tail.contains('@') {
        return Err(Refusal::plain(Rule::UrlInvalid));
    }
    if authority.starts_with('[') && authority.contains('%') {
        return Err(Refusal::plain(Rule::ZoneId));
    }
    Ok(())
}

/// One trailing dot is the root; empty or overlong labels cannot be looked up.
fn checked_name(name: &str) -> Result<String, Refusal> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let labels_fit = name.split('.').all(|label| (1..=63).contains(&label.len()));
    let characters_fit =
        name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.'));
    if name.len() <= 253 && labels_fit && characters_fit {
        Ok(name.to_owned())
    } else {
        Err(Refusal::plain(Rule::HostInvalid))
    }
}

impl fmt::Display for Target {
    /// `scheme://host:port/path`, without the query, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}{}", self.scheme.as_str(), self.host, self.port, self.path)
    }
}
