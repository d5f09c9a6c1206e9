//! Runs a program in a container of a Docker engine, as `caisson-confine` runs one on the host: the same plan, the same way to read,
//! feed, wait and end. What is asked for in a container runs there or not at all.
//!
//! The engine makes containers and takes them away; commands never pass through it. A small program of ours is process 1 of each
//! container: it gets orders with pipes over a socket, starts each program, and takes down all that came of it.
//!
//! May depend on: `caisson-confine`, the engine's API. Must not know: wasmtime, SQL, who calls.

mod body;
mod config;
mod containers;
mod engine;
mod error;
#[cfg(test)]
#[path = "init/main.rs"]
#[expect(dead_code, reason = "a program of its own, which the build compiles apart; here it is linted and tested")]
mod init;
mod kept;
mod running;
mod wire;
mod workspace;

pub use config::{Config, Key, Pull, Sandbox, SandboxError};
pub use containers::Containers;
pub use error::BoxError;
