//! Commands that wait for a person: asking from within a call, and answering.

use crate::gateway::{Gateway, Inner};
use crate::known::Known;
use crate::manage::needs;
use crate::outputs::now_ms;
use crate::rails::{
    ApprovalDecision, ApprovalRecord, ApprovalState, ApprovalStatus, AskTerms, Asked, Asker, RememberedRecord, Verdict,
};
use crate::steps::find::{Found, shown};
use crate::{AdminError, StoreError};
use async_trait::async_trait;
use caisson_call::{Principal, Role};
use caisson_engine::{ApprovalAnswer, Approvals, Question, Remembered, Unavailable};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long a question waits for an answer, milliseconds; after that it is as good as denied.
const WAIT_MS: i64 = 120_000;

/// How long an approval can be used by the call that asked for it, milliseconds.
const USE_MS: i64 = 600_000;

/// How long a denial answers the same question again, milliseconds: an agent that asks on and on does not wear anybody out.
const DENIED_MS: i64 = 600_000;

/// How long a question that is over is kept to be looked at, milliseconds.
const KEEP_MS: i64 = 7 * 24 * 3_600_000;

/// Most questions of one token that wait at once, and of one tenant.
const MOST: (i64, i64) = (20, 100);

/// How often the store is asked for an answer that another process of this gateway took.
const POLL: Duration = Duration::from_secs(1);

/// Those who approve commands, for one call.
pub(crate) struct Asking {
    inner: Arc<Inner>,
    asker: Asker,
    /// Digest of the principal, the component, the tool and its arguments.
    bound: String,
    /// What was put into the call, and must not be shown.
    known: Known,
    patience: Duration,
}

impl Asking {
    /// `arguments` are those that the tool gets.
    pub(crate) fn of(inner: &Arc<Inner>, found: &Found, arguments: &str, known: &Known) -> Option<Self> {
        let call = &found.call;
        let patience = call.patience?;
        let who = &call.principal;
        let mut hasher = blake3::Hasher::new();
        for part in [
            Some(who.tenant.as_str()),
            Some(who.token_id.as_str()),
            Some(who.role.as_str()),
            who.agent.as_deref(),
            who.user.as_deref(),
            Some(found.plugin.record.digest.as_str()),
            Some(&*found.tool.name),
            Some(arguments),
        ] {
            field(&mut hasher, part);
        }
        let asker = Asker {
            tenant: who.tenant.clone(),
            token_id: who.token_id.clone(),
            agent: who.agent.clone(),
            user: who.user.clone(),
            plugin: found.tool.plugin_name.to_string(),
            tool: found.tool.name.to_string(),
        };
        let bound = hasher.finalize().to_hex().to_string();
        Some(Self { inner: Arc::clone(inner), asker, bound, known: known.clone(), patience })
    }

    fn record(&self, question: Question) -> ApprovalRecord {
        let clean = |text: &str| self.known.clean(&self.inner.scrubber, text).into_owned();
        let command = clean(&question.command);
        let mut hasher = blake3::Hasher::new();
        field(&mut hasher, Some(&self.bound));
        field(&mut hasher, Some(&question.digest));
        // What stands in an approval for good is kept in the open, so a command that holds a secret is approved once at a time.
        let open = command == question.command;
        ApprovalRecord {
            id: uuid::Uuid::now_v7().to_string(),
            asker: self.asker.clone(),
            fingerprint: hasher.finalize().to_hex().to_string(),
            command,
            directory: clean(&question.directory),
            rule: question.rule,
            why: clean(&question.why),
            programs: question.programs,
            remember: if open { question.remember } else { Vec::new() },
            asked_ms: now_ms(),
        }
    }

    async fn asked(&self, question: Question) -> Result<ApprovalAnswer, StoreError> {
        let store = &self.inner.store;
        let mut record = self.record(question);
        let until = Instant::now() + self.patience;
        loop {
            let now_ms = now_ms();
            let terms = AskTerms {
                now_ms,
                expires_ms: now_ms + WAIT_MS,
                denied_since_ms: now_ms - DENIED_MS,
                forget_before_ms: now_ms - KEEP_MS,
                most_of_token: MOST.0,
                most_of_tenant: MOST.1,
            };
            let id = match store.ask_approval(&record, &terms).await? {
                Asked::Taken { id } => return Ok(ApprovalAnswer::Approved { id }),
                Asked::Denied { id } => return Ok(ApprovalAnswer::Denied { id }),
                Asked::Full => return Ok(ApprovalAnswer::Full),
                Asked::Pending { id, .. } => id,
            };
            tracing::info!(target: "approvals", approval = id, tenant = %self.asker.tenant, tool = self.asker.tool, "a command waits for a person");
            match self.wait(&id, until).await? {
                ApprovalState::Approved => return Ok(ApprovalAnswer::Approved { id }),
                ApprovalState::Denied => return Ok(ApprovalAnswer::Denied { id }),
                ApprovalState::Expired => return Ok(ApprovalAnswer::Expired { id }),
                ApprovalState::Pending => return Ok(ApprovalAnswer::Waiting { id }),
                // Another call, the same in all, took it: this one is another question.
                ApprovalState::Used => record.id = uuid::Uuid::now_v7().to_string(),
            }
        }
    }

    /// The state that ends the wait; `Pending` where the call waits no longer.
    async fn wait(&self, id: &str, until: Instant) -> Result<ApprovalState, StoreError> {
        // Held while it waits: questions take up at most half of the tenant's workers.
        let place = self.inner.admission.may_wait(&self.asker.tenant);
        let until = if place.is_some() { until } else { Instant::now() };
        loop {
            let mut answered = pin!(self.inner.answered.notified());
            // Before the look, so that an answer between the look and the wait is not missed.
            answered.as_mut().enable();
            let state = self.inner.store.take_approval(id, now_ms()).await?;
            let now = Instant::now();
            if state != ApprovalState::Pending || now >= until {
                return Ok(state);
            }
            let _ = timeout_at(until.min(now + POLL), answered).await;
        }
    }
}

/// One field of what is hashed, with its length before it, so that two fields never read as one; a missing one is no empty one.
fn field(hasher: &mut blake3::Hasher, text: Option<&str>) {
    let length = text.map_or(u64::MAX, |text| text.len() as u64);
    hasher.update(&length.to_le_bytes()).update(text.unwrap_or_default().as_bytes());
}

fn unavailable(error: StoreError) -> Unavailable {
    tracing::error!(%error, "approvals cannot be read or kept");
    Unavailable
}

#[async_trait]
impl Approvals for Asking {
    async fn remembered(&self) -> Result<Vec<Remembered>, Unavailable> {
        let Asker { tenant, agent, user, plugin, .. } = &self.asker;
        let all = self.inner.store.remembered(tenant).await.map_err(unavailable)?;
        let mine = |one: &RememberedRecord| one.agent == *agent && one.user == *user && one.plugin == *plugin;
        Ok(all.into_iter().filter(mine).map(|one| one.what).collect())
    }

    async fn ask(&self, question: Question) -> Result<ApprovalAnswer, Unavailable> {
        self.asked(question).await.map_err(unavailable)
    }
}

impl Gateway {
    /// The questions of the caller's tenant, oldest first: those that wait, and for a week those that are over.
    ///
    /// # Errors
    /// Role, or the store cannot answer.
    pub async fn approvals(&self, who: &Principal) -> Result<Vec<ApprovalStatus>, AdminError> {
        needs(who, Role::Operator)?;
        Ok(self.inner.store.approvals(&who.tenant, now_ms()).await?)
    }

    /// One question.
    ///
    /// # Errors
    /// Role, or not found.
    pub async fn approval(&self, who: &Principal, id: &str) -> Result<ApprovalStatus, AdminError> {
        needs(who, Role::Operator)?;
        self.inner.store.approval(&who.tenant, id, now_ms()).await?.ok_or_else(|| no_approval("approval", id))
    }

    /// Answers a question. Approving for good needs the role `tenant-admin`; nobody answers a question of their own token.
    ///
    /// # Errors
    /// Role, not found, answered or expired already, or not to be approved for good.
    pub async fn decide(&self, who: &Principal, id: &str, verdict: Verdict) -> Result<ApprovalStatus, AdminError> {
        needs(who, if verdict == Verdict::Always { Role::TenantAdmin } else { Role::Operator })?;
        let status = self.approval(who, id).await?;
        if status.record.asker.token_id == who.token_id {
            return Err(AdminError::Conflict(
                "a token does not answer its own question; answer it with a token that the agent does not have".into(),
            ));
        }
        if status.state != ApprovalState::Pending {
            return Err(over(&status));
        }
        if verdict == Verdict::Always && status.record.remember.is_empty() {
            return Err(AdminError::Conflict(
                "this command can only be approved once: a part of it is not known before it runs, holds a secret or comes from the workspace; \
                 answer `approve-once`"
                    .into(),
            ));
        }
        let now_ms = now_ms();
        let remembered = match verdict {
            Verdict::Always => remembered(&status.record, who, now_ms),
            Verdict::Once | Verdict::Deny => Vec::new(),
        };
        let decision = ApprovalDecision {
            id: id.to_owned(),
            approved: verdict != Verdict::Deny,
            remembered,
            by: who.token_id.clone(),
            now_ms,
            expires_ms: now_ms + USE_MS,
        };
        let decided = self.inner.store.decide_approval(&decision).await?;
        let status = self.approval(who, id).await?;
        if !decided {
            return Err(over(&status));
        }
        self.audit_change(who, verdict.event(), id, &status.record.fingerprint);
        self.inner.answered.notify_waiters();
        Ok(status)
    }

    /// What the caller's tenant approved for good, oldest first.
    ///
    /// # Errors
    /// Role, or the store cannot answer.
    pub async fn remembered(&self, who: &Principal) -> Result<Vec<RememberedRecord>, AdminError> {
        needs(who, Role::Operator)?;
        Ok(self.inner.store.remembered(&who.tenant).await?)
    }

    /// Forgets what was approved for good: the next such command asks again.
    ///
    /// # Errors
    /// Role, or not found.
    pub async fn forget(&self, who: &Principal, id: &str) -> Result<(), AdminError> {
        needs(who, Role::Operator)?;
        if !self.inner.store.forget(&who.tenant, id).await? {
            return Err(no_approval("remembered approval", id));
        }
        self.audit_change(who, "approval.forgotten", id, "");
        Ok(())
    }
}

impl Verdict {
    /// The word in the audit.
    fn event(self) -> &'static str {
        match self {
            Self::Once => "approval.approved-once",
            Self::Always => "approval.approved-always",
            Self::Deny => "approval.denied",
        }
    }
}

fn remembered(record: &ApprovalRecord, who: &Principal, now_ms: i64) -> Vec<RememberedRecord> {
    let Asker { tenant, agent, user, plugin, .. } = &record.asker;
    let one = |what: &Remembered| RememberedRecord {
        id: uuid::Uuid::now_v7().to_string(),
        tenant: tenant.clone(),
        agent: agent.clone(),
        user: user.clone(),
        plugin: plugin.clone(),
        what: what.clone(),
        approval: record.id.clone(),
        approved_ms: now_ms,
        approved_by: who.token_id.clone(),
    };
    record.remember.iter().map(one).collect()
}

fn no_approval(what: &'static str, id: &str) -> AdminError {
    let hint = "; `GET /v1/approvals` lists those that there are".to_owned();
    AdminError::NotFound { what, name: shown(id), hint }
}

fn over(status: &ApprovalStatus) -> AdminError {
    let state = status.state.as_str();
    AdminError::Conflict(format!("it is {state} already; the agent asks anew when it calls again"))
}
