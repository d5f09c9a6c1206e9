//! What would become of commands, for whoever sets up a program.

use crate::decide::{Asked, Decision, decide};
use crate::{Program, Roster, Rule};
use caisson_guard::shell::{Dialect, see};
use serde::Serialize;

/// What would become of one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The command.
    pub command: String,
    /// Whether an agent with a grant may run it.
    pub allowed: bool,
    /// The entry of `deny_args` or `deny_verbose` that denies it, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_deny: Option<String>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Judges commands as if the program were granted, without its credentials: what lacks only those is allowed.
#[must_use]
pub fn try_out(program: &Program, commands: &[String]) -> Vec<Tried> {
    let roster = Roster::of_one(program);
    commands.iter().map(|command| tried(command, &roster)).collect()
}

fn tried(command: &str, roster: &Roster) -> Tried {
    let no = |matched_deny, reason: String| Tried {
        command: command.to_owned(),
        allowed: false,
        matched_deny,
        reason: Some(reason),
    };
    let seen = match see(command, Dialect::default()) {
        Ok(seen) => seen,
        Err(fault) => return no(None, fault.to_string()),
    };
    match decide(&Asked { text: command, seen: &seen, input: false, variables: false }, roster) {
        Decision::Refused(refusal) if refusal.rule != Rule::CredentialMissing => {
            no(refusal.pattern.clone(), refusal.to_string())
        }
        _ => Tried { command: command.to_owned(), allowed: true, matched_deny: None, reason: None },
    }
}
