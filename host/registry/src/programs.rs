//! Programs that run with credentials: what is registered in a tenant, and what one call has of it.

use crate::gateway::Inner;
use crate::known::Known;
use crate::{ProgramCredentialRecord, ProgramGrantRecord, ProgramHolder, ProgramRecord, ProgramSecrets, SealedOf};
use async_trait::async_trait;
use caisson_call::{Principal, TenantId};
use caisson_engine::{Programs, Through, Unavailable};
use caisson_programs::{
    Caller, Credential, CredentialKind, Env, Fault, Grant, Holder, Program, ProgramId, Roster, Secret,
};
use caisson_scrub::{Scrubber, Secrets, Stream};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A registered program with what hangs on it, without secrets; its patterns are compiled.
pub(crate) struct Registered {
    pub(crate) record: ProgramRecord,
    /// What is wrong with it where it cannot be read any more.
    pub(crate) program: Result<Program, Vec<Fault>>,
    pub(crate) grants: Vec<Granted>,
    pub(crate) credentials: Vec<ProgramCredentialRecord>,
}

/// A program granted to an agent, or taken from it.
pub(crate) struct Granted {
    pub(crate) record: ProgramGrantRecord,
    pub(crate) grant: Result<Grant, Vec<Fault>>,
}

/// The registered programs of one tenant, by identifier.
pub(crate) type OfTenant = BTreeMap<String, Arc<Registered>>;

impl Registered {
    fn of(record: ProgramRecord, grants: Vec<ProgramGrantRecord>, credentials: Vec<ProgramCredentialRecord>) -> Self {
        let program = read(&record.settings).and_then(|settings| {
            Program::new(ProgramId::new(&record.id), record.tenant.clone(), settings, Env::default())
        });
        if let Err(faults) = &program {
            tracing::error!(
                program = record.name,
                fault = faults.first().map(tracing::field::display),
                "a registered program cannot be read and is refused"
            );
        }
        let granted = |grant_record: ProgramGrantRecord| {
            let grant = match &program {
                Ok(program) => read(&grant_record.settings)
                    .and_then(|settings| Grant::new(program, &grant_record.agent, settings, Env::default())),
                Err(faults) => Err(faults.clone()),
            };
            Granted { record: grant_record, grant }
        };
        let grants = grants.into_iter().map(granted).collect();
        Self { record, program, grants, credentials }
    }

    fn is_of(
        &self,
        record: &ProgramRecord,
        grants: &[ProgramGrantRecord],
        credentials: &[ProgramCredentialRecord],
    ) -> bool {
        self.record == *record
            && self.grants.iter().map(|one| &one.record).eq(grants)
            && self.credentials == credentials
    }

    /// With its own variables.
    pub(crate) fn opened(&self, secrets: &ProgramSecrets) -> Result<Program, Vec<Fault>> {
        let program = self.program.as_ref().map_err(Clone::clone)?;
        program.with_env(env(secrets, &SealedOf::Program(self.record.id.clone()))?)
    }

    /// The grant of an agent with its variables, where there is one.
    pub(crate) fn opened_grant(
        &self,
        program: &Program,
        agent: &str,
        secrets: &ProgramSecrets,
    ) -> Result<Option<Grant>, Vec<Fault>> {
        let Some(granted) = self.grants.iter().find(|one| one.record.agent == agent) else { return Ok(None) };
        let grant = granted.grant.as_ref().map_err(Clone::clone)?;
        let of = SealedOf::Grant(self.record.id.clone(), agent.to_owned());
        grant.with_env(program, env(secrets, &of)?).map(Some)
    }

    /// The credentials of a holder.
    pub(crate) fn opened_credentials(
        &self,
        holder: &ProgramHolder,
        secrets: &ProgramSecrets,
    ) -> Result<Vec<CredentialKind>, Vec<Fault>> {
        let own = self.credentials.iter().filter(|one| one.holder == *holder);
        own.map(|one| {
            let of = SealedOf::Credential(one.program.clone(), one.holder.clone(), one.slot.clone());
            let text = opened(secrets, &of)?;
            let value = serde_json::from_str(text.expose()).map_err(|_| damaged("the stored text is not JSON"))?;
            CredentialKind::read(&value, None)
        })
        .collect()
    }
}

fn damaged(why: &str) -> Vec<Fault> {
    vec![Fault { at: "stored".into(), why: why.to_owned() }]
}

/// Serde's own words are not passed on: they repeat values.
fn read<T: DeserializeOwned>(settings: &str) -> Result<T, Vec<Fault>> {
    serde_json::from_str(settings).map_err(|_| damaged("the stored settings cannot be read"))
}

fn opened(secrets: &ProgramSecrets, of: &SealedOf) -> Result<Secret, Vec<Fault>> {
    let text = secrets.get(of).ok_or_else(|| damaged("it was changed just now; try again"))?;
    let text = text.as_ref().ok_or_else(|| damaged("it was changed in the database, or sealed with another key"))?;
    Ok(Secret::new(text.as_str()))
}

fn env(secrets: &ProgramSecrets, of: &SealedOf) -> Result<Env, Vec<Fault>> {
    Env::from_stored(&opened(secrets, of)?, "env")
}

/// What is registered, by tenant. What did not change since `before` is taken over.
pub(crate) fn by_tenant(
    programs: Vec<ProgramRecord>,
    grants: Vec<ProgramGrantRecord>,
    credentials: Vec<ProgramCredentialRecord>,
    before: &HashMap<TenantId, Arc<OfTenant>>,
) -> HashMap<TenantId, Arc<OfTenant>> {
    let mut grants_of: HashMap<_, Vec<_>> = HashMap::new();
    for grant in grants {
        grants_of.entry((grant.tenant.clone(), grant.program.clone())).or_default().push(grant);
    }
    let mut credentials_of: HashMap<_, Vec<_>> = HashMap::new();
    for credential in credentials {
        let of = (credential.tenant.clone(), credential.program.clone());
        credentials_of.entry(of).or_default().push(credential);
    }
    let mut all: HashMap<TenantId, OfTenant> = HashMap::new();
    for record in programs {
        let (tenant, id) = (record.tenant.clone(), record.id.clone());
        let of = (tenant.clone(), id.clone());
        let grants = grants_of.remove(&of).unwrap_or_default();
        let credentials = credentials_of.remove(&of).unwrap_or_default();
        let known = before.get(&tenant).and_then(|programs| programs.get(&id));
        let registered = match known.filter(|known| known.is_of(&record, &grants, &credentials)) {
            Some(known) => Arc::clone(known),
            None => Arc::new(Registered::of(record, grants, credentials)),
        };
        all.entry(tenant).or_default().insert(id, registered);
    }
    all.into_iter().map(|(tenant, programs)| (tenant, Arc::new(programs))).collect()
}

/// The registered programs, for one call.
pub(crate) struct ForCall {
    inner: Arc<Inner>,
    who: Principal,
    known: Known,
}

impl ForCall {
    /// Nothing where nothing is registered in the tenant.
    pub(crate) fn of(inner: &Arc<Inner>, who: &Principal, known: &Known) -> Option<Self> {
        inner.catalog().programs.get(&who.tenant)?;
        Some(Self { inner: Arc::clone(inner), who: who.clone(), known: known.clone() })
    }
}

#[async_trait]
impl Programs for ForCall {
    async fn roster(&self) -> Result<Roster, Unavailable> {
        let secrets = self.inner.store.reveal_programs(&self.who.tenant).await.map_err(|error| {
            tracing::error!(%error, "registered programs cannot be read");
            Unavailable
        })?;
        let programs = self.inner.catalog().programs.get(&self.who.tenant).cloned().unwrap_or_default();
        Ok(roster(&self.who, &programs, &secrets))
    }

    fn hide(&self, values: &[Secret]) -> [Box<dyn Through>; 2] {
        let values = Secrets::new(values.iter().map(Secret::expose));
        self.known.add(&values);
        let through = |scrubber: &Arc<Scrubber>| Box::new(Cleaned(scrubber.stream(&self.known.now())));
        [through(&self.inner.scrubber), through(&self.inner.scrubber)]
    }
}

/// A stream of a program, without its secrets.
struct Cleaned(Stream);

impl Through for Cleaned {
    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.0.push(bytes)
    }

    fn finish(&mut self) -> Vec<u8> {
        self.0.finish()
    }
}

/// What one caller has: a program is refused by name as soon as anything is wrong with what the caller would have of it.
fn roster(who: &Principal, programs: &OfTenant, secrets: &ProgramSecrets) -> Roster {
    let (mut fit, mut grants, mut credentials, mut broken) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for registered in programs.values() {
        match of_caller(who, registered, secrets) {
            Ok((program, grant, own)) => {
                fit.push(program);
                grants.extend(grant);
                credentials.extend(own);
            }
            Err(faults) => broken.push((registered.record.name.as_str(), faults)),
        }
    }
    let caller = Caller { agent: who.agent.as_deref(), channel: None, user: who.user.as_deref() };
    let roster = Roster::new(&who.tenant, &fit, &grants, &credentials, Arc::from([]), &caller);
    broken.into_iter().fold(roster, |roster, (name, faults)| roster.broken(name, &faults))
}

type OfCaller = (Program, Option<Grant>, Vec<Credential>);

fn of_caller(who: &Principal, registered: &Registered, secrets: &ProgramSecrets) -> Result<OfCaller, Vec<Fault>> {
    let program = registered.opened(secrets)?;
    let grant = who.agent.as_deref().map(|agent| registered.opened_grant(&program, agent, secrets));
    let mut own = Vec::new();
    let holders = [
        who.agent.clone().map(|agent| (ProgramHolder::Agent(agent.clone()), Holder::Agent(agent))),
        who.user.clone().map(|user| (ProgramHolder::User(user.clone()), Holder::User(user))),
    ];
    for (kept, holder) in holders.into_iter().flatten() {
        let kinds = registered.opened_credentials(&kept, secrets)?;
        let of = |kind| Credential { program: program.id().clone(), holder: holder.clone(), kind };
        own.extend(kinds.into_iter().map(of));
    }
    Ok((program, grant.transpose()?.flatten(), own))
}
