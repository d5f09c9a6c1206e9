//! The side rail of what happened: events from every station, in one hash chain a node.
//!
//! Each record is hashed with the digest of the one before it, so that a change, a gap or another order shows; checkpoints and a head,
//! authenticated with a key outside the database, make a rewritten or shortened chain show as well. Records hold who, what, how it ended and why; never
//! arguments or results. Nothing is deleted: what ages out is the operator's decision.
//!
//! May depend on: `caisson-call`. Must not know: SQL (the store implements [`AuditSink`]), doors, wasmtime.

mod chain;
mod event;
mod writer;

pub use chain::{Broken, Head, Record, Verifier, verify};
pub use event::{AuditEvent, CallEvent, ChangeEvent};
pub use writer::{Audit, AuditSink, SinkError};
