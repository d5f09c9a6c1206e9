//! The decision about one request, without I/O: URL, address or name, then every layer.

use caisson_call::{Capability, Denial};
use caisson_contract::{Effect, Hosts, HttpRule, Layer, LayerSource, Layers};
use caisson_guard::{
    Exceptions, Host, Own, Refusal, Rule, Target, check_name, glob_matches, hidden_step, host_matches,
};
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// What may leave.
#[derive(Debug)]
pub(crate) struct Allowed {
    /// Where to.
    pub(crate) target: Target,
    /// Credentials that matching rules of the declared layer name.
    pub(crate) credentials: BTreeSet<String>,
}

/// Why no rule of a layer matches; the one that comes furthest is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Miss {
    Host,
    Blocked,
    Scheme,
    Port,
    Method,
    Path,
    PathAmbiguous,
    Effect,
}

/// Longest subject of a refusal, in bytes.
const MAX_SUBJECT: usize = 200;

/// Judges a request. `layers` is `None` where only the URL and its address are asked about.
pub(crate) fn decide(
    method: &str,
    url: &str,
    layers: Option<&Layers>,
    exceptions: &Exceptions,
    own: &Own,
) -> Result<Allowed, Denial> {
    let by_rule = |refusal: Refusal| refused(method, url, &refusal);
    if matches!(method.to_ascii_uppercase().as_str(), "TRACE" | "CONNECT") {
        return Err(by_rule(Refusal::plain(Rule::Method)));
    }
    let target = Target::parse(url).map_err(by_rule)?;
    match &target.host {
        Host::Name(name) => check_name(name, exceptions),
        Host::Address(address) => exceptions.check(SocketAddr::new(*address, target.port), own),
    }
    .map_err(by_rule)?;
    let Some(layers) = layers else {
        return Ok(Allowed { target, credentials: BTreeSet::new() });
    };
    let named = layers.all(|layer| judge(layer, layers.effect(), &target, method), || Miss::Host);
    match named {
        Ok(named) => Ok(Allowed { credentials: named.into_iter().flatten().collect(), target }),
        Err((source, miss)) => Err(missed(method, url, &target, source, miss)),
    }
}

/// One layer: the credentials named by its matching rules, which count in the declared layer only, since only there do they
/// say how the plugin wants them put in.
fn judge(layer: &Layer, effect: Effect, target: &Target, method: &str) -> Result<Vec<String>, Miss> {
    // The manifest says which requests only read, and whoever grants it sees that; the other layers need not repeat it.
    let declared = layer.source == LayerSource::Declared;
    let must_read = declared && effect == Effect::ReadOnly && !matches!(method, "GET" | "HEAD");
    let mut credentials = Vec::new();
    let mut matched = false;
    let mut furthest = Miss::Host;
    for rule in &layer.capabilities.http {
        match fits(rule, target, method, must_read) {
            Ok(()) => {
                matched = true;
                if declared {
                    credentials.extend(rule.credentials.iter().cloned());
                }
            }
            Err(miss) => furthest = furthest.max(miss),
        }
    }
    if matched { Ok(credentials) } else { Err(furthest) }
}

fn fits(rule: &HttpRule, target: &Target, method: &str, must_read: bool) -> Result<(), Miss> {
    // A reference to settings was to be replaced before any gate: what still has it allows nothing.
    let Hosts::List(hosts) = &rule.hosts else { return Err(Miss::Host) };
    if !hosts.iter().any(|pattern| host_matches(pattern, &target.host)) {
        return Err(Miss::Host);
    }
    if rule.blocked_hosts.iter().any(|pattern| host_matches(pattern, &target.host)) {
        return Err(Miss::Blocked);
    }
    let scheme = target.scheme.as_str();
    if !rule.schemes.as_ref().map_or(scheme == "https", |schemes| schemes.iter().any(|s| s == scheme)) {
        return Err(Miss::Scheme);
    }
    if !rule.ports.as_ref().map_or(target.port == target.scheme.default_port(), |ports| ports.contains(&target.port)) {
        return Err(Miss::Port);
    }
    if !rule.methods.as_ref().map_or(matches!(method, "GET" | "HEAD"), |methods| methods.iter().any(|m| m == method)) {
        return Err(Miss::Method);
    }
    if let Some(paths) = &rule.paths {
        if !paths.iter().any(|glob| glob_matches(glob, &target.path)) {
            return Err(Miss::Path);
        }
        if hidden_step(&target.path) {
            return Err(Miss::PathAmbiguous);
        }
    }
    if must_read && !rule.reads { Err(Miss::Effect) } else { Ok(()) }
}

/// A refusal by a rule about the URL, name or address.
pub(crate) fn refused(method: &str, url: &str, refusal: &Refusal) -> Denial {
    let mut subject = subject(method, url);
    if !refusal.about.is_empty() {
        subject = shortened(&format!("{subject} ({})", refusal.about));
    }
    Denial {
        capability: Capability::Http,
        rule: refusal.rule.id().into(),
        subject,
        grant: refusal.rule.grant().into(),
        approval: None,
    }
}

fn missed(method: &str, url: &str, target: &Target, source: LayerSource, miss: Miss) -> Denial {
    let what = match miss {
        Miss::Host => "host",
        Miss::Scheme => "scheme",
        Miss::Port => "port",
        Miss::Method => "method",
        Miss::Path => "path",
        Miss::PathAmbiguous => return refused(method, url, &Refusal::plain(Rule::PathAmbiguous)),
        Miss::Blocked => "host-blocked",
        Miss::Effect => "effect-read-only",
    };
    let rule = match miss {
        Miss::Blocked | Miss::Effect => format!("http.{what}"),
        _ => format!("http.{what}-not-{}", source.verb()),
    };
    Denial {
        capability: Capability::Http,
        rule,
        subject: subject(method, url),
        grant: grant(method, target, source, miss),
        approval: None,
    }
}

fn grant(method: &str, target: &Target, source: LayerSource, miss: Miss) -> String {
    let place = match source {
        LayerSource::Declared => "in the plugin's manifest",
        LayerSource::Granted => "in the tenant's grant",
        LayerSource::Ceiling => "in the operator's ceiling",
        LayerSource::Caller => "in what the calling tool was granted",
    };
    let host = shortened(&target.host.to_string());
    let method = shortened(method);
    let line = match miss {
        Miss::Host => format!("`hosts = [\"{host}\"]`"),
        Miss::Blocked => return format!("`{host}` taken out of `blocked-hosts` {place}"),
        Miss::Scheme => format!("`schemes = [\"{}\"]`", target.scheme.as_str()),
        Miss::Port => format!("`ports = [{}]`", target.port),
        Miss::Method => format!("`methods = [\"{method}\"]`"),
        Miss::Path | Miss::PathAmbiguous => format!("`paths = [\"{}\"]`", shortened(&target.path)),
        Miss::Effect => {
            return "`reads = true` in the manifest's rule where the request only reads, or a tool that is `mutating`"
                .into();
        }
    };
    format!("a rule in `[[capabilities.http]]` with {line} {place}")
}

/// `GET https://host:port/path` without query and user info, escaped and shortened. Works on URLs that cannot be parsed too.
pub(crate) fn subject(method: &str, url: &str) -> String {
    if let Ok(target) = Target::parse(url) {
        return shortened(&format!("{method} {target}"));
    }
    let shown = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = shown.split_once("://").unwrap_or(("", shown));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, after)| after);
    let separator = if scheme.is_empty() { "" } else { "://" };
    shortened(&format!("{method} {scheme}{separator}{rest}"))
}

fn shortened(text: &str) -> String {
    let mut short = String::new();
    for c in text.chars() {
        // Backticks would close the quotes that messages put around a subject.
        let piece: String = if c == '`' { "%60".into() } else { c.escape_default().collect() };
        if short.len() + piece.len() > MAX_SUBJECT - '…'.len_utf8() {
            short.push('…');
            break;
        }
        short.push_str(&piece);
    }
    short
}
