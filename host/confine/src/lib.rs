//! Runs a program where it can reach its workspace and nothing else: not the gateway's data or keys, no other workspace, no
//! other process, no service's socket, no network but a proxy that the caller serves.
//!
//! A small program of ours, the stub, is started first. It confines itself and only then becomes the program, since what
//! has to be done (Landlock, seccomp, mounts) allocates and cannot be done between fork and exec of a threaded process.
//!
//! [`Confiner::open`] asks the machine what it gives and holds that against what is demanded; only what passed can
//! [`Confiner::spawn`]. Nothing falls back to less: a wall that cannot be had is an error that says how to get it.
//!
//! ```no_run
//! # use std::{os::fd::AsFd, path::Path, time::Duration};
//! # use caisson_confine::{Confiner, Demand, HostId, Plan, Program, find_stub, open_workspace};
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let workspaces = Path::new("/var/lib/caisson/workspaces");
//! let confiner = Confiner::open(find_stub()?, Demand::default(), HostId::default(), workspaces).await?;
//! let workspace = open_workspace(&workspaces.join("tenant/agent"))?;
//! let running = confiner.spawn(Plan::new(Program::Shell("ls".into())), workspace.as_fd()).await?;
//! let captured = running.capture(Vec::new(), Duration::from_secs(60)).await;
//! # Ok(()) }
//! ```
//!
//! A [`Confiner`] belongs to the runtime in which it was opened, and [`Confiner::close`] ends it without leaving control
//! groups to the next start.
//!
//! May depend on: the kernel. Must not know: wasmtime, HTTP, SQL, who calls.

mod capture;
mod cgroup;
mod find;
mod given;
pub mod packets;
mod plan;
mod pool;
mod probe;
mod running;
mod spawn;
pub mod stub;
mod wire;

pub use capture::{Captured, Output, Through};
pub use find::{NoStub, Stub, find_stub};
pub use given::{Answer, Demand, Given, Lacking};
pub use plan::{
    AUTHORITIES, Access, FILES, HostId, Limits, Network, Plan, PlanError, Program, SYSTEM, Stdin, WORKSPACE,
};
pub use running::{ChildStreams, Ending, Ends, Running, Streams};
pub use spawn::{Confiner, SpawnError, open_workspace};
