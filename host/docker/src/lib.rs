//! Runs a program in a container of a Docker engine, as `caisson-confine` runs one on the host: the same plan, the same way to read,
//! feed, wait and end. The engine makes containers and takes them away; commands themselves never pass through it.

mod config;
mod error;

pub use config::{Config, Key, Pull, Sandbox, SandboxError};
pub use error::BoxError;
