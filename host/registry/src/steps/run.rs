//! The run itself: a job for the engine, in a fresh instance.

use super::admission::Ready;
use super::capabilities::Permitted;
use super::find::Found;
use crate::approvals::Asking;
use crate::gateway::Inner;
use crate::known::Known;
use crate::outputs::CallerOutputs;
use crate::programs::ForCall;
use caisson_call::{Call, Progress, ProgressSink, Refused, TenantId};
use caisson_contract::Effect;
use caisson_engine::{Approvals, Facts, InjectedSecret, Job, Programs, Ran, Workspace};
use caisson_policy::Permit;
use caisson_scrub::Secrets;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::task::{JoinError, JoinHandle};

/// Runs a call that was admitted; with its end come the secrets that were put into it, to be taken out of what it says.
///
/// # Errors
/// Where the plugin, one of its secrets, or the run itself cannot be had.
pub(crate) async fn run(
    inner: &Arc<Inner>,
    ready: &mut Ready,
    workspace: Workspace,
) -> Result<(Ran, Secrets), Refused> {
    let found = &ready.permitted.found;
    let prepared = inner.prepared(&found.plugin).await?;
    let injected = secrets(inner, ready).await?;
    let known = if injected.is_empty() {
        Known::default()
    } else {
        Known::new(Secrets::new(injected.iter().map(|secret| secret.value.as_str())))
    };
    let job = job(inner, ready, workspace, injected, &known);
    let stale = Stale::after(inner, found);
    if job.limits.grace.is_zero() {
        let ran = inner.engine.run(&prepared, job, &found.tool.spec.name, &ready.permitted.arguments).await;
        drop(stale);
        return Ok((ran, known.now()));
    }
    let (grace, cancelled) = (job.limits.grace, Arc::clone(&job.cancelled));
    let (tool, arguments) = (Arc::clone(&found.tool), ready.permitted.arguments.clone());
    let (inner, admitted) = (Arc::clone(inner), ready.admitted.take());
    let task = tokio::spawn(async move {
        // Held to the end of the run, not of the caller's patience: the instance and its worker are still in use.
        let _held = (admitted, stale);
        inner.engine.run(&prepared, job, &tool.spec.name, &arguments).await
    });
    let ran = Leaving { task, cancelled, grace }.await;
    Ok((ran.map_err(|_| Refused::Unavailable { what: "the end of the run".into() })?, known.now()))
}

/// A run that its tool may end by itself after the caller went away: dropped, it tells the tool, and ends the run once the grace is over.
struct Leaving {
    task: JoinHandle<Ran>,
    cancelled: Arc<AtomicBool>,
    grace: Duration,
}

impl Future for Leaving {
    type Output = Result<Ran, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.task).poll(context)
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if self.task.is_finished() {
            return;
        }
        self.cancelled.store(true, Ordering::Release);
        let (run, grace) = (self.task.abort_handle(), self.grace);
        tokio::spawn(async move {
            tokio::time::sleep(grace).await;
            run.abort();
        });
    }
}

/// Drops a tenant's cached results once a mutating run is over, however it ended: one that was given up half-way changed things too.
struct Stale(Arc<Inner>, TenantId);

impl Stale {
    fn after(inner: &Arc<Inner>, found: &Found) -> Option<Self> {
        let mutating = found.tool.spec.effect == Effect::Mutating;
        mutating.then(|| Self(Arc::clone(inner), found.call.principal.tenant.clone()))
    }
}

impl Drop for Stale {
    fn drop(&mut self) {
        self.0.results.stale(&self.1);
    }
}

fn job(inner: &Arc<Inner>, ready: &Ready, workspace: Workspace, injected: Arc<[InjectedSecret]>, known: &Known) -> Job {
    let found = &ready.permitted.found;
    let permit = &ready.permitted.permit;
    let call = &found.call;
    Job {
        layers: permit.layers().clone(),
        limits: permit.limits().clone(),
        facts: facts(call),
        settings: Arc::clone(&found.standing.settings),
        workspace,
        blocking: inner.admission.blocking(&call.principal.tenant),
        egress: Arc::clone(&inner.egress),
        executor: Arc::clone(&inner.executor),
        approvals: approvals(inner, ready, known),
        programs: programs(inner, ready, known),
        secrets: injected,
        secret_names: Arc::clone(&found.standing.secret_names),
        inputs: Arc::clone(&call.inputs),
        outputs: Some(Arc::new(
            CallerOutputs::of(&inner.store, &inner.scrubber, &call.principal, &found.tool.name).without(known),
        )),
        progress: progress(inner, call, known),
        cancelled: Arc::default(),
    }
}

/// Whether a command may be run at all.
fn runs_commands(permit: &Permit) -> bool {
    permit.layers().all(|layer| layer.capabilities.exec.as_ref().map(drop).ok_or(()), || ()).is_ok()
}

/// Those who approve commands, where a command may be run at all.
fn approvals(inner: &Arc<Inner>, ready: &Ready, known: &Known) -> Option<Arc<dyn Approvals>> {
    let Permitted { found, arguments, permit } = &ready.permitted;
    if !runs_commands(permit) {
        return None;
    }
    Some(Arc::new(Asking::of(inner, found, arguments, known)?))
}

/// The programs that run with credentials, where a command may be run at all.
fn programs(inner: &Arc<Inner>, ready: &Ready, known: &Known) -> Option<Arc<dyn Programs>> {
    let Permitted { found, permit, .. } = &ready.permitted;
    if !runs_commands(permit) {
        return None;
    }
    Some(Arc::new(ForCall::of(inner, &found.call.principal, known)?))
}

fn facts(call: &Call) -> Facts {
    let context = &call.context;
    Facts {
        call_id: call.id.0.to_string(),
        tenant: call.principal.tenant.to_string(),
        agent: call.principal.agent.clone(),
        user: call.principal.user.clone(),
        session: context.session.clone(),
        channel: context.channel.clone(),
        chat: context.chat.clone(),
        time_zone: context.time_zone.clone().unwrap_or_else(|| "UTC".into()),
    }
}

/// Progress is scrubbed before it leaves.
fn progress(inner: &Arc<Inner>, call: &Call, known: &Known) -> Option<ProgressSink> {
    let known = known.clone();
    let sink = Arc::clone(call.progress.as_ref()?);
    let scrubber = Arc::clone(&inner.scrubber);
    Some(Arc::new(move |progress: Progress| {
        let message = progress.message.map(|text| known.clean(&scrubber, &text).into_owned());
        sink(Progress { message, ..progress });
    }))
}

/// Secrets that the plugin declares and the tenant stored; a store that cannot answer ends the call rather than sending it out without.
async fn secrets(inner: &Inner, ready: &Ready) -> Result<Arc<[InjectedSecret]>, Refused> {
    let found = &ready.permitted.found;
    if found.standing.secret_names.is_empty() {
        return Ok(Arc::new([]));
    }
    let tenant = &found.call.principal.tenant;
    let catalog = inner.catalog();
    let mut secrets = Vec::new();
    for name in found.standing.secret_names.iter() {
        let Some(credential) = found.plugin.manifest.credentials.get(name) else { continue };
        let Some(record) = catalog.secrets.get(tenant).and_then(|secrets| secrets.get(name)) else { continue };
        let value = inner.store.reveal_secret(tenant, name).await.map_err(|error| {
            tracing::error!(%error, "a secret cannot be read");
            Refused::Unavailable { what: format!("the secret `{name}`") }
        })?;
        let Some(value) = value else { continue };
        secrets.push(InjectedSecret {
            name: name.clone(),
            value,
            bindings: record.bindings.clone(),
            inject: credential.inject.clone(),
            hosts: credential.hosts.clone(),
        });
    }
    Ok(secrets.into())
}
