//! Registering programs that run with credentials, granting them, and giving them credentials. Secrets go in and never come out.

use crate::gateway::Gateway;
use crate::manage::{needs, not_found};
use crate::programs::{OfTenant, Registered};
use crate::{
    AdminError, CredentialView, ProgramCredentialRecord, ProgramGrantRecord, ProgramGrantView, ProgramHolder,
    ProgramRecord, ProgramSecrets, ProgramView,
};
use caisson_call::{Principal, Role};
use caisson_programs::{CredentialKind, Draft, Env, Fault, Grant, GrantSettings, Program, ProgramId, Tried, try_out};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Registered programs of one tenant: each command looks at all of them.
const MOST_PROGRAMS: usize = 100;

/// Commands that are tried out at once.
const MOST_TRIED: usize = 100;

/// Bytes of the name of an agent or a user.
const MOST_NAME: usize = 256;

impl From<Vec<Fault>> for AdminError {
    fn from(faults: Vec<Fault>) -> Self {
        Self::Invalid(faults.iter().map(ToString::to_string).collect())
    }
}

fn text(value: &impl Serialize) -> Result<String, AdminError> {
    serde_json::to_string(value).map_err(|error| {
        tracing::error!(%error, "settings of a program cannot be written");
        AdminError::Unavailable("the settings cannot be written; nothing was changed".into())
    })
}

fn name_of(holder: &str) -> Result<(), AdminError> {
    if holder.is_empty() || holder.len() > MOST_NAME || holder.chars().any(char::is_control) {
        return Err(AdminError::Invalid(vec![format!(
            "the name of an agent or user has 1 to {MOST_NAME} bytes without control characters"
        )]));
    }
    Ok(())
}

impl Gateway {
    fn registered(&self, who: &Principal) -> Arc<OfTenant> {
        self.inner.catalog().programs.get(&who.tenant).cloned().unwrap_or_default()
    }

    fn one(&self, who: &Principal, id: &str) -> Result<Arc<Registered>, AdminError> {
        let programs = self.registered(who);
        programs.get(id).cloned().ok_or_else(|| {
            let ids: Vec<&str> = programs.keys().map(String::as_str).collect();
            not_found("registered program", id, &ids)
        })
    }

    async fn secrets_of(&self, who: &Principal) -> Result<ProgramSecrets, AdminError> {
        Ok(self.inner.store.reveal_programs(&who.tenant).await?)
    }

    /// The registered programs of the caller's tenant, by name.
    ///
    /// # Errors
    /// Role, or the store cannot answer.
    pub async fn programs(&self, who: &Principal) -> Result<Vec<ProgramView>, AdminError> {
        needs(who, Role::TenantAdmin)?;
        let secrets = self.secrets_of(who).await?;
        let mut all: Vec<ProgramView> = self.registered(who).values().map(|one| view(one, &secrets)).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// One registered program.
    ///
    /// # Errors
    /// Role, or not found.
    pub async fn program(&self, who: &Principal, id: &str) -> Result<ProgramView, AdminError> {
        needs(who, Role::TenantAdmin)?;
        let registered = self.one(who, id)?;
        Ok(view(&registered, &self.secrets_of(who).await?))
    }

    /// Registers a program; nobody has it yet unless the draft says that all agents do.
    ///
    /// # Errors
    /// Role, all that is wrong with it, or a program of that name is registered.
    pub async fn register_program(&self, who: &Principal, body: &Value) -> Result<ProgramView, AdminError> {
        needs(who, Role::TenantAdmin)?;
        let find = |name: &str| Some(self.inner.executor.find_program(name)?.to_string_lossy().into_owned());
        let (settings, env) = Draft::read(body)?.create(find)?;
        let id = uuid::Uuid::now_v7().to_string();
        let program = Program::new(ProgramId::new(&id), who.tenant.clone(), settings, env)?;
        self.is_seen(&program.settings().binary_path)?;
        let name = program.settings().binary_name.clone();
        let _changing = self.inner.changing.lock().await;
        let others = self.registered(who);
        if others.len() >= MOST_PROGRAMS {
            return Err(AdminError::Conflict(format!(
                "there may be at most {MOST_PROGRAMS} registered programs; remove one first"
            )));
        }
        if let Some(other) = others.values().find(|one| one.record.name == name) {
            return Err(AdminError::Conflict(format!(
                "`{name}` is registered already, as `{}`; change that one",
                other.record.id
            )));
        }
        self.keep_program(who, "program.registered", &program).await
    }

    /// Changes a registered program; what is left out stays as it was.
    ///
    /// # Errors
    /// Role, not found, or all that is wrong with it.
    pub async fn change_program(&self, who: &Principal, id: &str, body: &Value) -> Result<ProgramView, AdminError> {
        needs(who, Role::TenantAdmin)?;
        let draft = Draft::read(body)?;
        let _changing = self.inner.changing.lock().await;
        let registered = self.one(who, id)?;
        let old = registered.opened(&self.secrets_of(who).await?).map_err(cannot_be_changed)?;
        let (settings, env) = draft.change(&old)?;
        if settings.binary_path != old.settings().binary_path {
            self.is_seen(&settings.binary_path)?;
        }
        let program = Program::new(old.id().clone(), who.tenant.clone(), settings, env)?;
        self.keep_program(who, "program.changed", &program).await
    }

    async fn keep_program(&self, who: &Principal, what: &str, program: &Program) -> Result<ProgramView, AdminError> {
        let record = ProgramRecord {
            tenant: who.tenant.clone(),
            id: program.id().to_string(),
            name: program.settings().binary_name.clone(),
            settings: text(program.settings())?,
        };
        self.inner.store.put_program(&record, program.env().to_stored().expose()).await?;
        self.audit_change(who, what, &record.name, &digest(&record.settings));
        self.changed(Some(who.tenant.clone())).await?;
        self.program(who, &record.id).await
    }

    fn is_seen(&self, path: &str) -> Result<(), AdminError> {
        if self.inner.executor.has_program(Path::new(path)) {
            return Ok(());
        }
        let why = "`binary_path`: there is no such file in the part of the system that commands see; install the \
                   program first, or name where it is";
        Err(AdminError::Invalid(vec![why.into()]))
    }

    /// Removes a registered program with its grants and credentials: from then on it is a program like any other.
    ///
    /// # Errors
    /// Role, or not found.
    pub async fn unregister_program(&self, who: &Principal, id: &str) -> Result<(), AdminError> {
        needs(who, Role::TenantAdmin)?;
        let _changing = self.inner.changing.lock().await;
        let registered = self.one(who, id)?;
        self.inner.store.remove_program(&who.tenant, id).await?;
        self.audit_change(who, "program.removed", &registered.record.name, "");
        self.changed(Some(who.tenant.clone())).await
    }

    /// What would become of commands, if the program were on and granted.
    ///
    /// # Errors
    /// Role, not found, or too many.
    pub async fn try_program(&self, who: &Principal, id: &str, commands: &[String]) -> Result<Vec<Tried>, AdminError> {
        needs(who, Role::TenantAdmin)?;
        let registered = self.one(who, id)?;
        if commands.len() > MOST_TRIED {
            return Err(AdminError::Invalid(vec![format!("at most {MOST_TRIED} commands are tried at once")]));
        }
        let program = registered.program.as_ref().map_err(|faults| AdminError::from(faults.clone()))?;
        Ok(try_out(program, commands))
    }

    /// Where commands find a program of this name; nothing where they find none.
    ///
    /// # Errors
    /// Role, or no name of a program.
    pub async fn find_program(&self, who: &Principal, name: &str) -> Result<Option<String>, AdminError> {
        needs(who, Role::TenantAdmin)?;
        if name.is_empty() || name.contains(['/', '\0']) || name.starts_with('.') {
            return Err(AdminError::Invalid(vec!["`binary_name`: a name such as `gh` is needed".into()]));
        }
        Ok(self.inner.executor.find_program(name).map(|path| path.to_string_lossy().into_owned()))
    }

    /// The grants of a program, by agent.
    ///
    /// # Errors
    /// Role, or not found.
    pub async fn program_grants(&self, who: &Principal, id: &str) -> Result<Vec<ProgramGrantView>, AdminError> {
        needs(who, Role::TenantAdmin)?;
        let registered = self.one(who, id)?;
        let secrets = self.secrets_of(who).await?;
        let program = registered.opened(&secrets);
        let view = |agent: &str| {
            let opened = program.clone().and_then(|program| registered.opened_grant(&program, agent, &secrets));
            grant_view(agent, opened)
        };
        Ok(registered.grants.iter().map(|one| view(&one.record.agent)).collect())
    }

    /// Grants a program to an agent, or with `"enabled": false` takes one from it that all have. Replaces the grant whole, but for secrets that are
    /// to be kept.
    ///
    /// # Errors
    /// Role, not found, or all that is wrong with it.
    pub async fn grant_program(
        &self,
        who: &Principal,
        id: &str,
        agent: &str,
        body: &Value,
    ) -> Result<ProgramGrantView, AdminError> {
        needs(who, Role::TenantAdmin)?;
        name_of(agent)?;
        let (settings, draft) = GrantSettings::read(body)?;
        let _changing = self.inner.changing.lock().await;
        let registered = self.one(who, id)?;
        let secrets = self.secrets_of(who).await?;
        let program = registered.opened(&secrets).map_err(cannot_be_changed)?;
        // One that cannot be read has nothing to keep, and is replaced.
        let old = registered.opened_grant(&program, agent, &secrets).ok().flatten();
        let env = match draft {
            Some(draft) => draft.onto(old.as_ref().map(Grant::env), "env")?,
            None => Env::default(),
        };
        let grant = Grant::new(&program, agent, settings, env)?;
        let record = ProgramGrantRecord {
            tenant: who.tenant.clone(),
            program: id.to_owned(),
            agent: agent.to_owned(),
            settings: text(grant.settings())?,
        };
        self.inner.store.put_program_grant(&record, grant.env().to_stored().expose()).await?;
        let name = format!("{} for {agent}", registered.record.name);
        self.audit_change(who, "program.granted", &name, &digest(&record.settings));
        self.changed(Some(who.tenant.clone())).await?;
        Ok(grant_view(agent, Ok(Some(grant))))
    }

    /// Takes a grant back; a program that all agents have is the agent's all the same.
    ///
    /// # Errors
    /// Role, or not found.
    pub async fn revoke_program(&self, who: &Principal, id: &str, agent: &str) -> Result<(), AdminError> {
        needs(who, Role::TenantAdmin)?;
        let _changing = self.inner.changing.lock().await;
        let registered = self.one(who, id)?;
        if !self.inner.store.remove_program_grant(&who.tenant, id, agent).await? {
            let agents: Vec<&str> = registered.grants.iter().map(|one| one.record.agent.as_str()).collect();
            return Err(not_found("grant for agent", agent, &agents));
        }
        self.audit_change(who, "program.revoked", &format!("{} for {agent}", registered.record.name), "");
        self.changed(Some(who.tenant.clone())).await
    }

    /// The credentials of a holder for a program, without their secrets.
    ///
    /// # Errors
    /// Role, or not found.
    pub async fn credentials(
        &self,
        who: &Principal,
        id: &str,
        holder: &ProgramHolder,
    ) -> Result<Vec<CredentialView>, AdminError> {
        needs(who, Role::TenantAdmin)?;
        let registered = self.one(who, id)?;
        let kinds = registered.opened_credentials(holder, &self.secrets_of(who).await?)?;
        Ok(kinds.iter().map(CredentialView::of).collect())
    }

    /// Stores a credential of a holder for a program, in place of the one of the same type and host.
    ///
    /// # Errors
    /// Role, not found, or all that is wrong with it.
    pub async fn put_credential(
        &self,
        who: &Principal,
        id: &str,
        holder: ProgramHolder,
        body: &Value,
    ) -> Result<CredentialView, AdminError> {
        needs(who, Role::TenantAdmin)?;
        name_of(holder.parts().1)?;
        let _changing = self.inner.changing.lock().await;
        let registered = self.one(who, id)?;
        let program = registered.program.as_ref().map_err(|faults| AdminError::from(faults.clone()))?;
        let old = registered.opened_credentials(&holder, &self.secrets_of(who).await?).unwrap_or_default();
        let kind = old
            .iter()
            .find_map(|old| CredentialKind::read(body, Some(old)).ok().filter(|new| slot(new) == slot(old)))
            .map_or_else(|| CredentialKind::read(body, None), Ok)?;
        kind.check(program)?;
        let (word, name) = holder.parts();
        let told = format!("{} for {word} {name}", registered.record.name);
        let record =
            ProgramCredentialRecord { tenant: who.tenant.clone(), program: id.to_owned(), slot: slot(&kind), holder };
        self.inner.store.put_program_credential(&record, kind.to_stored().expose()).await?;
        self.audit_change(who, "program.credential-changed", &told, "");
        self.changed(Some(who.tenant.clone())).await?;
        Ok(CredentialView::of(&kind))
    }

    /// Removes all credentials of a holder for a program.
    ///
    /// # Errors
    /// Role, or not found.
    pub async fn remove_credentials(
        &self,
        who: &Principal,
        id: &str,
        holder: &ProgramHolder,
    ) -> Result<(), AdminError> {
        needs(who, Role::TenantAdmin)?;
        let _changing = self.inner.changing.lock().await;
        let registered = self.one(who, id)?;
        let (word, name) = holder.parts();
        if !self.inner.store.remove_program_credentials(&who.tenant, id, holder).await? {
            return Err(not_found("credential of", name, &[]));
        }
        let told = format!("{} for {word} {name}", registered.record.name);
        self.audit_change(who, "program.credential-removed", &told, "");
        self.changed(Some(who.tenant.clone())).await
    }
}

/// Type and host: one of each.
fn slot(kind: &CredentialKind) -> String {
    format!("{}:{}", kind.name(), kind.host_scope())
}

fn digest(settings: &str) -> String {
    blake3::hash(settings.as_bytes()).to_hex().to_string()
}

/// What is damaged is not mended by a change: nobody knows what of it would be kept.
fn cannot_be_changed(faults: Vec<Fault>) -> AdminError {
    let why = faults.first().map(ToString::to_string).unwrap_or_default();
    AdminError::Conflict(format!("the program cannot be read ({why}); remove it and register it anew"))
}

fn view(registered: &Registered, secrets: &ProgramSecrets) -> ProgramView {
    let opened = registered.opened(secrets);
    let broken = opened.as_ref().err().and_then(|faults| faults.first()).map(ToString::to_string);
    ProgramView {
        id: registered.record.id.clone(),
        name: registered.record.name.clone(),
        settings: registered.program.as_ref().ok().map(|program| program.settings().clone()),
        env: opened.map(|program| program.env().view()).unwrap_or_default(),
        agents: registered.grants.iter().map(|one| one.record.agent.clone()).collect(),
        broken,
    }
}

fn grant_view(agent: &str, opened: Result<Option<Grant>, Vec<Fault>>) -> ProgramGrantView {
    let broken = opened.as_ref().err().and_then(|faults| faults.first()).map(ToString::to_string);
    let grant = opened.ok().flatten();
    ProgramGrantView {
        agent: agent.to_owned(),
        settings: grant.as_ref().map(|grant| grant.settings().clone()).unwrap_or_default(),
        env: grant.map(|grant| grant.env().view()).unwrap_or_default(),
        broken,
    }
}
