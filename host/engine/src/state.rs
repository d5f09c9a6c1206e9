//! The data of a store: one context a gate, the table they share, and the limiter.

use crate::meter::{CpuMeter, Limiter};
use async_trait::async_trait;
use caisson_gate_ambient::{AmbientCtx, AmbientView, HasAmbient};
use caisson_gate_exec::{ExecCtx, ExecView, HasExec, ProgramNetwork};
use caisson_gate_files::{FilesCtx, FilesView, HasFiles};
use caisson_gate_host::{HasHost, HostCtx, HostView};
use caisson_gate_http::{HasHttp, HttpCtx, HttpView, Proxy};
use std::sync::Arc;
use tokio::net::TcpListener;
use wasmtime::component::ResourceTable;

pub(crate) struct State {
    pub(crate) table: ResourceTable,
    pub(crate) ambient: AmbientCtx,
    pub(crate) files: FilesCtx,
    pub(crate) http: HttpCtx,
    pub(crate) exec: ExecCtx,
    pub(crate) host: HostCtx,
    pub(crate) limiter: Limiter,
    pub(crate) cpu: Arc<CpuMeter>,
}

impl HasAmbient for State {
    fn ambient(&mut self) -> AmbientView<'_> {
        AmbientView { ctx: &mut self.ambient, table: &mut self.table }
    }
}

impl HasFiles for State {
    fn files(&mut self) -> FilesView<'_> {
        FilesView { ctx: &mut self.files, table: &mut self.table }
    }
}

impl HasHttp for State {
    fn http(&mut self) -> HttpView<'_> {
        HttpView { ctx: &mut self.http, table: &mut self.table }
    }
}

impl HasExec for State {
    fn exec(&mut self) -> ExecView<'_> {
        let workspace = self.files.workspace();
        ExecView {
            ctx: &mut self.exec,
            table: &mut self.table,
            tenant: &self.host.facts.tenant,
            agent: self.host.facts.agent.as_deref(),
            workspace: Box::new(|| Ok(workspace.open_or_create()?.into())),
            network: Arc::new(Proxied(self.http.proxy())),
        }
    }
}

/// Commands reach what the call's own requests would.
struct Proxied(Proxy);

#[async_trait]
impl ProgramNetwork for Proxied {
    fn authority(&self) -> Result<Arc<str>, String> {
        self.0.authority().map_err(|error| error.to_string())
    }

    async fn serve(self: Arc<Self>, listener: TcpListener) {
        self.0.clone().serve(listener).await;
    }
}

impl HasHost for State {
    fn host(&mut self) -> HostView<'_> {
        HostView { ctx: &mut self.host, table: &mut self.table }
    }
}
