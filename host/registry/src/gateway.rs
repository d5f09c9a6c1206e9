//! The one object that doors and the command line talk to.

use crate::{AdminError, Change, GrantRequest, PluginView, ToolView};
use caisson_call::{Call, CallContext, CallId, Outcome, Principal, Refused};
use caisson_scrub::CleanResult;
use std::sync::Arc;
use std::time::Duration;

/// How a call ended, for its caller.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Identifier of the call.
    pub id: CallId,
    /// The word for how it ended.
    pub outcome: Outcome,
    /// The tool's answer (an error of the tool's own included), or why there is none.
    pub body: Result<CleanResult, Refused>,
    /// Elapsed time.
    pub wall: Duration,
    /// Thread time of the guest.
    pub cpu: Duration,
}

/// The registry, the engine and the rails together. Cheap to clone.
#[derive(Clone)]
pub struct Gateway {}

impl Gateway {
    /// Runs one call through every step. Dropping the future cancels the call and frees its instance at once.
    pub async fn call(&self, call: Call) -> Answer {
        Answer {
            id: call.id,
            outcome: Outcome::Unavailable,
            body: Err(Refused::Unavailable { what: "the engine".into() }),
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
        }
    }

    /// The tools that this request is offered, sorted by name.
    ///
    /// # Errors
    /// Where the store cannot answer.
    pub async fn tools(&self, _who: &Principal, _context: &CallContext) -> Result<Arc<[ToolView]>, AdminError> {
        Ok(Arc::new([]))
    }

    /// One offered tool by name or alias; otherwise `unknown-tool` or `not-offered`.
    ///
    /// # Errors
    /// [`Refused`] as a call of it would be.
    pub async fn tool(&self, _who: &Principal, _context: &CallContext, name: &str) -> Result<ToolView, Refused> {
        Err(Refused::UnknownTool { name: name.into(), nearest: vec![] })
    }

    /// The plugins of the caller's tenant and the built-in ones.
    ///
    /// # Errors
    /// Where the store cannot answer.
    pub async fn plugins(&self, _who: &Principal) -> Result<Vec<PluginView>, AdminError> {
        Ok(vec![])
    }

    /// One plugin.
    ///
    /// # Errors
    /// Not found, with the nearest name.
    pub async fn plugin(&self, _who: &Principal, name: &str) -> Result<PluginView, AdminError> {
        Err(AdminError::NotFound { what: "plugin", name: name.into(), hint: String::new() })
    }

    /// Installs a component for the caller's tenant: checks it, compiles it in the confined child, asks it for its tools.
    /// `component` is whole in memory; the door held it to [`Gateway::max_component_bytes`] while it streamed in.
    ///
    /// # Errors
    /// Says everything that is wrong with it; nothing is kept then.
    pub async fn install(&self, _who: &Principal, _component: Vec<u8>) -> Result<PluginView, AdminError> {
        Err(AdminError::Unavailable("not wired".into()))
    }

    /// Most bytes a component may have.
    #[must_use]
    pub fn max_component_bytes(&self) -> u64 {
        64 << 20
    }

    /// Grants a plugin what is asked; it serves from the next call on.
    ///
    /// # Errors
    /// More than it declares is refused, as is more than the operator's ceiling.
    pub async fn grant(&self, _who: &Principal, name: &str, _grant: GrantRequest) -> Result<PluginView, AdminError> {
        Err(AdminError::NotFound { what: "plugin", name: name.into(), hint: String::new() })
    }

    /// Takes a grant back.
    ///
    /// # Errors
    /// Not found.
    pub async fn revoke(&self, _who: &Principal, name: &str) -> Result<PluginView, AdminError> {
        Err(AdminError::NotFound { what: "plugin", name: name.into(), hint: String::new() })
    }

    /// Removes a plugin; calls under way end as they would have.
    ///
    /// # Errors
    /// Not found; built-in.
    pub async fn remove(&self, _who: &Principal, name: &str) -> Result<(), AdminError> {
        Err(AdminError::NotFound { what: "plugin", name: name.into(), hint: String::new() })
    }

    /// Settings of a plugin or tool in the caller's tenant, a JSON object.
    ///
    /// # Errors
    /// Not found.
    pub async fn settings(&self, _who: &Principal, name: &str) -> Result<serde_json::Value, AdminError> {
        Err(AdminError::NotFound { what: "plugin", name: name.into(), hint: String::new() })
    }

    /// Replaces them whole; at most 16 KiB.
    ///
    /// # Errors
    /// Not an object, too large, not found.
    pub async fn put_settings(&self, _who: &Principal, name: &str, _settings: serde_json::Value) -> Result<(), AdminError> {
        Err(AdminError::NotFound { what: "plugin", name: name.into(), hint: String::new() })
    }

    /// Stores a secret, bound to where it may go. The value never comes back out of the API.
    ///
    /// # Errors
    /// A bad name, value or binding.
    pub async fn put_secret(
        &self,
        _who: &Principal,
        _name: &str,
        _value: String,
        _bindings: Vec<caisson_contract::SecretBinding>,
    ) -> Result<(), AdminError> {
        Err(AdminError::Unavailable("not wired".into()))
    }

    /// Removes a secret.
    ///
    /// # Errors
    /// Not found.
    pub async fn remove_secret(&self, _who: &Principal, name: &str) -> Result<(), AdminError> {
        Err(AdminError::NotFound { what: "secret", name: name.into(), hint: String::new() })
    }

    /// Names and bindings of the tenant's secrets.
    ///
    /// # Errors
    /// Where the store cannot answer.
    pub async fn secrets(&self, _who: &Principal) -> Result<Vec<(String, Vec<caisson_contract::SecretBinding>)>, AdminError> {
        Ok(vec![])
    }

    /// Who a bearer token stands for; `None` for one that is unknown or revoked.
    pub async fn authenticate(&self, _token: &str) -> Option<Principal> {
        None
    }

    /// A piece of a kept output (`offset` and `limit` in bytes), with its media type and whole size.
    ///
    /// # Errors
    /// Not found; another principal's reference is not found either.
    pub async fn kept(&self, _who: &Principal, reference: &str, _offset: u64, _limit: u64) -> Result<(Vec<u8>, String, u64), AdminError> {
        Err(AdminError::NotFound { what: "output", name: reference.into(), hint: String::new() })
    }

    /// Told whenever the tools of a tenant may have changed.
    #[must_use]
    pub fn changes(&self) -> tokio::sync::broadcast::Receiver<Change> {
        tokio::sync::broadcast::channel(1).1
    }

    /// Whether calls can be served; otherwise what is missing.
    ///
    /// # Errors
    /// Host text for the operator.
    pub async fn ready(&self) -> Result<(), String> {
        Ok(())
    }
}
