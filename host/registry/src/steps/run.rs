//! The run itself: a job for the engine, in a fresh instance.

use super::admission::Ready;
use crate::gateway::Inner;
use crate::outputs::CallerOutputs;
use caisson_call::{Call, Progress, ProgressSink, Refused};
use caisson_contract::Effect;
use caisson_engine::{Facts, InjectedSecret, Job, Ran, Workspace};
use caisson_scrub::Secrets;
use std::sync::Arc;

/// Runs a call that was admitted; with its end come the secrets that were put into it, to be taken out of what it says.
pub(crate) async fn run(inner: &Arc<Inner>, ready: &Ready, workspace: Workspace) -> Result<(Ran, Secrets), Refused> {
    let found = &ready.permitted.found;
    let prepared = inner.prepared(&found.plugin).await?;
    let injected = secrets(inner, ready).await?;
    let known = if injected.is_empty() {
        Secrets::none()
    } else {
        Secrets::new(injected.iter().map(|secret| secret.value.as_str()))
    };
    let job = job(inner, ready, workspace, injected, &known);
    let ran = inner.engine.run(&prepared, job, &found.tool.spec.name, &ready.permitted.arguments).await;
    if found.tool.spec.effect == Effect::Mutating {
        inner.results.stale(&found.call.principal.tenant);
    }
    Ok((ran, known))
}

fn job(
    inner: &Arc<Inner>,
    ready: &Ready,
    workspace: Workspace,
    injected: Arc<[InjectedSecret]>,
    known: &Secrets,
) -> Job {
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
        secrets: injected,
        secret_names: Arc::clone(&found.standing.secret_names),
        inputs: Arc::clone(&call.inputs),
        outputs: Some(Arc::new(CallerOutputs::of(&inner.store, &inner.scrubber, &call.principal, &found.tool.name))),
        progress: progress(inner, call, known),
        cancelled: Arc::default(),
    }
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
fn progress(inner: &Arc<Inner>, call: &Call, known: &Secrets) -> Option<ProgressSink> {
    let known = known.clone();
    let sink = Arc::clone(call.progress.as_ref()?);
    let scrubber = Arc::clone(&inner.scrubber);
    Some(Arc::new(move |progress: Progress| {
        let message = progress.message.map(|text| scrubber.clean_text_with(&text, &known).into_owned());
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
