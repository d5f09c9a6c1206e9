//! What an operator sets for the registry.

use caisson_call::{Budget, Limits};
use caisson_contract::Capabilities;
use std::path::PathBuf;
use std::time::Duration;

/// Operator's settings of the registry line.
pub struct GatewayConfig {
    /// Workspaces lie below it.
    pub workspaces: PathBuf,
    /// Most that any tenant may grant; `None` leaves it to the tenants (what no rule of any tenant can open stays shut: special
    /// addresses, paths outside the workspace, interfaces without a gate).
    pub ceiling: Option<Capabilities>,
    /// Most that any plugin may ask for.
    pub ceiling_limits: Limits,
    /// Calls per session and hour.
    pub rate_per_hour: u32,
    /// Calls of one tenant at once.
    pub workers: usize,
    /// Calls of one tenant that may wait.
    pub queue: usize,
    /// Most bytes of a component.
    pub max_component_bytes: u64,
    /// Characters of a result that go to the model whole.
    pub max_result_chars: usize,
}

impl GatewayConfig {
    /// What a gateway starts with.
    #[must_use]
    pub fn new(workspaces: PathBuf) -> Self {
        Self {
            workspaces,
            ceiling: None,
            ceiling_limits: default_ceiling_limits(),
            rate_per_hour: 150,
            workers: 8,
            queue: 64,
            max_component_bytes: 64 << 20,
            max_result_chars: 8_000,
        }
    }
}

fn default_ceiling_limits() -> Limits {
    let mut limits = Limits {
        memory: 512 << 20,
        cpu: Duration::from_secs(30),
        wall: Duration::from_secs(300),
        grace: Duration::from_secs(5),
        ..Limits::default()
    };
    for (budget, limit) in [
        (Budget::HostMemory, 64 << 20),
        (Budget::HttpRequests, 1_000),
        (Budget::HttpBytes, 256 << 20),
        (Budget::FileBytes, 1 << 30),
        (Budget::FileOperations, 1_000_000),
        (Budget::LogBytes, 1 << 20),
        (Budget::OutputBytes, 64 << 20),
        (Budget::Processes, 1_000),
    ] {
        limits.set(budget, limit);
    }
    limits
}
