//! The side rail of state: everything that outlives a call. All SQL of the gateway is here (statements that SQLite and Postgres read alike), as are
//! encryption of secrets and hashing of tokens.
//!
//! May depend on: `caisson-registry` and `caisson-audit` for the traits it implements, sqlx. Must not know: wasmtime, doors.

mod approvals;
mod artefacts;
mod audit;
mod key;
mod open;
mod programs;
mod records;
mod token;

pub use key::{KeyError, MasterKey};
pub use open::{OpenError, SqliteStore};
pub use token::new_token;
