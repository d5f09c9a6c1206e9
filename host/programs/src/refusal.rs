//! Why a command line of a registered program may not run.

use crate::{Needs, PatternText};
use std::fmt;

/// A rule about registered programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// What is registered could not be read.
    Unavailable,
    /// What is stored about the program is not right.
    Broken,
    /// The program is switched off.
    Disabled,
    /// The agent was not granted it.
    NotGranted,
    /// Another spelling of its name.
    Spelling,
    /// Another file than the one that is registered.
    Path,
    /// Started by another program.
    Wrapped,
    /// Given to start another program.
    StartsAnother,
    /// `;`, `&&`, `||`, several lines.
    Chain,
    /// `|`.
    Pipe,
    /// `&`.
    Background,
    /// `$(…)`, backquotes, `<(…)`.
    Substitution,
    /// `<`, `>`, here-documents.
    Redirect,
    /// `( )`, `{ }`, `if`, loops, functions.
    Compound,
    /// `NAME=value` in front.
    Assignment,
    /// `$name`, `*`, `~`, `{a,b}`.
    Expansion,
    /// Anything else beside the command.
    NotPlain,
    /// Variables given with the call.
    Environment,
    /// Standard input given with the call.
    Input,
    /// A denied pattern.
    DeniedArguments,
    /// An option that makes it write too much.
    Verbose,
    /// A variable without which it does not run.
    EnvMissing,
    /// A credential without which it does not run.
    CredentialMissing,
    /// Credentials would be where the program can read them.
    Exposure,
    /// An option that its adapter does not let through.
    Option,
    /// An address that its adapter does not let through.
    Address,
    /// A statement that its adapter does not let through.
    Statement,
    /// It speaks with other machines, and here commands cannot, or not so.
    NoNetwork,
    /// Commands run in a container here, whose files are not the operator's.
    InContainer,
    /// Its file is not where commands see it.
    Missing,
}

impl Rule {
    /// The identifier used in refusals and audit records.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Unavailable => "programs.unavailable",
            Self::Broken => "programs.broken",
            Self::Disabled => "programs.disabled",
            Self::NotGranted => "programs.not-granted",
            Self::Spelling => "programs.spelling",
            Self::Path => "programs.path",
            Self::Wrapped => "programs.wrapped",
            Self::StartsAnother => "programs.starts-another",
            Self::Chain => "programs.chain",
            Self::Pipe => "programs.pipe",
            Self::Background => "programs.background",
            Self::Substitution => "programs.substitution",
            Self::Redirect => "programs.redirect",
            Self::Compound => "programs.compound",
            Self::Assignment => "programs.assignment",
            Self::Expansion => "programs.expansion",
            Self::NotPlain => "programs.not-plain",
            Self::Environment => "programs.environment",
            Self::Input => "programs.input",
            Self::DeniedArguments => "programs.denied-arguments",
            Self::Verbose => "programs.verbose",
            Self::EnvMissing => "programs.env-missing",
            Self::CredentialMissing => "programs.credential-missing",
            Self::Exposure => "programs.exposure",
            Self::Option => "programs.option",
            Self::Address => "programs.address",
            Self::Statement => "programs.statement",
            Self::NoNetwork => "programs.no-network",
            Self::InContainer => "programs.in-container",
            Self::Missing => "programs.missing",
        }
    }

    /// What the rule says.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Unavailable => "which programs run with credentials could not be read, so no command may run",
            Self::Broken => "what is stored about the program is not right, so it may not run",
            Self::Disabled => "the program is switched off",
            Self::NotGranted => "the program runs with credentials, and only where they were granted",
            Self::Spelling => "the program is registered under another spelling",
            Self::Path => "only the registered file runs with credentials, not another one of its name",
            Self::Wrapped => "a program with credentials is started by the gateway and by no other program",
            Self::StartsAnother => "the arguments make the program start another one, which would have its credentials",
            Self::Chain => "a program with credentials runs alone, without a second command",
            Self::Pipe => "a program with credentials runs without a shell, so there are no pipes",
            Self::Background => "a program with credentials runs without a shell, and not in the background",
            Self::Substitution => "a program with credentials runs without a shell, so there is no substitution",
            Self::Redirect => "a program with credentials runs without a shell, so there is no redirection",
            Self::Compound => "a program with credentials runs without a shell, so there are no blocks and loops",
            Self::Assignment => "a program with credentials takes no variables from the command",
            Self::Expansion => "a program with credentials runs without a shell, so nothing is expanded",
            Self::NotPlain => "a program with credentials is written alone, as its name and its arguments",
            Self::Environment => "a program with credentials takes no variables from the call",
            Self::Input => "this program runs what it is given on its standard input, where nobody judges it",
            Self::DeniedArguments => "these arguments of the program are denied",
            Self::Verbose => "the option makes the program write its credentials, or more than it should",
            Self::EnvMissing => "the program lacks a variable that it needs",
            Self::CredentialMissing => "the program has no credential for this",
            Self::Exposure => "the credentials would be where the program, and what it starts, can read them",
            Self::Option => "the option could send the credentials elsewhere or run another program",
            Self::Address => "the address could send the credentials elsewhere or run another program",
            Self::Statement => "the command of the client is not one of those that only look",
            Self::NoNetwork => "the program speaks with another machine, which commands cannot reach here",
            Self::InContainer => "commands run in a container here, and credentials are given on the host only",
            Self::Missing => "the registered file is not in the part of the system that commands see",
        }
    }
}

/// A refusal: which rule, about what, and the smallest change that would allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// The registered program; empty where none is to blame.
    pub program: String,
    /// What exactly, as host text or a part of the command, escaped and short; empty where the rule says it all.
    pub about: String,
    /// The entry of `deny_args` or `deny_verbose` that denies it, where one does.
    pub pattern: Option<String>,
    /// The smallest change that would allow it; empty where nothing would.
    pub grant: String,
}

impl Refusal {
    /// What is registered could not be read: nothing may run, since it could be a registered program.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::new(Rule::Unavailable, "try again when the store answers")
    }

    /// Commands do not have the network that this one needs.
    #[must_use]
    pub fn no_network(program: &str, needs: Needs) -> Self {
        let grant = match needs {
            // No proxy of commands speaks it.
            Needs::Other | Needs::Nothing => "",
            Needs::Http => {
                "`network = true` under [capabilities.exec] and the host under [capabilities.http], declared and granted"
            }
        };
        Self::new(Rule::NoNetwork, grant).of(program)
    }

    /// Commands run in a container, where another file may have the program's name.
    #[must_use]
    pub fn in_container(program: &str) -> Self {
        Self::new(Rule::InContainer, "the agent's settings without `sandbox_config`").of(program)
    }

    /// The registered file is none that commands see.
    #[must_use]
    pub fn missing(program: &str, path: &str) -> Self {
        let grant = "the program installed there, or `binary_path` of the registered program set to where it is";
        Self::new(Rule::Missing, grant).about(path).of(program)
    }

    pub(crate) fn new(rule: Rule, grant: impl Into<String>) -> Self {
        Self { rule, program: String::new(), about: String::new(), pattern: None, grant: grant.into() }
    }

    pub(crate) fn about(self, about: &str) -> Self {
        Self { about: excerpt(about), ..self }
    }

    pub(crate) fn by(self, pattern: &PatternText) -> Self {
        Self { pattern: Some(pattern.as_str().to_owned()), ..self }
    }

    pub(crate) fn of(self, program: &str) -> Self {
        Self { program: program.to_owned(), ..self }
    }
}

/// Characters of a command in a refusal.
const MOST_EXCERPT: usize = 120;

/// A part of a command in a message: short, on one line, and without what would end its quotes.
fn excerpt(text: &str) -> String {
    let mut shown: String = text.chars().take(MOST_EXCERPT).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST_EXCERPT).is_some() {
        shown.push('…');
    }
    shown.replace('`', "'")
}

impl fmt::Display for Refusal {
    /// For people: `rule: sentence (`about`); what would allow it: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.id(), self.rule.sentence())?;
        match (self.program.as_str(), self.about.as_str()) {
            ("", "") => {}
            (one, "") | ("", one) => write!(f, " (`{one}`)")?,
            (program, about) => write!(f, " (`{program}`: `{about}`)")?,
        }
        if self.grant.is_empty() { Ok(()) } else { write!(f, "; what would allow it: {}", self.grant) }
    }
}

impl std::error::Error for Refusal {}
