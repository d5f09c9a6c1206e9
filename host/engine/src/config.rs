//! How wasmtime is set up, and what this machine lets it map.

use std::path::PathBuf;
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};
use zeroize::Zeroizing;

/// Key that authenticates cached machine code. 32 random bytes that no tenant and no compile child ever sees.
pub type CacheKey = Zeroizing<[u8; 32]>;

/// What an operator sets.
pub struct EngineConfig {
    /// Folder of the machine-code cache; `None` keeps nothing.
    pub cache_dir: Option<PathBuf>,
    /// Key of the cache.
    pub cache_key: CacheKey,
    /// Program that compiles, and its arguments: this program itself with a hidden subcommand.
    pub compiler: (PathBuf, Vec<String>),
    /// Most address space of the compile child, bytes. A 20 MB Python component needs about 400 MB.
    pub compile_memory: u64,
    /// Most CPU time of the compile child, seconds.
    pub compile_seconds: u64,
    /// Most linear memory that any one memory may have, bytes: the operator's ceiling.
    pub max_memory: usize,
    /// Instances that may live at once, tried first; the probe goes down from here.
    pub max_instances: u32,
}

/// What the start-up probe settled on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Slots reserved ahead.
    Pooled {
        /// Instances that may live at once.
        instances: u32,
    },
    /// No pool: memory is mapped for each call, which costs it some tens of microseconds.
    OnDemand {
        /// What stood in the way.
        why: String,
    },
}

/// The engine cannot be built on this machine.
#[derive(Debug, thiserror::Error)]
#[error("the engine cannot start: {0}")]
pub struct EngineError(pub String);

/// Stack of a guest. Deep recursion in honest parsers needs a few hundred KiB; a runaway one ends here.
const MAX_WASM_STACK: usize = 512 << 10;

/// Linear memory bytes and table bytes that a pooled slot keeps between calls: zeroing these is cheaper than handing the pages back and
/// faulting them in anew.
const KEEP_RESIDENT: usize = 256 << 10;

/// The same where the kernel tells which pages were written (`PAGEMAP_SCAN`, Linux 6.7), so that only those are zeroed. A Rust guest has 1 MiB of
/// stack below its data and touches little of it.
const KEEP_RESIDENT_SCANNED: usize = 2 << 20;

/// Settings that decide what machine code looks like. The compile child uses exactly these.
pub(crate) fn code_config() -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.max_wasm_stack(MAX_WASM_STACK);
    config.wasm_component_model(true);
    config.parallel_compilation(true);
    // A backtrace of a guest goes to nobody but its author's log; collecting it on each trap costs time that a trapping guest
    // would not be charged for.
    config.wasm_backtrace_max_frames(None);
    config
}

/// Builds the engine with the largest pool that can be mapped.
pub(crate) fn build(wanted: &EngineConfig) -> Result<(wasmtime::Engine, Pool), EngineError> {
    let mut why = String::new();
    for instances in [wanted.max_instances, 256, 64, 16] {
        if instances > wanted.max_instances {
            continue;
        }
        let mut config = code_config();
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(instances, wanted.max_memory)));
        match wasmtime::Engine::new(&config) {
            Ok(engine) => {
                if instances < wanted.max_instances {
                    tracing::warn!(
                        instances,
                        wanted = wanted.max_instances,
                        why,
                        "this machine maps fewer pooled instances than asked for"
                    );
                }
                return Ok((engine, Pool::Pooled { instances }));
            }
            Err(error) => why = format!("{error:#}"),
        }
    }
    tracing::warn!(
        why,
        "no pool can be mapped here; each call maps its own memory, which is slower (raise the address-space limit)"
    );
    let engine = wasmtime::Engine::new(&code_config()).map_err(|e| EngineError(format!("{e:#}")))?;
    Ok((engine, Pool::OnDemand { why }))
}

/// Core instances of one component: a toolchain's has up to a dozen. With a pool a hostile component with a thousand is refused
/// when it is prepared, without one when it is instantiated.
pub(crate) const MAX_CORE_INSTANCES: u32 = 48;

/// Memories of one component: a toolchain's has one or two.
pub(crate) const MAX_MEMORIES: u32 = 4;

/// Tables of one component: a toolchain's has a handful.
pub(crate) const MAX_TABLES: u32 = 16;

/// Every instance can have all that one component may have, so that a few greedy ones cannot take the slots of everybody else: a slot that is
/// not used costs address space and nothing more.
fn pool(instances: u32, max_memory: usize) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    let scanned = PoolingAllocationConfig::is_pagemap_scan_available();
    pool.total_component_instances(instances)
        .total_stacks(instances)
        .total_core_instances(instances.saturating_mul(MAX_CORE_INSTANCES))
        .total_memories(instances.saturating_mul(MAX_MEMORIES))
        .total_tables(instances.saturating_mul(MAX_TABLES))
        .max_core_instances_per_component(MAX_CORE_INSTANCES)
        .max_memories_per_component(MAX_MEMORIES)
        .max_tables_per_component(MAX_TABLES)
        .max_component_instance_size(1 << 20)
        .max_core_instance_size(1 << 20)
        .table_elements(100_000)
        .max_memory_size(max_memory)
        .pagemap_scan(if scanned { Enabled::Yes } else { Enabled::No })
        .linear_memory_keep_resident(if scanned { KEEP_RESIDENT_SCANNED } else { KEEP_RESIDENT })
        .table_keep_resident(KEEP_RESIDENT)
        .async_stack_keep_resident(0);
    pool
}
