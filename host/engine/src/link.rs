//! Linking, once for all components: one line a gate.

use crate::state::State;
use wasmtime::component::Linker;

/// Links every interface by its own function, never by an umbrella: those bring their own file system and sockets past the gates.
pub(crate) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    caisson_gate_ambient::add_to_linker(&mut linker)?;
    caisson_gate_files::add_to_linker(&mut linker)?;
    caisson_gate_http::add_to_linker(&mut linker)?;
    caisson_gate_exec::add_to_linker(&mut linker)?;
    caisson_gate_host::add_to_linker(&mut linker)?;
    Ok(linker)
}
