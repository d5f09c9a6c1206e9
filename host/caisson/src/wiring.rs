//! Puts a gateway together from its parts.

use crate::COMPILE_CHILD;
use crate::args::{ContainerArgs, EgressArgs, StateArgs};
use anyhow::{Context, Result, bail};
use caisson_audit::Audit;
use caisson_call::{Principal, Role, TenantId};
use caisson_engine::{ContainersConfig, Egress, EgressConfig, Engine, EngineConfig, ExecConfig, Executor, Pull, Step};
use caisson_policy::Policy;
use caisson_registry::{Gateway, GatewayConfig, Parts, Store};
use caisson_scrub::Scrubber;
use caisson_store::{MasterKey, SqliteStore};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A gateway and what the commands need beside it.
pub(crate) struct Wired {
    pub(crate) gateway: Gateway,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) executor: Arc<Executor>,
}

impl Wired {
    /// Writes and ends what a gateway holds.
    pub(crate) async fn close(&self) {
        self.executor.close().await;
        self.gateway.flush().await;
        self.store.close().await;
    }
}

/// Address space of the compile child, bytes; a 20 MB component needs some 400 MB, threads and allocator reserve more.
const COMPILE_MEMORY: u64 = 4 << 30;

/// CPU time of the compile child, seconds, over all its threads.
const COMPILE_SECONDS: u64 = 180;

/// The token id of what the gateway does by itself.
const ITSELF: &str = "gateway";

/// Opens the state in a folder.
pub(crate) async fn open(args: &StateArgs, own: Vec<SocketAddr>) -> Result<Wired> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&args.data)
        .with_context(|| format!("the data folder `{}` cannot be made", args.data.display()))?;
    let in_file = || MasterKey::from_file_or_create(&args.data.join("master.key"));
    let key = MasterKey::from_env().unwrap_or_else(in_file)?;
    let cache_key = key.derive("caisson machine code cache");
    let containers = containers(&args.containers, &args.data, &key.id());
    let store = Arc::new(SqliteStore::open(&args.data, key).await?);
    let mut config = GatewayConfig::new(args.data.join("workspaces"));
    config.rate_per_hour = args.rate_per_hour;
    let mut exec = exec_config(&config, Some(&args.data));
    exec.containers = containers;
    wire(store, config, Some(args.data.join("code")), cache_key, &args.egress, own, exec).await
}

/// Containers of this gateway, known by its master key's public mark, so that no other gateway of the engine takes them for its own.
pub(crate) fn containers(args: &ContainerArgs, data: &Path, instance: &str) -> Option<ContainersConfig> {
    let socket = args.docker_socket.clone()?;
    let folder = std::path::absolute(data).unwrap_or_else(|_| data.to_owned()).join("containers");
    let pull = if args.docker_pull_missing { Pull::Missing } else { Pull::Never };
    Some(ContainersConfig { socket, pull, ..ContainersConfig::new(instance, folder) })
}

/// A gateway that lives in memory, for one call of a component file.
pub(crate) async fn in_memory(
    workspaces: PathBuf,
    egress: &EgressArgs,
    code: Option<PathBuf>,
    cache_key: [u8; 32],
) -> Result<Wired> {
    let store = Arc::new(SqliteStore::in_memory().await?);
    let mut config = GatewayConfig::new(workspaces);
    config.rate_per_hour = u32::MAX;
    let exec = exec_config(&config, None);
    wire(store, config, code, cache_key, egress, vec![], exec).await
}

async fn wire(
    store: Arc<SqliteStore>,
    config: GatewayConfig,
    code: Option<PathBuf>,
    cache_key: [u8; 32],
    egress: &EgressArgs,
    own: Vec<SocketAddr>,
    exec: ExecConfig,
) -> Result<Wired> {
    let engine = Engine::new(engine_config(&config, code, cache_key)?)?;
    let executor = Arc::new(Executor::new(exec));
    let audit = Audit::start(Arc::clone(&store) as _, store.audit_key());
    let parts = Parts {
        config,
        engine,
        store: Arc::clone(&store) as Arc<dyn Store>,
        audit,
        scrubber: Scrubber::new(),
        egress: Arc::new(egress_of(egress, own)?),
        executor: Arc::clone(&executor),
        policy: Policy::default(),
    };
    Ok(Wired { gateway: Gateway::new(parts).await?, store, executor })
}

/// How commands run: none may name the gateway's own folder, which none can see either.
fn exec_config(config: &GatewayConfig, data: Option<&Path>) -> ExecConfig {
    let mut exec = ExecConfig::new(config.workspaces.clone());
    exec.denied.extend(data.and_then(|data| Some(std::path::absolute(data).ok()?.to_string_lossy().into_owned())));
    exec
}

fn engine_config(config: &GatewayConfig, cache_dir: Option<PathBuf>, cache_key: [u8; 32]) -> Result<EngineConfig> {
    let program =
        std::env::current_exe().context("this program's own path, which compiles components, is not known")?;
    Ok(EngineConfig {
        cache_dir,
        cache_key: cache_key.into(),
        compiler: (program, vec![COMPILE_CHILD.into()]),
        compile_memory: COMPILE_MEMORY,
        compile_seconds: COMPILE_SECONDS,
        max_memory: usize::try_from(config.ceiling_limits.memory)?,
        max_instances: 512,
    })
}

/// Outgoing HTTP as the operator set it.
pub(crate) fn egress_of(args: &EgressArgs, own_addresses: Vec<SocketAddr>) -> Result<Egress> {
    let extra_ca_pem = match &args.extra_ca {
        Some(path) => Some(
            std::fs::read(path)
                .with_context(|| format!("the certificate authority `{}` cannot be read", path.display()))?,
        ),
        None => None,
    };
    let config =
        EgressConfig { exceptions: args.allow_cidr.clone(), extra_ca_pem, own_addresses, ..EgressConfig::default() };
    Ok(Egress::new(config)?)
}

/// Who the gateway is when it installs its built-in tools.
pub(crate) fn itself(tenant: &str) -> Result<Principal> {
    Ok(Principal {
        tenant: TenantId::new(tenant).map_err(anyhow::Error::msg)?,
        role: Role::Owner,
        token_id: ITSELF.into(),
        agent: None,
        user: None,
    })
}

/// Installs every component of a folder as built in. One that is there already costs reading its file.
pub(crate) async fn install_built_in(
    gateway: &Gateway,
    folder: &Path,
    told: &(dyn Fn(&str, Step) + Send + Sync),
) -> Result<usize> {
    let who = itself("default")?;
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("the folder of built-in tools `{}` cannot be read", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "wasm"))
        .collect();
    files.sort();
    if files.is_empty() {
        bail!("there is no `*.wasm` in `{}`; build the built-in tools with `make guests`", folder.display());
    }
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let component = std::fs::read(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
        let installed = gateway.install_built_in(&who, component, &|step| told(&name, step)).await;
        installed.with_context(|| format!("the built-in plugin `{}` cannot be installed", file.display()))?;
    }
    Ok(files.len())
}
