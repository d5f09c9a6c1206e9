//! Puts credentials into requests, where tenant, manifest and rule agree that they go.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use caisson_contract::{Inject, SecretBinding};
use caisson_guard::Target;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use http::uri::PathAndQuery;
use std::collections::BTreeSet;
use url::form_urlencoded;
use zeroize::Zeroizing;

/// A secret that may be put into requests. Has no `Debug`.
pub struct InjectedSecret {
    /// Name, as in `[credentials.NAME]`.
    pub name: String,
    /// The secret.
    pub value: Zeroizing<String>,
    /// Where the tenant allows it to go.
    pub bindings: Vec<SecretBinding>,
    /// How it is put in.
    pub inject: Inject,
    /// Exact host names that the manifest narrows it to.
    pub hosts: Vec<String>,
}

impl InjectedSecret {
    /// Whether it goes to a target: bound by the tenant to exactly this host, scheme and port, and wanted there by the
    /// manifest. An empty secret goes nowhere.
    pub(crate) fn goes_to(&self, target: &Target, named: &BTreeSet<String>) -> bool {
        let host = target.host.to_string();
        !self.value.is_empty()
            && named.contains(&self.name)
            && self.hosts.iter().any(|narrowed| narrowed.eq_ignore_ascii_case(&host))
            && self.bindings.iter().any(|binding| {
                binding.host.eq_ignore_ascii_case(&host)
                    && binding.scheme == target.scheme.as_str()
                    && binding.port == target.port
            })
    }

    /// Puts it in, in place of what the guest sent under the same name. Gives what has to be kept from coming back beside
    /// the secret itself; `None` where it cannot be put in.
    pub(crate) fn put_into(&self, parts: &mut http::request::Parts) -> Option<Option<Zeroizing<String>>> {
        match &self.inject {
            Inject::Header { header, prefix } => {
                let name = HeaderName::try_from(header.as_str()).ok()?;
                parts.headers.insert(name, sensitive(&format!("{prefix}{}", self.value.as_str()))?);
                Some(None)
            }
            Inject::Basic { basic } => {
                let pair = Zeroizing::new(STANDARD.encode(format!("{basic}:{}", self.value.as_str())));
                parts.headers.insert(AUTHORIZATION, sensitive(&format!("Basic {}", pair.as_str()))?);
                Some(Some(pair))
            }
            Inject::Query { query } => {
                let path = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
                let replaced = with_parameter(path, query, &self.value);
                let mut uri = parts.uri.clone().into_parts();
                uri.path_and_query = Some(PathAndQuery::try_from(replaced).ok()?);
                parts.uri = http::Uri::from_parts(uri).ok()?;
                Some(None)
            }
            // For programs, not for requests.
            Inject::Env { .. } => Some(None),
        }
    }
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn with_parameter(path: &str, name: &str, value: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let of_guest = query.split('&').filter(|part| {
        !part.is_empty() && form_urlencoded::parse(part.as_bytes()).next().is_none_or(|(key, _)| key != name)
    });
    let added = form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish();
    let query: Vec<&str> = of_guest.chain([added.as_str()]).collect();
    format!("{path}?{}", query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_of_the_guest_is_replaced_however_it_is_written() {
        assert_eq!(with_parameter("/a?key=mine&x=1&%6bey=2&key", "key", "s e&c"), "/a?x=1&key=s+e%26c");
        assert_eq!(with_parameter("/a", "key", "v"), "/a?key=v");
        assert_eq!(with_parameter("/a?", "key", "v"), "/a?key=v");
    }
}
