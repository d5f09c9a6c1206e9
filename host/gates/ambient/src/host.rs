//! Random and poll, charged and bounded before wasmtime-wasi's own implementation serves them.

use crate::{AmbientView, MAX_POLL_LIST};
use caisson_call::{Budget, OverBudget};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};
use wasmtime_wasi_io::bindings::wasi::io::poll;
use wasmtime_wasi_io::poll::DynPollable;

impl AmbientView<'_> {
    fn charge_random(&self, bytes: u64) -> wasmtime::Result<()> {
        Ok(self.ctx.ledger.charge(Budget::RandomBytes, bytes)?)
    }
}

impl random::Host for AmbientView<'_> {
    fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.charge_random(len)?;
        random::Host::get_random_bytes(self.ctx.wasi().random(), len)
    }
    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.charge_random(8)?;
        random::Host::get_random_u64(self.ctx.wasi().random())
    }
}

impl insecure::Host for AmbientView<'_> {
    fn get_insecure_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.charge_random(len)?;
        insecure::Host::get_insecure_random_bytes(self.ctx.wasi().random(), len)
    }
    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.charge_random(8)?;
        insecure::Host::get_insecure_random_u64(self.ctx.wasi().random())
    }
}

impl insecure_seed::Host for AmbientView<'_> {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        insecure_seed::Host::insecure_seed(self.ctx.wasi().random())
    }
}

impl poll::Host for AmbientView<'_> {
    async fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        if pollables.len() > MAX_POLL_LIST {
            return Err(OverBudget(Budget::HostMemory).into());
        }
        poll::Host::poll(self.table, pollables).await
    }
}

impl poll::HostPollable for AmbientView<'_> {
    async fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        poll::HostPollable::block(self.table, pollable).await
    }
    async fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        poll::HostPollable::ready(self.table, pollable).await
    }
    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        poll::HostPollable::drop(self.table, pollable)
    }
}
