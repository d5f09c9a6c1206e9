//! A component file without a gateway: installed in memory, granted what it declares, called once.

use crate::args::{CallArgs, Cli, EgressArgs};
use crate::{output, wiring};
use anyhow::{Context, Result, bail};
use caisson_call::{Call, CallContext, CallId, Principal, Progress};
use caisson_contract::SecretBinding;
use caisson_registry::{Gateway, GrantRequest, PluginView};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// A component file in a gateway of its own.
pub(crate) struct Loaded {
    pub(crate) gateway: Gateway,
    pub(crate) who: Principal,
    pub(crate) plugin: PluginView,
    /// Removed with this value.
    _scratch: tempfile::TempDir,
}

/// Installs a component file in memory, without a grant.
pub(crate) async fn load(cli: &Cli, file: &Path, workspace: Option<&Path>, egress: &EgressArgs) -> Result<Loaded> {
    let component = std::fs::read(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
    let scratch = tempfile::tempdir().context("no temporary folder can be made")?;
    let workspaces = workspace.map_or_else(|| scratch.path().join("workspaces"), Path::to_owned);
    let (code, key) = code_cache(scratch.path());
    let wired = wiring::in_memory(workspaces, egress, Some(code), key).await?;
    let who = wiring::itself("local")?;
    let spinner = output::spinner(cli, "compiling the component");
    let plugin = wired.gateway.install(&who, component).await;
    spinner.finish_and_clear();
    let plugin = plugin.with_context(|| format!("`{}` would not be installed", file.display()))?;
    Ok(Loaded { gateway: wired.gateway, who, plugin, _scratch: scratch })
}

/// Machine code is kept between calls in the user's own cache, behind a key of the user's own; where there is none, for this call only.
fn code_cache(scratch: &Path) -> (PathBuf, [u8; 32]) {
    let home = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    if let Some(folder) = home.map(|home| home.join("caisson"))
        && std::fs::create_dir_all(&folder).is_ok()
        && let Ok(key) = caisson_store::MasterKey::from_file_or_create(&folder.join("cache.key"))
    {
        return (folder.join("code"), key.derive("caisson machine code cache"));
    }
    (scratch.join("code"), *blake3_of_random())
}

/// A key that is forgotten with this process.
fn blake3_of_random() -> Box<[u8; 32]> {
    let mut key = Box::new([0; 32]);
    let (left, right) = key.split_at_mut(16);
    left.copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    right.copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    key
}

/// Calls a tool of a component file.
pub(crate) async fn call(cli: &Cli, args: &CallArgs, file: &Path, tool: &str, arguments: &str) -> Result<ExitCode> {
    let loaded = load(cli, file, args.workspace.as_deref(), &args.egress).await?;
    let Loaded { gateway, who, plugin, .. } = &loaded;
    gateway.grant(who, &plugin.name, GrantRequest::All { all: true }).await?;
    if let Some(settings) = &args.settings {
        let settings = serde_json::from_str(settings).context("--settings is not JSON")?;
        gateway.put_settings(who, &plugin.name, settings).await?;
    }
    for secret in &args.secret {
        let (name, value, binding) = parse_secret(secret)?;
        gateway.put_secret(who, &name, value, vec![binding]).await?;
    }
    let quiet = cli.json;
    let progress = move |progress: Progress| {
        if !quiet {
            let total = progress.total.map_or_else(String::new, |total| format!("/{total}"));
            eprintln!("[{}{total}] {}", progress.done, progress.message.unwrap_or_default());
        }
    };
    let call = Call {
        id: CallId(uuid::Uuid::now_v7().to_string().into()),
        principal: who.clone(),
        context: CallContext { session: args.session.clone(), ..CallContext::default() },
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        inputs: Arc::new([]),
        progress: Some(Arc::new(progress)),
        patience: None,
    };
    let answer = gateway.call(call).await;
    Ok(output::answer(cli, &answer))
}

/// `NAME=VARIABLE@scheme://host:port`; the value comes from the environment, so that it is in no history of a shell.
fn parse_secret(text: &str) -> Result<(String, String, SecretBinding)> {
    let shape = "a secret is NAME=ENVIRONMENT_VARIABLE@scheme://host:port";
    let (name, rest) = text.split_once('=').context(shape)?;
    let (variable, place) = rest.split_once('@').context(shape)?;
    let (scheme, place) = place.split_once("://").context(shape)?;
    let (host, port) = place.rsplit_once(':').context(shape)?;
    let Ok(value) = std::env::var(variable) else { bail!("the environment variable `{variable}` is not set") };
    let port = port.parse().with_context(|| format!("`{port}` is not a port; {shape}"))?;
    Ok((name.to_owned(), value, SecretBinding { host: host.to_owned(), scheme: scheme.to_owned(), port }))
}
