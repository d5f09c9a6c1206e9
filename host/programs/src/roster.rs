//! The registered programs as one caller has them.

use crate::adapter::Adapter;
use crate::keywords::KeywordRule;
use crate::pattern::{Pattern, Verbose};
use crate::{Credential, CredentialKind, Env, Fault, Grant, Holder, Program, ProgramId};
use caisson_call::TenantId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Who calls. What is not known has no grant and no credential.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caller<'c> {
    /// The agent.
    pub agent: Option<&'c str>,
    /// The channel, and the place in it.
    pub channel: Option<(&'c str, &'c str)>,
    /// The user.
    pub user: Option<&'c str>,
}

impl Caller<'_> {
    fn is(&self, holder: &Holder) -> bool {
        match holder {
            Holder::Agent(agent) => self.agent == Some(agent),
            Holder::Channel { instance, scope } => self.channel == Some((instance, scope)),
            Holder::User(user) => self.user == Some(user),
        }
    }
}

/// All registered programs of a tenant, with what one caller was granted of them. Those that are not granted are in it too, so
/// that they are found.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    entries: BTreeMap<String, Entry>,
    keywords: Arc<[KeywordRule]>,
}

#[derive(Clone, Debug)]
enum Entry {
    /// Its stored form is not right: what is wrong first.
    Broken(String),
    Disabled,
    NotGranted,
    Granted(Arc<Access>),
}

/// How a registered program stands to a caller.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Standing<'r> {
    Broken(&'r str),
    Disabled,
    NotGranted,
    Granted(&'r Arc<Access>),
}

/// What a caller was granted of a program.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) id: ProgramId,
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) adapter: &'static dyn Adapter,
    pub(crate) env: Env,
    pub(crate) files: BTreeSet<String>,
    pub(crate) required: BTreeSet<String>,
    /// One for each place that a credential goes to, the caller's own before those of many.
    pub(crate) credentials: Vec<CredentialKind>,
    pub(crate) denied: Arc<[Pattern]>,
    pub(crate) verbose: Arc<[Verbose]>,
    pub(crate) timeout: Duration,
    pub(crate) tips: String,
    pub(crate) exposure: bool,
}

impl Roster {
    /// The programs of a tenant, for a caller; those of others are passed over.
    #[must_use]
    pub fn new<'p>(
        tenant: &TenantId,
        programs: impl IntoIterator<Item = &'p Program>,
        grants: &[Grant],
        credentials: &[Credential],
        keywords: Arc<[KeywordRule]>,
        caller: &Caller<'_>,
    ) -> Self {
        let entry = |program: &Program| {
            let grant =
                grants.iter().find(|grant| grant.program() == program.id() && caller.agent == Some(grant.agent()));
            let holds = grant.map_or(program.settings().is_global, Grant::holds);
            let adapter = crate::adapter::find(&program.settings().adapter_name);
            match adapter {
                _ if !program.settings().enabled => Entry::Disabled,
                _ if !holds => Entry::NotGranted,
                Some(adapter) => Entry::Granted(Arc::new(access(program, adapter, grant, credentials, caller))),
                None => Entry::Broken("its adapter is not known".to_owned()),
            }
        };
        let entries = programs
            .into_iter()
            .filter(|one| one.tenant() == tenant)
            .map(|one| (one.settings().binary_name.to_ascii_lowercase(), entry(one)));
        Self { entries: entries.collect(), keywords }
    }

    /// One program, as if it were on and granted: to try commands out.
    pub(crate) fn of_one(program: &Program) -> Self {
        let adapter = crate::adapter::find(&program.settings().adapter_name);
        let entry =
            adapter.map(|adapter| Entry::Granted(Arc::new(access(program, adapter, None, &[], &Caller::default()))));
        let name = program.settings().binary_name.to_ascii_lowercase();
        Self { entries: entry.map(|entry| (name, entry)).into_iter().collect(), ..Self::default() }
    }

    /// With a program whose stored form is not right: it is refused by name rather than forgotten, since a forgotten one would
    /// run as any other command.
    #[must_use]
    pub fn broken(mut self, name: &str, faults: &[Fault]) -> Self {
        let first = faults.first().map(Fault::to_string).unwrap_or_default();
        self.entries.insert(name.to_ascii_lowercase(), Entry::Broken(first));
        self
    }

    /// The names of all registered programs, for the scanner's setting of that name.
    #[must_use]
    pub fn registered(&self) -> BTreeSet<String> {
        self.entries.keys().cloned().collect()
    }

    /// The names of those that the caller was granted, for the scanner's setting of that name.
    #[must_use]
    pub fn granted(&self) -> BTreeSet<String> {
        self.accesses().map(|access| access.name.clone()).collect()
    }

    /// What the model is told about the programs that the caller was granted: name and tips.
    pub fn tips(&self) -> impl Iterator<Item = (&str, &str)> {
        self.accesses().map(|access| (access.name.as_str(), access.tips.as_str()))
    }

    fn accesses(&self) -> impl Iterator<Item = &Arc<Access>> {
        self.entries.values().filter_map(|entry| if let Entry::Granted(access) = entry { Some(access) } else { None })
    }

    pub(crate) fn keywords(&self) -> &[KeywordRule] {
        &self.keywords
    }

    /// The registered program of this name, in whatever capitals, with its own name.
    pub(crate) fn find(&self, name: &str) -> Option<(&str, Standing<'_>)> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        let (name, entry) = self.entries.get_key_value(name)?;
        let standing = match entry {
            Entry::Broken(fault) => Standing::Broken(fault),
            Entry::Disabled => Standing::Disabled,
            Entry::NotGranted => Standing::NotGranted,
            Entry::Granted(access) => Standing::Granted(access),
        };
        Some((name, standing))
    }
}

fn access(
    program: &Program,
    adapter: &'static dyn Adapter,
    grant: Option<&Grant>,
    credentials: &[Credential],
    caller: &Caller<'_>,
) -> Access {
    let settings = program.settings();
    let own = credentials.iter().filter(|one| one.program == *program.id() && caller.is(&one.holder));
    let mut own: Vec<&Credential> = own.collect();
    own.sort_by(|a, b| a.holder.cmp(&b.holder));
    let base = grant.map(Grant::env).filter(|env| !env.is_empty()).unwrap_or(program.env());
    let env = own.iter().fold(base.clone(), |env, one| match &one.kind {
        CredentialKind::Env(over) => env.overlaid(over),
        _ => env,
    });
    let mut typed: Vec<CredentialKind> = Vec::new();
    for one in own.iter().rev().filter(|one| adapter.takes().contains(&one.kind.name())) {
        let same =
            |other: &CredentialKind| other.name() == one.kind.name() && other.host_scope() == one.kind.host_scope();
        if !matches!(one.kind, CredentialKind::Env(_)) && !typed.iter().any(same) {
            typed.push(one.kind.clone());
        }
    }
    let of_grant = grant.map(Grant::settings);
    let seconds = of_grant.and_then(|grant| grant.timeout_seconds).unwrap_or(settings.timeout_seconds);
    Access {
        id: program.id().clone(),
        name: settings.binary_name.clone(),
        path: settings.binary_path.clone(),
        adapter,
        env,
        files: settings.file_env.clone(),
        required: settings.required_env.clone(),
        credentials: typed,
        denied: grant.and_then(|grant| grant.denied.clone()).unwrap_or_else(|| program.denied.clone()),
        verbose: grant.and_then(|grant| grant.verbose.clone()).unwrap_or_else(|| program.verbose.clone()),
        timeout: Duration::from_secs(seconds.into()),
        tips: of_grant.and_then(|grant| grant.tips.clone()).unwrap_or_else(|| settings.tips.clone()),
        exposure: settings.accepted_exposure.is_some(),
    }
}
