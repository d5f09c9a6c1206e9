//! The gate of `wasi:http`: decides over every layer and every resolved address, dials the address that was judged, puts
//! credentials in and takes them out of what comes back. The only crate that dials out.
//!
//! May depend on: `caisson-call`, `caisson-contract`, `caisson-guard`, wasmtime, wasmtime-wasi-http, hyper, rustls. Must not
//! know: files, SQL, other gates, doors.

mod authority;
mod body;
mod decide;
mod decode;
mod egress;
mod error;
mod explain;
mod host;
mod inject;
mod proxy;
mod redact;

pub use egress::{Egress, EgressConfig, EgressError};
pub use explain::{Decision, Explanation};
pub use inject::InjectedSecret;
pub use proxy::{NoProxy, Proxy};

use caisson_call::Ledger;
use caisson_contract::Layers;
use host::Hooks;
use std::sync::Arc;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi_http::p2::bindings::http::{outgoing_handler, types};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks};

/// Bytes of one `fields` resource. Servers take 8 KiB of headers as a rule; this is that with the map's own overhead, and
/// room for a long cookie.
const MAX_FIELDS: usize = 32 * 1024;

/// HTTP state of one call. Making one allocates next to nothing: what is costly lives in [`Egress`].
pub struct HttpCtx {
    wasi: WasiHttpCtx,
    hooks: Hooks,
}

impl HttpCtx {
    /// Fresh state. The call's wall time counts from here.
    #[must_use]
    pub fn new(layers: Layers, ledger: Arc<Ledger>, egress: Arc<Egress>, secrets: Arc<[InjectedSecret]>) -> Self {
        let mut wasi = WasiHttpCtx::new();
        wasi.set_field_size_limit(MAX_FIELDS);
        Self { wasi, hooks: Hooks::new(layers, ledger, egress, secrets) }
    }

    /// The way out for the programs that this call runs, which have deadlines of their own.
    #[must_use]
    pub fn proxy(&self) -> Proxy {
        Proxy(self.hooks.for_programs())
    }

    /// The way out, for requests that the host itself makes under a call's rules, and for tests.
    pub fn hooks(&mut self) -> &mut dyn WasiHttpHooks {
        &mut self.hooks
    }
}

/// A call's HTTP state with the table that its resources live in.
pub struct HttpView<'a> {
    /// State of the gate.
    pub ctx: &'a mut HttpCtx,
    /// Resources of the call.
    pub table: &'a mut ResourceTable,
}

/// Implemented by the store's data.
pub trait HasHttp: Send {
    /// The gate's view of the call.
    fn http(&mut self) -> HttpView<'_>;
}

/// Selects wasmtime-wasi-http's own view in generated bindings: it serves the resources, the hooks decide.
struct Http;

impl HasData for Http {
    type Data<'a> = WasiHttpCtxView<'a>;
}

fn view<T: HasHttp>(state: &mut T) -> WasiHttpCtxView<'_> {
    let HttpView { ctx, table } = state.http();
    WasiHttpCtxView { hooks: &mut ctx.hooks, table, ctx: &mut ctx.wasi }
}

/// Links `wasi:http/types` and `wasi:http/outgoing-handler`.
///
/// # Errors
/// Where a name is linked twice.
pub fn add_to_linker<T: HasHttp + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    types::add_to_linker::<T, Http>(linker, &types::LinkOptions::default(), view::<T>)?;
    outgoing_handler::add_to_linker::<T, Http>(linker, view::<T>)
}
