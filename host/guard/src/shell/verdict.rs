//! From a command and the settings to a decision.

use super::modes::{self, Ask, Mode, Remember, Setting};
use super::rules::look::{self, Folders};
use super::rules::written::{Ran, What};
use super::rules::{self, Look, Rule};
use super::{Fault, Group, Language, Seen, Span, Unparsed, see};
use std::fmt;

/// Whether a command may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It may.
    Allow,
    /// It may not.
    Deny,
    /// Where a person says so.
    Ask,
}

impl Decision {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}

/// A decision about a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may run.
    pub decision: Decision,
    /// The deny group, where one decided.
    pub group: Option<Group>,
    /// The rule that decided; empty for what is allowed.
    pub rule: &'static str,
    /// The part of the text that decided; empty for what is allowed.
    pub span: Span,
    /// That part, at most 200 bytes of it.
    pub excerpt: String,
    /// What the rule says, and what to do instead; empty for what is allowed.
    pub sentence: &'static str,
    /// The smallest change that would allow it, of the settings or, where none of those would, of the command; empty for what
    /// is allowed.
    pub grant: String,
    /// What an approval for good would be remembered by; empty where it can only be given once, or is not asked for.
    pub remember: Vec<Remember>,
}

/// The longest excerpt, in bytes: a line for a person.
const MOST_EXCERPT: usize = 200;

impl Verdict {
    fn allow() -> Self {
        Self {
            decision: Decision::Allow,
            group: None,
            rule: "",
            span: Span::default(),
            excerpt: String::new(),
            sentence: "",
            grant: String::new(),
            remember: Vec::new(),
        }
    }

    fn deny(text: &str, reason: Reason) -> Self {
        let Reason { rule, group, sentence, grant, span } = reason;
        Self {
            decision: Decision::Deny,
            group,
            rule,
            span,
            excerpt: excerpt(text, span),
            sentence,
            grant,
            remember: Vec::new(),
        }
    }

    /// Whether it may run without anybody being asked.
    #[must_use]
    pub fn allows(&self) -> bool {
        self.decision == Decision::Allow
    }
}

impl fmt::Display for Verdict {
    /// For people: `rule: sentence (in `excerpt`)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rule.is_empty() {
            return f.write_str(self.decision.as_str());
        }
        write!(f, "{}: {} (in `{}`)", self.rule, self.sentence, self.excerpt)?;
        if self.grant.is_empty() { Ok(()) } else { write!(f, "; what would allow it: {}", self.grant) }
    }
}

fn excerpt(text: &str, span: Span) -> String {
    let part = span.of(text);
    let mut end = part.len().min(MOST_EXCERPT);
    while !part.is_char_boundary(end) {
        end -= 1;
    }
    part.get(..end).unwrap_or_default().to_owned()
}

/// Why not.
struct Reason {
    rule: &'static str,
    group: Option<Group>,
    sentence: &'static str,
    grant: String,
    span: Span,
}

impl Reason {
    fn always(rule: &'static str, sentence: &'static str, grant: &str, span: Span) -> Self {
        Self { rule, group: None, sentence, grant: grant.to_owned(), span }
    }

    fn unparsed(fault: Unparsed) -> Self {
        Self::always(fault.fault.id(), fault.fault.sentence(), fault.fault.grant(), fault.span)
    }

    fn of(rule: &Rule, span: Span) -> Self {
        let grant = format!("the group `{}` switched off for this agent, in the settings of the plugin", rule.group);
        Self { rule: rule.id, group: Some(rule.group), sentence: rule.sentence, grant, span }
    }
}

/// Judges a command: always-on rules first, then the deny groups that are on, then the mode. No I/O; the work grows with the
/// length of the text.
#[must_use]
pub fn scan(text: &str, setting: &Setting) -> Verdict {
    match see(text, setting.dialect) {
        Ok(seen) => judge(text, &seen, setting),
        Err(fault) => Verdict::deny(text, Reason::unparsed(fault)),
    }
}

/// Judges what was already seen of a text, for whoever needs both.
#[must_use]
pub fn judge(text: &str, seen: &Seen, setting: &Setting) -> Verdict {
    match inspect(text, seen, setting, 0) {
        Some(Finding::Denied(reason)) => Verdict::deny(text, reason),
        Some(Finding::Install(reason)) => install(text, seen, setting, reason),
        None => by_mode(text, seen, setting),
    }
}

/// How deep scripts that write scripts are followed.
const MOST_SCRIPTS: usize = 2;

/// What was found against a command.
enum Finding {
    Denied(Reason),
    /// Only installing is denied, which may be asked for.
    Install(Reason),
}

/// All that is denied whatever the mode, scripts that the command writes and runs included.
fn inspect(text: &str, seen: &Seen, setting: &Setting, depth: usize) -> Option<Finding> {
    with_looks(text, seen, setting, |looks| {
        if let Some(reason) = looks.iter().find_map(|look| always(setting, look)) {
            return Some(Finding::Denied(reason));
        }
        let found = broken(looks, setting);
        if matches!(found, Some(Finding::Denied(_))) {
            return found;
        }
        scripts(looks, setting, depth).or(found)
    })
}

fn with_looks<T>(text: &str, seen: &Seen, setting: &Setting, judge: impl FnOnce(&[Look<'_>]) -> T) -> T {
    let names: Vec<String> =
        seen.invocations.iter().map(|one| one.name().map(rules::known_as).unwrap_or_default()).collect();
    let folders = Folders::along(setting.paths.workspace(), &seen.invocations);
    judge(&look::all(text, seen, &names, &folders))
}

/// Shell scripts that were written by the command itself are judged like commands.
fn scripts(looks: &[Look<'_>], setting: &Setting, depth: usize) -> Option<Finding> {
    let mut install = None;
    for look in looks {
        let Some(Ran { what: What::Text(text, _), language: Language::Shell, span }) = &look.ran else { continue };
        if depth >= MOST_SCRIPTS {
            let fault = Unparsed { fault: Fault::TooDeep, span: *span };
            return Some(Finding::Denied(Reason::unparsed(fault)));
        }
        let found = match see(text, setting.dialect) {
            Ok(seen) => inspect(text, &seen, setting, depth + 1),
            Err(fault) => Some(Finding::Denied(Reason::unparsed(fault))),
        };
        match found {
            Some(Finding::Denied(reason)) => return Some(Finding::Denied(Reason { span: *span, ..reason })),
            Some(Finding::Install(reason)) => install = Some(Finding::Install(Reason { span: *span, ..reason })),
            None => {}
        }
    }
    install
}

/// The rules that no switch turns off.
fn always(setting: &Setting, look: &Look<'_>) -> Option<Reason> {
    if let Some((span, name)) = modes::ungranted(setting, look) {
        let sentence =
            "the program runs with credentials, and only where they were granted; ask the operator for the grant";
        let grant = format!("`{name}` granted to this agent by the tenant");
        return Some(Reason::always("shell.not-granted", sentence, &grant, span));
    }
    if let Some(span) = modes::check_paths(&setting.paths, look, look.folders) {
        let sentence = "the path belongs to the gateway; no command may name it";
        let grant =
            "the path exempted from those that the operator denies to commands, or a command that does not name it";
        return Some(Reason::always("shell.path-denied", sentence, grant, span));
    }
    // A name with a dash in front is an option of a wrapper that was not understood, so what it wraps is not known either.
    if look.one.unknown_program() || look.name.starts_with('-') {
        let sentence = "the name of the program is not known before the command runs; write it out";
        let grant = "the name of the program in plain text where the command starts it";
        return Some(Reason::always("shell.unknown-program", sentence, grant, look.program()));
    }
    None
}

/// The first rule that is broken; one about installing only where no other is.
fn broken(looks: &[Look<'_>], setting: &Setting) -> Option<Finding> {
    let mut install = None;
    for look in looks {
        for (rule, span) in rules::broken(look) {
            if !setting.switches.denies(rule.group) {
                continue;
            }
            if rule.group != Group::PackageInstall {
                return Some(Finding::Denied(Reason::of(rule, span)));
            }
            install.get_or_insert_with(|| Finding::Install(Reason::of(rule, span)));
        }
    }
    install
}

/// Installing goes to a person where there is one, as long as the mode allows the rest.
fn install(text: &str, seen: &Seen, setting: &Setting, reason: Reason) -> Verdict {
    if !setting.approver || matches!(setting.mode, Mode::Allowlist(_)) {
        return Verdict::deny(text, reason);
    }
    ask(text, seen, setting, reason)
}

/// Asks, unless it was approved for good.
fn ask(text: &str, seen: &Seen, setting: &Setting, reason: Reason) -> Verdict {
    let remember = modes::remember(seen);
    if modes::approved(&setting.remembered, remember.as_deref()) {
        return Verdict::allow();
    }
    if !setting.approver {
        return Verdict::deny(text, reason);
    }
    Verdict { decision: Decision::Ask, remember: remember.unwrap_or_default(), ..Verdict::deny(text, reason) }
}

fn by_mode(text: &str, seen: &Seen, setting: &Setting) -> Verdict {
    if let Mode::Allowlist(list) = &setting.mode
        && let Err(miss) = with_looks(text, seen, setting, |looks| modes::check_allowlist(list, seen, looks))
    {
        let reason = missed(miss);
        let may_ask =
            setting.ask != Ask::Off && reason.rule != "allowlist.empty" && reason.rule != "allowlist.not-plain";
        return if may_ask { ask(text, seen, setting, reason) } else { Verdict::deny(text, reason) };
    }
    if setting.ask == Ask::Always {
        let whole = Span::new(0, text.len());
        let sentence = "every command of this agent is asked for";
        let grant = "an approval by a person";
        return ask(text, seen, setting, Reason::always("ask.always", sentence, grant, whole));
    }
    Verdict::allow()
}

fn missed(miss: modes::Miss) -> Reason {
    use modes::Miss;
    let (rule, sentence, grant, span) = match miss {
        Miss::Empty(span) => {
            ("allowlist.empty", "no program is allowed here, so there is no shell", "the program listed", span)
        }
        Miss::NotPlain(span) => (
            "allowlist.not-plain",
            "only one plain command is allowed here: no chaining, pipes, substitutions, expansions or redirections; run the commands one by one",
            "each program called on its own with plain words, or the mode `deny-groups` in the settings of the plugin",
            span,
        ),
        Miss::Program(span) => (
            "allowlist.program",
            "the program is not on the list; use one that is",
            "the program listed by this name",
            span,
        ),
        Miss::Arguments(span) => (
            "allowlist.arguments",
            "the program is listed with other arguments; use those",
            "these arguments listed",
            span,
        ),
        Miss::Beyond(span) => (
            "allowlist.beyond",
            "the list names the program only, which covers neither code that it is given nor files that an option makes it write",
            "the program listed with these arguments",
            span,
        ),
    };
    Reason::always(rule, sentence, grant, span)
}
