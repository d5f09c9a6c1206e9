//! The gate of `caisson:host/exec`: commands. Effect and grants decide first, then the command scanner, and what may run is run
//! confined. The only crate that starts programs for guests.
//!
//! May depend on: `caisson-call`, `caisson-contract`, `caisson-guard`, `caisson-programs`, `caisson-confine`, wasmtime. Must not know: files, HTTP, SQL,
//! other gates.

mod approvals;
mod decide;
mod error;
mod executor;
mod host;
mod network;
mod process;
mod programs;
mod settings;

/// Bindings made from `wit/host`.
pub mod bindings {
    #![allow(missing_docs, clippy::all, reason = "generated; the WIT files are the documentation")]
    wasmtime::component::bindgen!({
        inline: "package caisson:gate; world exec { import caisson:host/exec@0.1.0; }",
        path: ["../../../wit/plugin", "../../../wit/host"],
        world: "caisson:gate/exec",
        imports: {
            "caisson:host/exec": async | trappable,
            default: trappable,
        },
        with: { "caisson:host/exec.process": crate::process::Process },
    });
}

pub use approvals::{Answer, Approvals, Question, Remembered, Unavailable};
pub use caisson_confine::Through;
pub use caisson_docker::{Config as ContainersConfig, Pull};
pub use executor::{ExecConfig, Executor};
pub use network::ProgramNetwork;
pub use programs::Programs;
pub use settings::{ExecSettings, SettingsError};

use caisson_call::Ledger;
use caisson_contract::Layers;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use wasmtime::component::{HasData, Linker, ResourceTable};

/// Opens the call's workspace, and makes it where it is missing.
pub type OpenWorkspace<'a> = Box<dyn Fn() -> std::io::Result<OwnedFd> + Send + Sync + 'a>;

/// What one call has of commands. Making one touches nothing.
pub struct ExecCtx {
    /// What the call may do.
    pub layers: Layers,
    /// What it may spend.
    pub ledger: Arc<Ledger>,
    /// What runs commands.
    pub executor: Arc<Executor>,
    /// Those who may be asked; where there is nobody, what would be asked is refused.
    pub approvals: Option<Arc<dyn Approvals>>,
    /// The programs that run with credentials; nothing where none is registered.
    pub programs: Option<Arc<dyn Programs>>,
    /// Settings of the plugin, JSON text; the gate reads `exec` and `timeout_seconds` of it.
    pub settings: Arc<str>,
}

/// A call's context with the table that its resources live in, and what the store knows besides: made when a command is asked for, which most
/// calls never do.
pub struct ExecView<'a> {
    /// State of the gate.
    pub ctx: &'a mut ExecCtx,
    /// Resources of the call.
    pub table: &'a mut ResourceTable,
    /// The tenant.
    pub tenant: &'a str,
    /// The agent, whose own switches win over those of all.
    pub agent: Option<&'a str>,
    /// Where commands run.
    pub workspace: OpenWorkspace<'a>,
    /// What answers the connections of commands that are granted a network.
    pub network: Arc<dyn ProgramNetwork>,
}

/// Implemented by the store's data.
pub trait HasExec: Send {
    /// The gate's view of the call.
    fn exec(&mut self) -> ExecView<'_>;
}

/// Selects [`ExecView`] in generated bindings.
struct Exec;

impl HasData for Exec {
    type Data<'a> = ExecView<'a>;
}

/// Links `caisson:host/exec`.
///
/// # Errors
/// Where a name is linked twice.
pub fn add_to_linker<T: HasExec + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    bindings::caisson::host::exec::add_to_linker::<T, Exec>(linker, T::exec)
}
