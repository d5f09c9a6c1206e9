//! When a person is asked, and what an approval is remembered by.

use crate::shell::{Invocation, Seen, Source, Word};
use std::collections::BTreeSet;

/// When a person is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ask {
    /// Never.
    #[default]
    Off,
    /// Where the allowlist has no entry for the program or its arguments.
    OnMiss,
    /// For every command that nothing denies, but for what was approved for good.
    Always,
}

/// What an approval for good is about: one program with the shape of its arguments. A command is approved when each program
/// that it starts is; a wrapper is part of the shape of what it wraps and never stands for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Remember {
    /// The program as written, folders included: `./tool` is not `tool`. Whoever stores it resolves it first.
    pub program: String,
    /// The wrappers around it, outermost first, then options, subcommand, code and hosts of addresses as
    /// they are, and `*` for other arguments.
    pub shape: String,
}

/// What an approval would be remembered by; nothing where a part is not known before the command runs, so that it can only
/// be approved once.
pub(crate) fn remember(seen: &Seen) -> Option<Vec<Remember>> {
    let wrappers: BTreeSet<usize> =
        seen.invocations.iter().flat_map(|one| &one.via).map(|via| via.invocation).collect();
    let mut found = Vec::new();
    for (index, one) in seen.invocations.iter().enumerate() {
        if one.program.is_none() {
            if one.assignments.is_empty() && one.redirects.is_empty() {
                continue;
            }
            return None;
        }
        if !one.redirects.is_empty() || !one.assignments.is_empty() {
            return None;
        }
        if !wrappers.contains(&index) {
            found.push(Remember { program: one.program.as_ref()?.known()?.to_owned(), shape: shape(one, seen)? });
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Whether everything that a command starts was approved for good.
pub(crate) fn approved(remembered: &BTreeSet<Remember>, asked: Option<&[Remember]>) -> bool {
    asked.is_some_and(|asked| asked.iter().all(|one| remembered.contains(one)))
}

/// Programs whose first operand says what they do.
const WITH_SUBCOMMANDS: &[&str] = &[
    "git",
    "npm",
    "pnpm",
    "yarn",
    "cargo",
    "go",
    "docker",
    "kubectl",
    "pip",
    "pip3",
    "apt",
    "apt-get",
    "systemctl",
    "gh",
    "aws",
    "gcloud",
    "terraform",
    "helm",
    "make",
    "uv",
    "poetry",
    "bundle",
    "gem",
    "dotnet",
    "brew",
    "hg",
    "svn",
    "conda",
    "rustup",
    "deno",
    "bun",
    "podman",
    "openssl",
    "az",
];

fn shape(one: &Invocation, seen: &Seen) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for via in &one.via {
        let wrapper = seen.invocations.get(via.invocation)?;
        let own: Vec<&str> =
            wrapper.args.iter().filter_map(Word::known).take_while(|text| text.starts_with('-')).collect();
        parts.push(format!("{} {}>", via.name, own.join(" ")));
    }
    let code = |word: &Word| {
        one.code
            .iter()
            .any(|code| matches!(&code.source, Source::Text(text) | Source::File(text) if text.span == word.span))
    };
    let mut subcommand = one.name().is_some_and(|name| WITH_SUBCOMMANDS.contains(&name));
    let mut open = false;
    for word in &one.args {
        let text = word.known()?;
        let is_operand = !code(word) && !text.starts_with('-');
        if !is_operand || subcommand {
            parts.push(text.to_owned());
            subcommand &= !is_operand;
        } else if let Some((scheme, rest)) = text.split_once("://") {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            parts.push(format!("{scheme}://{host}/*"));
        } else {
            // Any number of other arguments reads the same.
            open = true;
        }
    }
    if open {
        parts.push("*".to_owned());
    }
    Some(parts.join(" "))
}
