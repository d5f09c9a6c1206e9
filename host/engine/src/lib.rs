//! The engine: compiles components ahead of any call in a confined child, keeps their machine code in an authenticated cache,
//! runs each call in a fresh instance, meters it, and says how it ended.
//!
//! May depend on: `caisson-call`, `caisson-contract`, the gates, wasmtime. Alone owns a `wasmtime::Store`. Must not know: SQL, doors,
//! policy, tenants beyond the words in a job.

mod cache;
mod classify;
mod compile;
mod config;
mod link;
mod meter;
mod run;
mod state;

pub use caisson_gate_exec::{
    Answer as ApprovalAnswer, Approvals, ContainersConfig, ExecConfig, ExecSettings, Executor, Programs, Pull,
    Question, Remembered, SettingsError, Through, Unavailable,
};
pub use caisson_gate_files::Workspace;
pub use caisson_gate_host::{Facts, Input, KeptOutputs, KeptPiece, KeptSummary};
pub use caisson_gate_http::{Egress, EgressConfig, InjectedSecret};
pub use compile::compile_child;
pub use config::{CacheKey, EngineConfig, EngineError, Pool};
pub use run::{Job, Ran};

use caisson_contract::ToolSpec;
use std::sync::Arc;
use wasmtime::component::{Component, Linker};

mod bindings {
    #![allow(missing_docs, clippy::all, reason = "generated; the WIT files are the documentation")]
    wasmtime::component::bindgen!({
        path: "../../wit/plugin",
        world: "caisson:plugin/plugin",
        exports: { default: async },
    });
}

/// Compiles, keeps and runs components. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    wasmtime: wasmtime::Engine,
    linker: Linker<state::State>,
    cache: cache::Cache,
    compiler: compile::Compiler,
    slow_lane: Arc<tokio::sync::Semaphore>,
    pool: Pool,
    _ticker: meter::Ticker,
}

/// A component that is ready to be called.
#[derive(Clone)]
pub struct Prepared {
    pre: bindings::PluginPre<state::State>,
}

/// How far a preparation is; told as it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Waits for the compiler: one component at a time.
    Waiting,
    /// Machine code is being made.
    Compiling,
    /// Machine code is being checked and mapped.
    Mapping,
}

/// Why a component cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The component is at fault; the text is for its author.
    #[error("{0}")]
    Component(String),
    /// Something on this machine is; the text is for the operator.
    #[error("{0}")]
    Machine(String),
}

impl Engine {
    /// Builds the engine: probes what can be mapped, links every interface once, starts the epoch ticker.
    ///
    /// # Errors
    /// Where not even the smallest configuration works on this machine.
    pub fn new(config: EngineConfig) -> Result<Self, EngineError> {
        let (wasmtime, pool) = config::build(&config)?;
        let linker =
            link::linker(&wasmtime).map_err(|e| EngineError(format!("the host's interfaces do not link: {e}")))?;
        let ticker = meter::Ticker::start(wasmtime.weak());
        let slow_lanes = std::thread::available_parallelism().map_or(1, |n| n.get().saturating_sub(1).max(1));
        let cache = cache::Cache::new(config.cache_dir.clone(), &config.cache_key, &wasmtime);
        let compiler = compile::Compiler::new(&config);
        Ok(Self {
            shared: Arc::new(Shared {
                wasmtime,
                linker,
                cache,
                compiler,
                slow_lane: Arc::new(tokio::sync::Semaphore::new(slow_lanes)),
                pool,
                _ticker: ticker,
            }),
        })
    }

    /// What the start-up probe settled on.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.shared.pool
    }

    /// Maps a component from the cache, if its machine code is there and authentic.
    ///
    /// # Errors
    /// See [`PrepareError`].
    pub fn cached(&self, digest: &str) -> Result<Option<Prepared>, PrepareError> {
        let Some(code) = self.shared.cache.read(digest) else { return Ok(None) };
        match self.map(&code) {
            Ok(prepared) => Ok(Some(prepared)),
            Err(error) => {
                // Authentic but unusable: made for other settings of the engine, say. Compiled anew, it is replaced.
                tracing::info!(digest, %error, "cached machine code is not usable; it will be made anew");
                Ok(None)
            }
        }
    }

    /// Compiles a component in the confined child and keeps its machine code. `told` hears how far it is.
    ///
    /// # Errors
    /// See [`PrepareError`].
    pub async fn prepare(
        &self,
        digest: &str,
        component: Vec<u8>,
        told: &(dyn Fn(Step) + Send + Sync),
    ) -> Result<Prepared, PrepareError> {
        if let Some(prepared) = self.cached(digest)? {
            return Ok(prepared);
        }
        told(Step::Waiting);
        let code = self.shared.compiler.compile(component, told).await?;
        told(Step::Mapping);
        let code = cache::Code::sealed(&code)
            .map_err(|e| PrepareError::Machine(format!("machine code cannot be mapped: {e}")))?;
        let prepared = self.map(&code)?;
        self.shared.cache.write(digest, &code);
        Ok(prepared)
    }

    fn map(&self, code: &cache::Code) -> Result<Prepared, PrepareError> {
        let component = Self::deserialize(&self.shared.wasmtime, code)
            .map_err(|e| PrepareError::Component(format!("the component does not fit this engine: {e:#}")))?;
        let pre = self
            .shared
            .linker
            .instantiate_pre(&component)
            .map_err(|e| PrepareError::Component(format!("an import of the component is not served: {e:#}")))?;
        let pre = bindings::PluginPre::new(pre).map_err(|e| {
            PrepareError::Component(format!(
                "the component does not export `caisson:plugin/tools@0.1.0` as the contract has it: {e:#}"
            ))
        })?;
        Ok(Prepared { pre })
    }

    #[expect(
        unsafe_code,
        reason = "wasmtime trusts machine code; it comes from our compile child or from the cache behind its tag"
    )]
    fn deserialize(engine: &wasmtime::Engine, code: &cache::Code) -> wasmtime::Result<Component> {
        // SAFETY: `Code` is sealed memory whose content was made by the compile child of this process, or was authenticated with
        // a key that never leaves this process; nobody can change it after the check.
        unsafe { Component::deserialize_file(engine, code.path()) }
    }

    /// Asks a component for its tools, with settings and no capability.
    ///
    /// # Errors
    /// The refusal that a call would have had, or the component's own error as text for its author.
    pub async fn list_tools(
        &self,
        prepared: &Prepared,
        job: Job,
    ) -> Result<Result<Vec<ToolSpec>, String>, caisson_call::Refused> {
        run::list_tools(&self.shared, prepared, job).await
    }

    /// Runs one call in a fresh instance. Dropping the future frees the instance at once.
    pub async fn run(&self, prepared: &Prepared, job: Job, tool: &str, arguments: &str) -> Ran {
        run::call_tool(&self.shared, prepared, job, tool, arguments).await
    }
}
