//! The gate of `caisson:host`: `settings`, `call`, `secrets`, `outputs` and `inputs` whole; the other interfaces are linked, because
//! toolchains import whole worlds, and answer by effect, then by grant, then `unavailable`.
//!
//! May depend on: `caisson-call`, `caisson-contract`, wasmtime. Must not know: SQL, files, HTTP, other gates.

mod closed;
mod error;
mod host;
mod outputs;

/// Bindings made from `wit/host`.
pub mod bindings {
    #![allow(missing_docs, clippy::all, reason = "generated; the WIT files are the documentation")]
    wasmtime::component::bindgen!({
        path: ["../../../wit/plugin", "../../../wit/host"],
        world: "caisson:host/imports",
        imports: {
            "caisson:host/outputs": async | trappable,
            default: trappable,
        },
        with: { "caisson:host/outputs.writer": crate::outputs::Writer },
    });
}

pub use outputs::{KeptOutputs, KeptPiece, KeptSummary, Writer};

use caisson_call::{Ledger, ProgressSink};
use caisson_contract::Layers;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use wasmtime::component::{HasData, Linker, ResourceTable};

/// What the guest may know of its call.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Identifier of the call.
    pub call_id: String,
    /// Tenant.
    pub tenant: String,
    /// Agent.
    pub agent: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Session.
    pub session: Option<String>,
    /// Channel.
    pub channel: Option<String>,
    /// Chat.
    pub chat: Option<String>,
    /// IANA time zone.
    pub time_zone: String,
}

/// One file that the caller attached: name, media type, bytes.
pub type Input = (String, String, Vec<u8>);

/// What one call has of `caisson:host`.
pub struct HostCtx {
    /// What the call may do.
    pub layers: Layers,
    /// What it may spend.
    pub ledger: Arc<Ledger>,
    /// Settings of the plugin or tool, JSON text.
    pub settings: Arc<str>,
    /// What the guest may know of its call.
    pub facts: Facts,
    /// When the wall time ends.
    pub deadline: Instant,
    /// Set when the caller gave up and a grace runs.
    pub cancelled: Arc<AtomicBool>,
    /// Where progress goes.
    pub progress: Option<ProgressSink>,
    /// Declared credentials that the tenant has stored.
    pub secrets: Arc<BTreeSet<String>>,
    /// Attached files.
    pub inputs: Arc<[Input]>,
    /// Kept outputs; `None` while `list-tools` runs.
    pub outputs: Option<Arc<dyn KeptOutputs>>,
}

/// A call's context with the table that its resources live in.
pub struct HostView<'a> {
    /// State of the gate.
    pub ctx: &'a mut HostCtx,
    /// Resources of the call.
    pub table: &'a mut ResourceTable,
}

/// Implemented by the store's data.
pub trait HasHost: Send {
    /// The gate's view of the call.
    fn host(&mut self) -> HostView<'_>;
}

/// Selects [`HostView`] in generated bindings.
pub struct Host;

impl HasData for Host {
    type Data<'a> = HostView<'a>;
}

/// Links every interface of `caisson:host` but `exec`, which has a gate of its own.
///
/// # Errors
/// Where a name is linked twice.
pub fn add_to_linker<T: HasHost + 'static>(l: &mut Linker<T>) -> wasmtime::Result<()> {
    use bindings::caisson::host;
    host::failures::add_to_linker::<T, Host>(l, T::host)?;
    host::settings::add_to_linker::<T, Host>(l, T::host)?;
    host::call::add_to_linker::<T, Host>(l, T::host)?;
    host::secrets::add_to_linker::<T, Host>(l, T::host)?;
    host::outputs::add_to_linker::<T, Host>(l, T::host)?;
    host::inputs::add_to_linker::<T, Host>(l, T::host)?;
    host::documents::add_to_linker::<T, Host>(l, T::host)?;
    host::tools::add_to_linker::<T, Host>(l, T::host)?;
    host::data::add_to_linker::<T, Host>(l, T::host)?;
    host::schedule::add_to_linker::<T, Host>(l, T::host)?;
    host::runtime::add_to_linker::<T, Host>(l, T::host)?;
    host::pages::add_to_linker::<T, Host>(l, T::host)
}
