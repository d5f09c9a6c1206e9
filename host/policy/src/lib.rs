//! Decisions without I/O: is a tool offered to a request, what may its call touch, and why.
//!
//! Only this station makes a [`Permit`], and the engine runs nothing without one.
//!
//! May depend on: `caisson-call`, `caisson-contract`. Must not know: wasmtime, the network, SQL, files. No I/O.

mod alias;
mod explain;
mod list;
mod near;
mod permit;
mod settings;

pub use alias::canonical;
pub use explain::{Decision, Step};
pub use list::{Known, Layered, Policy, check_list};
pub use near::nearest;
pub use permit::Permit;
