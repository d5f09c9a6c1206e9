//! Sockets: each way to one is refused where it begins, and the refusal is recorded, so that none is ever made. What would follow is served by
//! wasmtime-wasi over a context that permits no address.

use crate::AmbientView;
use caisson_call::{Capability, Denial};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::sockets::network::{self, ErrorCode, IpAddress, IpAddressFamily, Network};
use wasmtime_wasi::p2::bindings::sockets::{ip_name_lookup, tcp_create_socket, udp_create_socket};
use wasmtime_wasi::p2::{SocketError, SocketResult, TcpSocket, UdpSocket};
use wasmtime_wasi::sockets::WasiSocketsCtxView;
use wasmtime_wasi_io::poll::DynPollable;

impl AmbientView<'_> {
    fn no_socket(&self, subject: &str) -> SocketError {
        self.ctx.ledger.refuse(Denial {
            capability: Capability::Sockets,
            rule: "sockets.not-served".into(),
            subject: subject.into(),
            grant: "use wasi:http instead, with a rule in [[capabilities.http]]".into(),
            approval: None,
        });
        ErrorCode::AccessDenied.into()
    }

    fn wasi_sockets(&mut self) -> WasiSocketsCtxView<'_> {
        WasiSocketsCtxView { ctx: self.ctx.wasi().sockets(), table: self.table }
    }
}

impl network::Host for AmbientView<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }
    fn network_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        network::Host::network_error_code(&mut self.wasi_sockets(), error)
    }
}

impl network::HostNetwork for AmbientView<'_> {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        network::HostNetwork::drop(&mut self.wasi_sockets(), network)
    }
}

impl tcp_create_socket::Host for AmbientView<'_> {
    fn create_tcp_socket(&mut self, _: IpAddressFamily) -> SocketResult<Resource<TcpSocket>> {
        Err(self.no_socket("a TCP socket"))
    }
}

impl udp_create_socket::Host for AmbientView<'_> {
    async fn create_udp_socket(&mut self, _: IpAddressFamily) -> SocketResult<Resource<UdpSocket>> {
        Err(self.no_socket("a UDP socket"))
    }
}

impl ip_name_lookup::Host for AmbientView<'_> {
    fn resolve_addresses(
        &mut self,
        _: Resource<Network>,
        _: String,
    ) -> SocketResult<Resource<ip_name_lookup::ResolveAddressStream>> {
        Err(self.no_socket("a look-up of a name"))
    }
}

impl ip_name_lookup::HostResolveAddressStream for AmbientView<'_> {
    fn resolve_next_address(
        &mut self,
        stream: Resource<ip_name_lookup::ResolveAddressStream>,
    ) -> SocketResult<Option<IpAddress>> {
        ip_name_lookup::HostResolveAddressStream::resolve_next_address(&mut self.wasi_sockets(), stream)
    }
    fn subscribe(
        &mut self,
        stream: Resource<ip_name_lookup::ResolveAddressStream>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        ip_name_lookup::HostResolveAddressStream::subscribe(&mut self.wasi_sockets(), stream)
    }
    fn drop(&mut self, stream: Resource<ip_name_lookup::ResolveAddressStream>) -> wasmtime::Result<()> {
        ip_name_lookup::HostResolveAddressStream::drop(&mut self.wasi_sockets(), stream)
    }
}
