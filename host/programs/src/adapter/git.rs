//! Git: a token or a key for each host, which goes to that host and to no other.
//!
//! A token goes through git's own credential store, which asks for the host anew after a redirect; a header set for all requests
//! would follow it. Where the gateway has a proxy, git is sent there instead and never has the token. A repository's
//! configuration is the agent's, so what of it names a program is overruled as far as git lets it be: filters cannot be, which
//! is why a token outside of the proxy needs the operator's word.

use super::{Adapter, Injection, Material, Needs, Proxied, missing};
use crate::{CredentialKind, HostScope, Refusal, Rule, Secret};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use caisson_guard::Target;
use std::fmt::Write as _;

#[derive(Debug)]
pub(super) struct Git;

/// Subcommands that speak with another machine.
const REMOTE: [&str; 7] = ["clone", "fetch", "pull", "push", "submodule", "ls-remote", "remote"];

/// Options before the subcommand: whether a value follows, and whether they change neither whom git speaks to nor what it runs.
const GLOBAL: [(&str, bool, bool); 16] = [
    ("-C", true, true),
    ("-c", true, false),
    ("-p", false, true),
    ("--paginate", false, true),
    ("-P", false, true),
    ("--no-pager", false, true),
    ("--bare", false, false),
    ("--git-dir", true, false),
    ("--work-tree", true, false),
    ("--namespace", true, false),
    ("--config-env", true, false),
    ("--literal-pathspecs", false, true),
    ("--no-optional-locks", false, true),
    ("--no-replace-objects", false, true),
    ("--version", false, false),
    ("--help", false, false),
];

/// Options of the remote subcommands that run a program or set a configuration. Git takes any beginning of them that is no
/// other option's.
const DENIED_LONG: [&str; 5] = ["--upload-pack", "--receive-pack", "--exec", "--config", "--template"];

/// Configuration that would make git run programs of the repository, or ask others for credentials.
const OVERRULED: [(&str, &str); 10] = [
    ("credential.helper", ""),
    ("core.askPass", ""),
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.gitProxy", ""),
    ("http.followRedirects", "false"),
    ("http.sslVerify", "true"),
    ("protocol.ext.allow", "never"),
];

impl Adapter for Git {
    fn name(&self) -> &'static str {
        "git"
    }

    fn takes(&self) -> &'static [&'static str] {
        &["token", "ssh_key"]
    }

    fn should_inject(&self, arguments: &[&str]) -> bool {
        let Ok(command) = command(arguments) else {
            // An option that is not known may have a value: whether the next word is the subcommand is not known either.
            return true;
        };
        match command.name {
            "remote" => command.rest.contains(&"update") || command.rest.contains(&"show"),
            name => REMOTE.contains(&name),
        }
    }

    fn needs(&self) -> Needs {
        Needs::Http
    }

    fn check(&self, arguments: &[&str], credentials: &[CredentialKind]) -> Result<(), Refusal> {
        let refused = |about: &str| Err(Refusal::new(Rule::Option, "the command without it").about(about));
        let command = match command(arguments) {
            Ok(command) => command,
            Err(option) => return refused(option),
        };
        if let Some(option) = command.unfit {
            return refused(option);
        }
        for argument in command.rest {
            if is_denied(command.name, argument) {
                return refused(argument);
            }
            if !argument.starts_with('-') {
                check_address(argument, credentials)?;
            }
        }
        if command.name == "submodule" && command.rest.contains(&"foreach") {
            let grant = "the command in each submodule by itself";
            return Err(Refusal::new(Rule::Option, grant).about("foreach"));
        }
        if credentials.is_empty() {
            return Err(missing(command.name, "a `token` or `ssh_key` stored for this agent, channel or user"));
        }
        Ok(())
    }

    fn prepare(&self, material: &Material<'_>) -> Result<Injection, Refusal> {
        let mut injection = Injection::of_env(material);
        let mut config: Vec<(String, String)> =
            OVERRULED.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let wanted = wanted(material.arguments);
        let goes =
            |scope: &HostScope| wanted.as_ref().is_none_or(|hosts| hosts.iter().any(|host| host == scope.host()));
        let mut protocols: Vec<&str> = vec!["https"];
        tokens(material, &goes, &mut injection, &mut config, &mut protocols);
        keys(material, &goes, &mut injection, &mut protocols);
        injection.set("GIT_CONFIG_COUNT", config.len().to_string());
        for (index, (key, value)) in config.into_iter().enumerate() {
            injection.set(&format!("GIT_CONFIG_KEY_{index}"), key);
            injection.set(&format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        injection.set("GIT_ALLOW_PROTOCOL", protocols.join(":"));
        for (name, value) in
            [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_ASKPASS", ""), ("SSH_ASKPASS", "")]
        {
            injection.set(name, value);
        }
        Ok(injection)
    }
}

/// A command of git.
struct Command<'a> {
    /// The subcommand; empty where there is none.
    name: &'a str,
    /// What follows it.
    rest: &'a [&'a str],
    /// An option before it that does not go with credentials.
    unfit: Option<&'a str>,
}

/// Takes a command apart; the option that is not known, where there is one.
fn command<'a>(arguments: &'a [&'a str]) -> Result<Command<'a>, &'a str> {
    let (mut at, mut unfit) = (0, None);
    while let Some(argument) = arguments.get(at).filter(|argument| argument.starts_with('-')) {
        let (name, apart) = argument.split_once('=').map_or((*argument, true), |(name, _)| (name, false));
        let (_, value, fits) = GLOBAL.iter().find(|(known, ..)| *known == name).ok_or(*argument)?;
        unfit = unfit.or((!fits).then_some(*argument));
        at += if *value && apart { 2 } else { 1 };
    }
    let name = arguments.get(at).copied().unwrap_or_default();
    Ok(Command { name, rest: arguments.get(at + 1..).unwrap_or_default(), unfit })
}

fn is_denied(subcommand: &str, argument: &str) -> bool {
    let name = argument.split('=').next().unwrap_or_default();
    let long = name.len() > 3 && name.starts_with("--") && DENIED_LONG.iter().any(|denied| denied.starts_with(name));
    // Of a clone alone, also among other letters: elsewhere `-u` sets an upstream. What begins with `-b`, `-o` or `-j` may go
    // on with the value.
    let letters = argument.strip_prefix('-').filter(|rest| !rest.starts_with(['-', 'b', 'o', 'j']));
    long || (subcommand == "clone" && letters.is_some_and(|letters| letters.contains(['u', 'c'])))
}

/// Judges what may be an address: who it names must be plain, and so must be how git speaks to it.
fn check_address(text: &str, credentials: &[CredentialKind]) -> Result<(), Refusal> {
    let refused = |grant: &str| Err(Refusal::new(Rule::Address, grant).about(text));
    // `ext::sh -c …`: a program that speaks for the other side.
    let helper = text.split_once("::").map(|(before, _)| before);
    if helper.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-_".contains(&byte))
    }) {
        return refused("an `https://` address");
    }
    let Some((scheme, rest)) = text.split_once("://") else { return Ok(()) };
    let has = |kind: &str| credentials.iter().any(|one| one.name() == kind);
    match scheme {
        "https" | "http" => {
            if rest.split('/').next().is_some_and(|authority| authority.contains('@')) {
                return refused("the address without a user or token in it; the gateway puts it in");
            }
            Target::parse(text).map(drop).or_else(|_| refused("an address that every reader takes apart alike"))
        }
        "ssh" if has("ssh_key") => Ok(()),
        "ssh" => refused("the `https://` address of the same repository, or an `ssh_key` stored"),
        _ => refused("an `https://` address"),
    }
}

/// The hosts that the addresses among the arguments name; none where the remote is named and its address is in the repository.
fn wanted(arguments: &[&str]) -> Option<Vec<String>> {
    let hosts: Vec<String> = arguments.iter().filter_map(|argument| host(argument)).collect();
    (!hosts.is_empty()).then_some(hosts)
}

fn host(text: &str) -> Option<String> {
    if let Ok(target) = Target::parse(text) {
        return Some(target.host.to_string());
    }
    if let Some(rest) = text.strip_prefix("ssh://") {
        let authority = rest.split('/').next()?;
        let host = authority.rsplit('@').next()?;
        return Some(host.split(':').next()?.to_ascii_lowercase());
    }
    // `git@host:path`.
    let (before, _) = text.split_once(':')?;
    let host = before.rsplit('@').next()?;
    (before.contains('@') && !before.contains('/')).then(|| host.to_ascii_lowercase())
}

fn tokens(
    material: &Material<'_>,
    goes: &dyn Fn(&HostScope) -> bool,
    injection: &mut Injection,
    config: &mut Vec<(String, String)>,
    protocols: &mut Vec<&str>,
) {
    let mut store = String::new();
    for kind in material.credentials {
        let CredentialKind::Token { scope, user, token } = kind else { continue };
        if !goes(scope) {
            continue;
        }
        let pair = Secret::new(STANDARD.encode(format!("{user}:{}", token.expose())));
        injection.scrub.extend([token.clone(), pair.clone()]);
        injection.hosts.push(scope.clone());
        if scope.scheme() == "http" || material.place.proxy().is_some() {
            protocols.push("http");
        }
        if let Some(proxy) = material.place.proxy() {
            let base = format!("{proxy}/{}/{}/", scope.scheme(), scope.authority());
            config.push((format!("url.{base}.insteadOf"), format!("{}/", scope.origin())));
            let authorization = Secret::new(format!("Basic {}", pair.expose()));
            injection.proxied.push(Proxied { scope: scope.clone(), authorization });
        } else {
            let path = material.place.file("git-credentials");
            config.push((format!("credential.{}.helper", scope.origin()), format!("store --file={path}")));
            let (user, token) = (encoded(user), Secret::new(encoded(token.expose())));
            let _ = writeln!(store, "{}://{user}:{}@{}", scope.scheme(), token.expose(), scope.authority());
        }
    }
    if !store.is_empty() {
        injection.file(material.place, "git-credentials", Secret::new(store));
        injection.exposes = true;
    }
    protocols.sort_unstable();
    protocols.dedup();
}

/// One configuration for all keys, since that alone binds a key to its host whatever the repository names.
fn keys(
    material: &Material<'_>,
    goes: &dyn Fn(&HostScope) -> bool,
    injection: &mut Injection,
    protocols: &mut Vec<&str>,
) {
    let mut hosts = String::new();
    for (index, kind) in material.credentials.iter().enumerate() {
        let CredentialKind::SshKey { scope, key } = kind else { continue };
        if !goes(scope) {
            continue;
        }
        // ssh wants the line break at the end, which is easily lost on the way here.
        let contents = Secret::new(format!("{}\n", key.expose().trim()));
        let path = injection.file(material.place, &format!("git-key-{index}"), contents);
        let _ = writeln!(hosts, "Host {}\n  IdentityFile {}", scope.host(), path.expose());
        injection.scrub.push(key.clone());
        injection.hosts.push(scope.clone());
        injection.exposes = true;
    }
    if hosts.is_empty() {
        return;
    }
    let known = material.place.file("git-known-hosts");
    let _ = write!(
        hosts,
        "Host *\n  IdentityFile none\n  IdentitiesOnly yes\n  IdentityAgent none\n  BatchMode yes\n  ForwardAgent no\n  \
         StrictHostKeyChecking accept-new\n  UserKnownHostsFile {known}\n  ProxyCommand none\n  PermitLocalCommand no\n"
    );
    let path = injection.file(material.place, "git-ssh-config", Secret::new(hosts));
    injection.set("GIT_SSH_COMMAND", format!("ssh -F {}", path.expose()));
    injection.set("GIT_SSH_VARIANT", "ssh");
    protocols.push("ssh");
}

/// Percent-encoded but for what no reader of addresses takes for anything else.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte.into());
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}
