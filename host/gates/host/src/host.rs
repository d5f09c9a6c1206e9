//! `settings`, `call`, `secrets`, `inputs`.

use crate::HostView;
use crate::bindings::caisson::host::failures::{Code, Failure};
use crate::bindings::caisson::host::{call, failures, inputs, secrets, settings};
use crate::error::failure;
use caisson_call::{Budget, Progress};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Most bytes that one `read` hands to the guest; it reads on with a higher offset.
pub(crate) const MAX_READ: u32 = 1 << 20;

/// A progress message is shown to people; longer ones are cut here.
const MAX_PROGRESS_MESSAGE: usize = 1_000;

impl failures::Host for HostView<'_> {}

impl settings::Host for HostView<'_> {
    fn get(&mut self) -> wasmtime::Result<String> {
        Ok(self.ctx.settings.to_string())
    }
}

impl call::Host for HostView<'_> {
    fn current(&mut self) -> wasmtime::Result<call::Context> {
        let facts = &self.ctx.facts;
        Ok(call::Context {
            call_id: facts.call_id.clone(),
            tenant: facts.tenant.clone(),
            agent: facts.agent.clone(),
            user: facts.user.clone(),
            session: facts.session.clone(),
            channel: facts.channel.clone(),
            chat: facts.chat.clone(),
            time_zone: facts.time_zone.clone(),
            extra: None,
        })
    }

    fn remaining_ms(&mut self) -> wasmtime::Result<u32> {
        let deadline = self.ctx.deadline + self.ctx.ledger.spent_outside();
        let left = deadline.saturating_duration_since(Instant::now());
        Ok(u32::try_from(left.as_millis()).unwrap_or(u32::MAX))
    }

    fn progress(&mut self, done: f64, total: Option<f64>, message: Option<String>) -> wasmtime::Result<()> {
        self.ctx.ledger.charge(Budget::ProgressMessages, 1)?;
        let Some(sink) = &self.ctx.progress else { return Ok(()) };
        if !done.is_finite() {
            return Ok(());
        }
        let message = message.map(|text| text.chars().take(MAX_PROGRESS_MESSAGE).collect());
        sink(Progress { done, total: total.filter(|t| t.is_finite()), message });
        Ok(())
    }

    fn cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(self.ctx.cancelled.load(Ordering::Acquire))
    }
}

impl secrets::Host for HostView<'_> {
    fn exists(&mut self, name: String) -> wasmtime::Result<bool> {
        Ok(self.ctx.secrets.contains(&name))
    }
}

impl inputs::Host for HostView<'_> {
    fn listing(&mut self) -> wasmtime::Result<Vec<inputs::Input>> {
        Ok(self
            .ctx
            .inputs
            .iter()
            .map(|(name, mime_type, bytes)| inputs::Input {
                name: name.clone(),
                mime_type: mime_type.clone(),
                bytes: bytes.len() as u64,
            })
            .collect())
    }

    fn read(&mut self, name: String, offset: u64, limit: u32) -> wasmtime::Result<Result<Vec<u8>, Failure>> {
        let Some((_, _, bytes)) = self.ctx.inputs.iter().find(|input| input.0 == name) else {
            let names: Vec<String> = self.ctx.inputs.iter().map(|input| format!("`{}`", input.0)).collect();
            let known = if names.is_empty() {
                "the caller attached none".into()
            } else {
                format!("there are {}", names.join(", "))
            };
            return Ok(Err(failure(Code::NotFound, format!("no attached file of that name; {known}"))));
        };
        let piece = piece(bytes, offset, limit);
        self.ctx.ledger.charge(Budget::FileBytes, piece.len() as u64)?;
        Ok(Ok(piece.to_vec()))
    }
}

/// The bytes from `offset`, at most `limit` and at most [`MAX_READ`]; empty past the end.
pub(crate) fn piece(bytes: &[u8], offset: u64, limit: u32) -> &[u8] {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.len().min(limit.min(MAX_READ) as usize);
    rest.get(..length).unwrap_or_default()
}
