//! From wasmtime's error to the closed enum of outcomes.

use crate::meter::OutOfCpu;
use caisson_call::{Budget, Ledger, OverBudget, Refused};
use wasmtime::component::ResourceTableError;

/// Says how a call ended that has no answer. Nothing of the guest's text goes in.
pub(crate) fn refused(error: &wasmtime::Error, memory_refused: bool, ledger: &Ledger) -> Refused {
    if error.is::<OutOfCpu>() {
        return Refused::OutOfCpu;
    }
    if let Some(OverBudget(which)) = error.downcast_ref::<OverBudget>() {
        return Refused::OverBudget(*which);
    }
    if memory_refused {
        return Refused::OutOfMemory;
    }
    if let Some(which) = ledger.exhausted() {
        return Refused::OverBudget(which);
    }
    if matches!(error.downcast_ref::<ResourceTableError>(), Some(ResourceTableError::Full))
        || host_memory_is_spent(error)
    {
        return Refused::OverBudget(Budget::HostMemory);
    }
    if error.is::<wasmtime::PoolConcurrencyLimitError>() {
        return Refused::Overloaded { retry_after: std::time::Duration::from_secs(1) };
    }
    if error.is::<wasmtime_wasi::I32Exit>() {
        return Refused::Trapped { why: "exit in the middle of a call" };
    }
    if let Some(trap) = error.downcast_ref::<wasmtime::Trap>() {
        return Refused::Trapped { why: name(*trap) };
    }
    tracing::warn!(error = format!("{error:#}"), "a call ended with an error that has no outcome of its own");
    // wasmtime has no type for a value that it cannot lift, so it cannot be told from a host call that failed.
    Refused::Trapped { why: "malformed value or failed host call" }
}

/// wasmtime has no types for these: bytes copied at one crossing, handles, and (without a pool, which refuses them when they are
/// prepared) core instances, memories and tables.
fn host_memory_is_spent(error: &wasmtime::Error) -> bool {
    const SPENT: [&str; 3] =
        ["fuel allocated for hostcalls has been exhausted", "store handle limit exceeded", "resource limit exceeded"];
    error.chain().any(|cause| {
        let text = cause.to_string();
        SPENT.iter().any(|spent| text.contains(spent))
    })
}

fn name(trap: wasmtime::Trap) -> &'static str {
    use wasmtime::Trap;
    match trap {
        Trap::StackOverflow => "call stack exhausted",
        Trap::MemoryOutOfBounds => "out of bounds memory access",
        Trap::HeapMisaligned => "unaligned atomic",
        Trap::TableOutOfBounds => "out of bounds table access",
        Trap::IndirectCallToNull => "call of a null function",
        Trap::BadSignature => "indirect call of another type",
        Trap::IntegerOverflow => "integer overflow",
        Trap::IntegerDivisionByZero => "integer division by zero",
        Trap::BadConversionToInteger => "invalid conversion to integer",
        Trap::UnreachableCodeReached => "unreachable",
        Trap::NullReference => "null reference",
        Trap::CannotEnterComponent => "component entered again",
        _ => "trap",
    }
}
