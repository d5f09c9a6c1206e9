//! Bare wasmtime: a store with a WASI context and a limiter, an `InstancePre` and a call of the same component, with the pooling and epochs that the
//! gateway uses.

use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Config, InstanceAllocationStrategy, PoolingAllocationConfig, Store, StoreLimits, StoreLimitsBuilder};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit/plugin",
        world: "caisson:plugin/plugin",
        exports: { default: async },
    });
}

struct State {
    table: ResourceTable,
    wasi: WasiCtx,
    limits: StoreLimits,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

pub struct Bare {
    engine: wasmtime::Engine,
    pre: bindings::PluginPre<State>,
}

impl Bare {
    pub fn new(component: &[u8]) -> Self {
        let mut config = Config::new();
        config.epoch_interruption(true);
        config.max_wasm_stack(512 << 10);
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(64)
            .total_stacks(64)
            .total_core_instances(256)
            .total_memories(128)
            .total_tables(256)
            .table_elements(100_000)
            .max_memory_size(512 << 20)
            // As the engine has it, where the kernel can tell which pages were written.
            .pagemap_scan(wasmtime::Enabled::Auto)
            .linear_memory_keep_resident(2 << 20)
            .table_keep_resident(256 << 10);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        let engine = wasmtime::Engine::new(&config).unwrap();
        let component = Component::new(&engine, component).unwrap();
        let mut linker: Linker<State> = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        let pre = bindings::PluginPre::new(linker.instantiate_pre(&component).unwrap()).unwrap();
        let ticking = engine.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(std::time::Duration::from_millis(1));
                ticking.increment_epoch();
            }
        });
        Self { engine, pre }
    }

    pub async fn call(&self, tool: &str, arguments: &str) {
        let state = State {
            table: ResourceTable::new(),
            wasi: WasiCtx::builder().build(),
            limits: StoreLimitsBuilder::new().memory_size(64 << 20).build(),
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.limits);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let plugin = self.pre.instantiate_async(&mut store).await.unwrap();
        let answer = plugin.caisson_plugin_tools().call_call_tool(&mut store, tool, arguments).await.unwrap();
        assert!(answer.is_ok());
    }
}
