//! Whether a command line of a registered program may run, and what it is given.

use crate::adapter::{CredentialFile, Injection, Material, Needs, Place, Proxied};
use crate::keywords::{Let, mask};
use crate::pattern::{Views, speaks};
use crate::roster::{Access, Roster, Standing};
use crate::{HostScope, ProgramId, Refusal, Rule, Secret};
use caisson_guard::shell::{Feature, Invocation, Language, Seen, Source, Word};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A command as it came in.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its text.
    pub text: &'a str,
    /// What the scanner saw in it.
    pub seen: &'a Seen,
    /// Whether the call gives it standard input.
    pub input: bool,
    /// Whether the call gives it variables.
    pub variables: bool,
}

/// What becomes of a command.
#[derive(Clone, Debug)]
pub enum Decision {
    /// It has nothing to do with credentials, and is judged like any other. It is given none.
    Elsewhere,
    /// It runs without a shell, with its credentials.
    Run(Box<Cleared>),
    /// It may not run.
    Refused(Box<Refusal>),
}

/// A command that may run with credentials. Only [`decide`] makes one.
#[derive(Clone, Debug)]
pub struct Cleared {
    access: Arc<Access>,
    arguments: Vec<String>,
    keywords: Vec<Let>,
}

/// Judges a command: one that names a registered program anywhere must be that program alone, granted, and with arguments that
/// are allowed. No I/O; the work grows with the length of the text.
#[must_use]
pub fn decide(asked: &Asked<'_>, roster: &Roster) -> Decision {
    match judge(asked, roster) {
        Ok(None) => Decision::Elsewhere,
        Ok(Some(cleared)) => Decision::Run(Box::new(cleared)),
        Err(refusal) => Decision::Refused(Box::new(refusal)),
    }
}

/// An invocation of a registered program.
struct Hit<'h> {
    one: &'h Invocation,
    name: &'h str,
    access: &'h Arc<Access>,
}

fn judge(asked: &Asked<'_>, roster: &Roster) -> Result<Option<Cleared>, Refusal> {
    let mut hits = Vec::new();
    for one in &asked.seen.invocations {
        // In code that nobody has read here a granted program runs without credentials, so only the others matter.
        for (name, standing) in mentioned(one).filter_map(|word| roster.find(word)) {
            granted(standing).map_err(|refusal| refusal.of(name))?;
        }
        let Some((name, standing)) = one.name().and_then(|name| roster.find(name)) else { continue };
        let access = granted(standing).map_err(|refusal| refusal.of(name))?;
        hits.push(Hit { one, name, access });
    }
    let mut credentialed = hits.iter().filter(|hit| !is_local(hit));
    let Some(hit) = credentialed.next() else {
        hits.iter().try_for_each(|hit| local(hit, roster).map_err(|refusal| refusal.of(hit.name)))?;
        return Ok(None);
    };
    cleared(asked, hit, roster).map(Some).map_err(|refusal| refusal.of(hit.name))
}

fn granted<'r>(standing: Standing<'r>) -> Result<&'r Arc<Access>, Refusal> {
    match standing {
        Standing::Broken(fault) => Err(Refusal::new(Rule::Broken, "the program saved anew by its tenant").about(fault)),
        Standing::Disabled => Err(Refusal::new(Rule::Disabled, "`enabled` set by the tenant")),
        Standing::NotGranted => Err(Refusal::new(Rule::NotGranted, "the program granted to this agent by the tenant")),
        Standing::Granted(access) => Ok(access),
    }
}

/// The words of code in languages that start programs and that the scanner does not follow (`pwsh -c 'gh …'`,
/// `python -c "os.system('gh …')"`).
fn mentioned(one: &Invocation) -> impl Iterator<Item = &str> {
    let code = one.code.iter().filter(|code| !matches!(code.language, Language::Shell | Language::Sql));
    let texts = code.filter_map(|code| if let Source::Text(word) = &code.source { Some(word) } else { None });
    let between = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    texts.flat_map(Word::literals).flat_map(move |text| text.split(between)).map(|word| word.trim_end_matches('.'))
}

/// Whether the command needs no credentials: all that would say so must be known.
fn is_local(hit: &Hit<'_>) -> bool {
    known(&hit.one.args).is_some_and(|arguments| !hit.access.adapter.should_inject(&arguments))
}

fn known(words: &[Word]) -> Option<Vec<&str>> {
    words.iter().map(Word::known).collect()
}

/// Judges the arguments of a command that runs as any other does: what is denied of the program is denied of it all the same.
fn local(hit: &Hit<'_>, roster: &Roster) -> Result<(), Refusal> {
    let arguments = known(&hit.one.args).unwrap_or_default();
    allowed(hit.access, &arguments, roster).map(drop)
}

fn cleared(asked: &Asked<'_>, hit: &Hit<'_>, roster: &Roster) -> Result<Cleared, Refusal> {
    plain(asked, hit.one)?;
    let program = hit.one.program.as_ref().and_then(Word::known).unwrap_or_default();
    let access = hit.access;
    if program != access.name && program != access.path {
        let rule = if program.contains('/') { Rule::Path } else { Rule::Spelling };
        return Err(Refusal::new(rule, format!("`{}`, written so", access.name)).about(program));
    }
    let arguments = known(&hit.one.args).ok_or_else(|| Refusal::new(Rule::Expansion, "every argument written out"))?;
    if asked.variables {
        return Err(Refusal::new(Rule::Environment, "the call without variables, or the variable set for the program"));
    }
    if asked.input && !access.adapter.takes_input() {
        return Err(Refusal::new(Rule::Input, "the call without input"));
    }
    access.adapter.check(&arguments, &access.credentials)?;
    let keywords = allowed(access, &arguments, roster)?;
    let arguments = arguments.into_iter().map(str::to_owned).collect();
    Ok(Cleared { access: Arc::clone(access), arguments, keywords })
}

/// Denied patterns and options.
fn allowed(access: &Access, arguments: &[&str], roster: &Roster) -> Result<Vec<Let>, Refusal> {
    let (masked, keywords) = mask(roster.keywords(), &access.name, arguments);
    let views = Views::of(&masked);
    if let Some(pattern) = access.denied.iter().find(|pattern| pattern.matches(arguments, &views)) {
        let grant =
            format!("`deny_args` without `{}`, of the program or of the agent's grant", pattern.text().as_str());
        return Err(Refusal::new(Rule::DeniedArguments, grant).by(pattern.text()).about(&arguments.join(" ")));
    }
    if let Some((at, text)) = speaks(&access.verbose, arguments) {
        let grant = format!("the command without it, or `deny_verbose` without `{}`", text.as_str());
        return Err(Refusal::new(Rule::Verbose, grant).by(&text).about(arguments.get(at).copied().unwrap_or_default()));
    }
    Ok(keywords)
}

/// Whether the text is one command and nothing else.
fn plain(asked: &Asked<'_>, one: &Invocation) -> Result<(), Refusal> {
    let text = |span: caisson_guard::shell::Span| span.of(asked.text);
    let alone = "the program alone, as one command";
    if let Some(via) = one.via.first() {
        return Err(Refusal::new(Rule::Wrapped, alone).about(&via.name));
    }
    if let Some(used) = asked.seen.uses.first() {
        let (rule, grant) = feature(used.feature);
        return Err(Refusal::new(rule, grant).about(text(used.span)));
    }
    // A wrapper whose arguments begin with the program has been told by then; what is left starts from the program's arguments,
    // or is a second reading of them by another shell.
    if let Some(other) = asked.seen.invocations.iter().find(|other| !std::ptr::eq(*other, one)) {
        let again = other.span == one.span && other.via.is_empty();
        return Err(if again {
            Refusal::new(Rule::Expansion, "the argument in plain quotes, since shells read this one differently")
        } else {
            Refusal::new(Rule::StartsAnother, "the command without what it starts").about(&other.to_string())
        });
    }
    if !one.assignments.is_empty() || !one.redirects.is_empty() || one.conditional {
        return Err(Refusal::new(Rule::NotPlain, alone));
    }
    // `!`, `;` at the end, comments: what no word owns.
    let first = one.program.as_ref().map_or(0, |word| word.span.start);
    let last = one.args.last().or(one.program.as_ref()).map_or(0, |word| word.span.end);
    let around = [asked.text.get(..first), asked.text.get(last..)];
    match around.into_iter().find(|part| part.is_none_or(|part| !part.trim().is_empty())) {
        Some(part) => Err(Refusal::new(Rule::NotPlain, alone).about(part.unwrap_or_default().trim())),
        None => Ok(()),
    }
}

fn feature(feature: Feature) -> (Rule, &'static str) {
    match feature {
        Feature::Chain => (Rule::Chain, "the commands one by one, each by a call of its own"),
        Feature::Pipe => (Rule::Pipe, "the program alone; its own options filter its output (`--jq`, `--query`, `-o`)"),
        Feature::Background => (Rule::Background, "the program alone"),
        Feature::Substitution | Feature::Process => (Rule::Substitution, "the value written out"),
        Feature::Redirect => (Rule::Redirect, "the program alone; its output is the result"),
        Feature::Compound | Feature::Function => (Rule::Compound, "the commands one by one, each by a call of its own"),
        Feature::Assignment => (Rule::Assignment, "the variable set for the program by the tenant"),
        Feature::Expansion | Feature::Brace | Feature::Glob | Feature::Tilde => {
            (Rule::Expansion, "the value written out, or in single quotes where it is meant as it stands")
        }
    }
}

/// Variables that a program keeps of the gateway's own environment for commands; all others are its credentials.
pub const BASE: [&str; 4] = ["PATH", "HOME", "LANG", "USER"];

/// What to start, and with what. There is no shell in between.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The file.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its variables, beside those of [`BASE`].
    pub env: BTreeMap<String, Secret>,
    /// Files to make before it starts and to remove when it has ended.
    pub files: Vec<CredentialFile>,
    /// Values to take out of all that it writes.
    pub scrub: Vec<Secret>,
    /// Credentials that the proxy puts in for it, and for nothing else.
    pub proxied: Vec<Proxied>,
    /// What it needs of a network.
    pub needs: Needs,
    /// How long it may take.
    pub timeout: Duration,
    /// What the audit says of it.
    pub injected: Injected,
}

impl Launch {
    /// The whole environment: what [`BASE`] names of the given one, and the program's own.
    #[must_use]
    pub fn environment(&self, base: &BTreeMap<String, String>) -> BTreeMap<String, Secret> {
        let kept = BASE.iter().filter_map(|name| Some(((*name).to_owned(), Secret::new(base.get(*name)?.as_str()))));
        kept.chain(self.env.iter().map(|(name, value)| (name.clone(), value.clone()))).collect()
    }
}

/// What the audit says of a run with credentials: names, and never values.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Injected {
    /// The program.
    pub program: ProgramId,
    /// Its name.
    pub name: String,
    /// The adapter.
    pub adapter: &'static str,
    /// Names of the variables that it was given.
    pub variables: Vec<String>,
    /// Hosts that credentials were given for.
    pub hosts: Vec<String>,
    /// Whether the program could read a secret.
    pub exposed: bool,
    /// Keywords that were let through.
    pub keywords: Vec<Let>,
}

impl Cleared {
    /// The program's identifier.
    #[must_use]
    pub fn program(&self) -> &ProgramId {
        &self.access.id
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.access.name
    }

    /// The file that will run; an approval is bound to it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.access.path
    }

    /// The arguments as they were written.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// What to start.
    ///
    /// # Errors
    /// A variable or credential is missing, or could be read by the program without the operator's word for it.
    pub fn prepare(self, place: &Place) -> Result<Launch, Refusal> {
        let name = self.access.name.clone();
        self.launch(place).map_err(|refusal| refusal.of(&name))
    }

    fn launch(self, place: &Place) -> Result<Launch, Refusal> {
        let Self { access, arguments, keywords } = self;
        if let Some(name) = access.required.iter().find(|name| access.env.get(name).is_none()) {
            let grant = "the variable set for the program, or for this agent, channel or user";
            return Err(Refusal::new(Rule::EnvMissing, grant).about(name));
        }
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let material = Material {
            arguments: &words,
            env: &access.env,
            files: &access.files,
            credentials: &access.credentials,
            place,
        };
        let Injection { first, env, files, scrub, hosts, proxied, exposes } = access.adapter.prepare(&material)?;
        if exposes && !access.exposure {
            let grant = "the operator's own words in `accepted_exposure` of the program";
            return Err(Refusal::new(Rule::Exposure, grant));
        }
        let injected = Injected {
            program: access.id.clone(),
            name: access.name.clone(),
            adapter: access.adapter.name(),
            variables: env.keys().cloned().collect(),
            hosts: hosts.iter().map(HostScope::to_string).collect(),
            exposed: exposes,
            keywords,
        };
        Ok(Launch {
            program: access.path.clone(),
            arguments: first.into_iter().chain(arguments).collect(),
            env,
            files,
            scrub,
            proxied,
            needs: access.adapter.needs(),
            timeout: access.timeout,
            injected,
        })
    }
}
