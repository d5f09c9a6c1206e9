//! Runs a program where it can reach its workspace and nothing else: not the gateway's data or keys, no other workspace, no
//! other process, no service's socket, no network but a proxy that the caller serves.
//!
//! A small program of ours, the stub, is started first. It confines itself and only then becomes the program, since what
//! has to be done (Landlock, seccomp, mounts) allocates and cannot be done between fork and exec of a threaded process.
//!
//! [`Confiner::open`] asks the machine what it gives and holds that against what is demanded; only what passed can
//! [`Confiner::spawn`]. Nothing falls back to less: a wall that cannot be had is an error that says how to get it.
//!
//! May depend on: the kernel. Must not know: wasmtime, HTTP, SQL, who calls.

mod capture;
mod cgroup;
mod find;
mod given;
mod plan;
mod pool;
mod probe;
mod running;
mod spawn;
pub mod stub;
mod wire;

pub use capture::{Captured, Output};
pub use find::{NoStub, Stub, find_stub};
pub use given::{Answer, Demand, Given, Lacking};
pub use plan::{Access, HostId, Limits, Network, Plan, PlanError, Program, Stdin, WORKSPACE};
pub use running::{Ending, Running};
pub use spawn::{Confiner, SpawnError, open_workspace};
