//! The gate of what every component has: clocks, random, standard streams, `wasi:io`, and `wasi:sockets` with every address
//! refused. Linked for all, since toolchains import it unasked; held by budgets rather than grants.
//!
//! May depend on: `caisson-call`, wasmtime, wasmtime-wasi. Must not know: files, HTTP, other gates.

mod host;
mod log;
mod sockets;

pub use log::LogSink;

use caisson_call::Ledger;
use std::sync::Arc;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::WasiCtx;
use wasmtime_wasi::cli::{WasiCli, WasiCliCtxView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksCtxView};
use wasmtime_wasi::p2::bindings::{cli, clocks, random, sockets as wasi_sockets};
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsCtxView};

/// Resources a call may hold at once, over all interfaces. A generous tool holds dozens; a guest that makes a million of
/// them is stopped here, at about a hundred bytes each.
pub const MAX_RESOURCES: usize = 4096;

/// Pollables in one `poll` call. wasi-libc polls a handful.
pub const MAX_POLL_LIST: usize = 256;

/// Ambient state of one call.
pub struct AmbientCtx {
    /// Made when it is first asked for: most tools read no clock and print nothing.
    wasi: Option<WasiCtx>,
    log: LogSink,
    ledger: Arc<Ledger>,
}

impl AmbientCtx {
    /// Fresh state. What the guest writes to its standard streams goes to `log`.
    #[must_use]
    pub fn new(ledger: Arc<Ledger>, log: LogSink) -> Self {
        Self { wasi: None, log, ledger }
    }

    fn wasi(&mut self) -> &mut WasiCtx {
        let log = &self.log;
        self.wasi.get_or_insert_with(|| WasiCtx::builder().stdout(log.clone()).stderr(log.clone()).build())
    }
}

/// A call's ambient state with the table that its resources live in.
pub struct AmbientView<'a> {
    /// State of the gate.
    pub ctx: &'a mut AmbientCtx,
    /// Resources of the call.
    pub table: &'a mut ResourceTable,
}

/// Implemented by the store's data.
pub trait HasAmbient: Send {
    /// The gate's view of the call.
    fn ambient(&mut self) -> AmbientView<'_>;
}

/// Selects [`AmbientView`] in generated bindings.
pub struct Ambient;

impl HasData for Ambient {
    type Data<'a> = AmbientView<'a>;
}

fn cli_view<T: HasAmbient>(state: &mut T) -> WasiCliCtxView<'_> {
    let view = state.ambient();
    WasiCliCtxView { ctx: view.ctx.wasi().cli(), table: view.table }
}

fn clocks_view<T: HasAmbient>(state: &mut T) -> WasiClocksCtxView<'_> {
    let view = state.ambient();
    WasiClocksCtxView { ctx: view.ctx.wasi().clocks(), table: view.table }
}

fn sockets_view<T: HasAmbient>(state: &mut T) -> WasiSocketsCtxView<'_> {
    let view = state.ambient();
    WasiSocketsCtxView { ctx: view.ctx.wasi().sockets(), table: view.table }
}

/// Links the interfaces one by one: an umbrella function would bring its own file system past the files gate.
///
/// # Errors
/// Where a name is linked twice.
pub fn add_to_linker<T: HasAmbient + 'static>(l: &mut Linker<T>) -> wasmtime::Result<()> {
    wasmtime_wasi_io::bindings::wasi::io::error::add_to_linker::<T, HasTable>(l, |t| t.ambient().table)?;
    wasmtime_wasi_io::bindings::wasi::io::poll::add_to_linker::<T, Ambient>(l, T::ambient)?;
    wasmtime_wasi_io::bindings::wasi::io::streams::add_to_linker::<T, HasTable>(l, |t| t.ambient().table)?;
    random::random::add_to_linker::<T, Ambient>(l, T::ambient)?;
    random::insecure::add_to_linker::<T, Ambient>(l, T::ambient)?;
    random::insecure_seed::add_to_linker::<T, Ambient>(l, T::ambient)?;
    clocks::wall_clock::add_to_linker::<T, WasiClocks>(l, clocks_view::<T>)?;
    clocks::monotonic_clock::add_to_linker::<T, WasiClocks>(l, clocks_view::<T>)?;
    cli::exit::add_to_linker::<T, WasiCli>(l, cli_view::<T>)?;
    cli::environment::add_to_linker::<T, WasiCli>(l, cli_view::<T>)?;
    cli::stdin::add_to_linker::<T, WasiCli>(l, cli_view::<T>)?;
    cli::stdout::add_to_linker::<T, WasiCli>(l, cli_view::<T>)?;
    cli::stderr::add_to_linker::<T, WasiCli>(l, cli_view::<T>)?;
    cli::terminal_input::add_to_linker::<T, WasiCli>(l, cli_view::<T>)?;
    cli::terminal_output::add_to_linker::<T, WasiCli>(l, cli_view::<T>)?;
    cli::terminal_stdin::add_to_linker::<T, WasiCli>(l, cli_view::<T>)?;
    cli::terminal_stdout::add_to_linker::<T, WasiCli>(l, cli_view::<T>)?;
    cli::terminal_stderr::add_to_linker::<T, WasiCli>(l, cli_view::<T>)?;
    wasi_sockets::tcp::add_to_linker::<T, WasiSockets>(l, sockets_view::<T>)?;
    wasi_sockets::udp::add_to_linker::<T, WasiSockets>(l, sockets_view::<T>)?;
    wasi_sockets::tcp_create_socket::add_to_linker::<T, Ambient>(l, T::ambient)?;
    wasi_sockets::udp_create_socket::add_to_linker::<T, Ambient>(l, T::ambient)?;
    wasi_sockets::instance_network::add_to_linker::<T, WasiSockets>(l, sockets_view::<T>)?;
    wasi_sockets::network::add_to_linker::<T, WasiSockets>(
        l,
        &wasi_sockets::network::LinkOptions::default(),
        sockets_view::<T>,
    )?;
    wasi_sockets::ip_name_lookup::add_to_linker::<T, Ambient>(l, T::ambient)?;
    Ok(())
}

struct HasTable;

impl HasData for HasTable {
    type Data<'a> = &'a mut ResourceTable;
}
