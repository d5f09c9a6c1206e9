//! One audit record a call, also of one that was given up.

use super::find::Found;
use crate::gateway::{Answer, Gateway, Inner};
use crate::outputs::now_ms;
use caisson_audit::{Audit, AuditEvent, CallEvent, ChangeEvent};
use caisson_call::{Call, CallId, Outcome, Principal, Refused};
use caisson_engine::Ran;
use caisson_scrub::{CleanResult, Secrets};
use std::time::{Duration, Instant};

/// A record being written. Dropped before it is closed, it says `cancelled`.
pub(crate) struct Record {
    audit: Audit,
    began: Instant,
    id: CallId,
    event: Option<Box<CallEvent>>,
}

/// Opens the record of a call.
pub(crate) fn open(inner: &Inner, call: &Call) -> Record {
    let who = &call.principal;
    Record {
        audit: inner.audit.clone(),
        began: Instant::now(),
        id: call.id.clone(),
        event: Some(Box::new(CallEvent {
            at_ms: now_ms(),
            call_id: call.id.0.to_string(),
            tenant: who.tenant.to_string(),
            agent: who.agent.clone(),
            user: who.user.clone(),
            token_id: who.token_id.clone(),
            session: call.context.session.clone(),
            tool: super::find::shown(&call.tool),
            plugin: None,
            digest: None,
            outcome: Outcome::Cancelled,
            rule: None,
            denials: vec![],
            notes: vec![],
            wall_us: 0,
            cpu_us: 0,
            bytes_in: call.arguments.len() as u64,
            bytes_out: 0,
        })),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn rule(body: &Result<CleanResult, Refused>) -> Option<&str> {
    match body {
        Err(Refused::NotOffered { rule, .. }) => Some(rule),
        Err(Refused::Denied(denial)) => Some(&denial.rule),
        _ => None,
    }
}

impl Record {
    /// Notes the plugin.
    pub(crate) fn found(&mut self, found: &Found) {
        if let Some(event) = &mut self.event {
            event.plugin = Some(found.tool.plugin_name.to_string());
            event.digest = Some(found.plugin.record.digest.clone());
        }
    }

    /// Notes what the gates refused, also where the call goes on.
    pub(crate) fn ran(&mut self, inner: &Inner, ran: &Ran, secrets: &Secrets) {
        if let Some(event) = &mut self.event {
            event.denials.clone_from(&ran.denials);
            event.notes =
                ran.notes.iter().map(|note| inner.scrubber.clean_text_with(note, secrets).into_owned()).collect();
            event.cpu_us = micros(ran.cpu);
        }
    }

    /// Writes the record and makes the answer.
    pub(crate) fn close(mut self, body: Result<CleanResult, Refused>, cpu: Duration) -> Answer {
        let outcome = match &body {
            Ok(result) => result.outcome(),
            Err(refused) => refused.outcome(),
        };
        let wall = self.began.elapsed();
        if let Some(mut event) = self.event.take() {
            event.outcome = outcome;
            event.wall_us = micros(wall);
            event.rule = rule(&body).map(str::to_owned);
            event.bytes_out = body.as_ref().map_or(0, |result| result.text_bytes() as u64);
            if let (Err(Refused::Denied(denial)), true) = (&body, event.denials.is_empty()) {
                event.denials.push(denial.clone());
            }
            self.audit.record(AuditEvent::Call(event));
        }
        Answer { id: self.id.clone(), outcome, body, wall, cpu }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let Some(mut event) = self.event.take() {
            event.wall_us = micros(self.began.elapsed());
            self.audit.record(AuditEvent::Call(event));
        }
    }
}

/// A refusal is not counted against the session's calls, but has a bucket of its own.
pub(crate) fn refused(inner: &Inner, key: &str, counted: bool, refused: &Refused) {
    let by_policy = matches!(
        refused,
        Refused::UnknownTool { .. } | Refused::NotOffered { .. } | Refused::InvalidArguments(_) | Refused::Denied(_)
    );
    if by_policy || matches!(refused, Refused::Overloaded { .. }) {
        inner.rate.refused(key, counted);
    }
}

impl Gateway {
    /// Records a change.
    pub(crate) fn audit_change(&self, who: &Principal, what: &str, name: &str, digest: &str) {
        self.inner.audit.record(AuditEvent::Change(ChangeEvent {
            at_ms: now_ms(),
            what: what.into(),
            name: name.into(),
            digest: digest.into(),
            tenant: who.tenant.to_string(),
            token_id: who.token_id.clone(),
        }));
    }
}
