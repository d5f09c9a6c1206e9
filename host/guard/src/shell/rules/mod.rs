//! The rules of the deny groups, one file a group. A rule is a small value with its own examples, and the examples are its
//! tests.
//!
//! Two decisions run through all of them. What may be, counts: an expansion outside quotes at the beginning of a word may
//! become options, so `rm $x` is denied where `rm -- $x` and `rm "$x"` are not; a subcommand that is not known counts as the
//! worst one. And quoted data is data: only words that a program takes for a path, an address, an option or code are judged,
//! so that what `echo`, `git commit -m` or `grep` are given as text denies nothing.

mod addresses;
pub(crate) mod args;
mod code;
mod code_injection;
mod container_escape;
mod crypto_mining;
mod dangerous_paths;
mod data_exfiltration;
mod destructive_ops;
mod destructive_tools;
mod env_dump;
mod env_injection;
mod filter_bypass;
pub(crate) mod look;
mod network_recon;
mod one_liners;
mod operands;
mod package_install;
mod package_runners;
mod persistence;
mod places;
mod privilege_escalation;
mod process_control;
mod program_values;
mod programs;
mod recipes;
mod requests;
mod reverse_shell;
mod sed;
pub(crate) mod steps;
pub(crate) mod written;

use crate::shell::{Group, Span};
pub(crate) use look::Look;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A rule of a deny group.
#[derive(Clone, Copy)]
pub struct Rule {
    /// `group.name`, used in refusals and audit records.
    pub id: &'static str,
    /// The group whose switch turns it off.
    pub group: Group,
    /// What it says to a person: why not, and what to do instead.
    pub sentence: &'static str,
    /// The programs that it is about, in lower case; empty for a rule about every command.
    programs: &'static [&'static str],
    /// The part of the command that breaks it.
    matches: fn(&Look<'_>) -> Option<Span>,
    /// Commands that it denies.
    pub denies: &'static [&'static str],
    /// Commands alike that no rule denies.
    pub allows: &'static [&'static str],
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// Every rule, by group in the order of [`Group::ALL`].
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        destructive_ops::RULES,
        destructive_tools::RULES,
        data_exfiltration::RULES,
        requests::RULES,
        addresses::RULES,
        reverse_shell::RULES,
        code_injection::RULES,
        one_liners::RULES,
        privilege_escalation::RULES,
        dangerous_paths::RULES,
        env_injection::RULES,
        container_escape::RULES,
        crypto_mining::RULES,
        filter_bypass::RULES,
        programs::RULES,
        sed::RULES,
        network_recon::RULES,
        package_install::RULES,
        package_runners::RULES,
        persistence::RULES,
        process_control::RULES,
        env_dump::RULES,
    ]
    .into_iter()
    .flatten()
}

/// The rules by program, and those about every command.
struct Table {
    by_program: HashMap<&'static str, Vec<&'static Rule>>,
    about_all: Vec<&'static Rule>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { by_program: HashMap::new(), about_all: Vec::new() };
    for rule in rules() {
        if rule.programs.is_empty() {
            table.about_all.push(rule);
        }
        for program in rule.programs {
            table.by_program.entry(program).or_default().push(rule);
        }
    }
    table
});

/// Every rule that an invocation breaks, with the part that breaks it.
pub(crate) fn broken<'l>(look: &'l Look<'_>) -> impl Iterator<Item = (&'static Rule, Span)> + use<'l> {
    let own = TABLE.by_program.get(look.name).map(Vec::as_slice).unwrap_or_default();
    own.iter().chain(&TABLE.about_all).filter_map(|rule| (rule.matches)(look).map(|span| (*rule, span)))
}

/// Whether there are rules about a program of this name.
pub(crate) fn is_known(name: &str) -> bool {
    TABLE.by_program.contains_key(name)
}

/// The name under which a program is known here: in lower case, without `.exe`, and without a version where only that
/// makes a name of it that rules know (`python3.12`, `mkfs.ext4`).
pub(crate) fn known_as(name: &str) -> String {
    let mut name = name.to_ascii_lowercase();
    for ending in [".exe", ".cmd", ".bat", ".com"] {
        if let Some(short) = name.strip_suffix(ending) {
            name.truncate(short.len());
        }
    }
    if TABLE.by_program.contains_key(name.as_str()) {
        return name;
    }
    if name.starts_with("mkfs.") {
        return "mkfs".to_owned();
    }
    let short = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '_'));
    if !short.is_empty() && TABLE.by_program.contains_key(short) {
        name.truncate(short.len());
    }
    name
}
