//! The words of the way of a call, shared by every station: who calls ([`Principal`]), what is called ([`Call`]),
//! what may be spent ([`Ledger`]) and how it ended ([`Outcome`], [`Refused`], [`RawResult`]).
//!
//! May depend on: serde, thiserror. Must not know: wasmtime, the network, SQL, files. No I/O.

mod call;
mod ledger;
mod outcome;
mod principal;
mod result;

pub use call::{Call, CallContext, CallId, Cancel, Origin, PeerKind, Progress, ProgressSink};
pub use ledger::{Budget, Capability, Denial, Ledger, Limits, Outside, OverBudget};
pub use outcome::{Fault, Outcome, Refused};
pub use principal::{Principal, Role, TenantId};
pub use result::{Content, RawOutput, RawResult, ToolErrorReason};
