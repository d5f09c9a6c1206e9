//! `serve` and `mcp`.

use crate::args::{Cli, McpArgs, ServeArgs, StateArgs};
use crate::{output, wiring};
use anyhow::{Context, Result};
use caisson_call::{CallContext, Principal, Role, TenantId};
use caisson_doors::DoorsConfig;
use caisson_engine::Step;
use caisson_registry::Store;
use serde_json::json;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;
use wiring::Wired;

/// Runs the gateway until it is told to stop.
pub(crate) async fn serve(cli: &Cli, args: &ServeArgs) -> Result<ExitCode> {
    let listener = TcpListener::bind(args.listen).await.with_context(|| {
        format!(
            "`{}` cannot be listened on; choose another address with --listen, or end what listens there",
            args.listen
        )
    })?;
    let address = listener.local_addr()?;
    raise_open_files();
    let wired = wiring::open(&args.state, vec![address]).await?;
    let tools = install(cli, &args.state, &wired).await?;
    take_away_containers(&args.state, &wired);
    let token = owner_token(&args.state.data, &wired).await?;
    let config = DoorsConfig {
        allowed_hosts: args.allow_host.clone(),
        allowed_origins: args.allow_origin.clone(),
        ..DoorsConfig::default()
    };
    let router = caisson_doors::router(wired.gateway.clone(), config.clone());
    announce(cli, &format!("http://{address}"), &token, tools);
    caisson_doors::serve(listener, router, &config, stop()).await;
    wired.close().await;
    Ok(ExitCode::SUCCESS)
}

/// What an earlier run left is taken away while calls are served already.
fn take_away_containers(args: &StateArgs, wired: &Wired) {
    if args.containers.docker_socket.is_none() {
        return;
    }
    let executor = Arc::clone(&wired.executor);
    tokio::spawn(async move {
        if let Err(error) = executor.open_containers().await {
            tracing::warn!(error, "commands that are to run in containers do not run");
        }
    });
}

/// Raises the soft limit on open files to the hard one: a connection costs one and a call some, and the usual 1,024 are soon used up.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, ..now }) {
        tracing::warn!(%error, "the limit on open files stays as it is");
    }
}

/// Serves one client on standard input and output.
pub(crate) async fn mcp(args: &McpArgs) -> Result<ExitCode> {
    let wired = wiring::open(&args.state, vec![]).await?;
    if let Some(folder) = built_in(&args.state) {
        wiring::install_built_in(&wired.gateway, &folder, &|_, _| ()).await?;
    }
    let principal = Principal {
        tenant: TenantId::new(&args.tenant).map_err(anyhow::Error::msg)?,
        role: Role::Agent,
        token_id: "stdio".into(),
        agent: args.agent.clone(),
        user: None,
    };
    caisson_doors::serve_stdio(wired.gateway.clone(), principal, CallContext::default()).await?;
    wired.close().await;
    Ok(ExitCode::SUCCESS)
}

/// The folder of built-in tools: as asked, or beside this program.
fn built_in(args: &StateArgs) -> Option<PathBuf> {
    if let Some(folder) = &args.built_in {
        return Some(folder.clone());
    }
    let program = std::env::current_exe().ok()?;
    let beside = program.parent()?.join("../share/caisson/tools");
    beside.is_dir().then_some(beside)
}

async fn install(cli: &Cli, args: &StateArgs, wired: &Wired) -> Result<usize> {
    let Some(folder) = built_in(args) else { return Ok(0) };
    let spinner = output::spinner(cli, "installing the built-in tools");
    let tools = wiring::install_built_in(&wired.gateway, &folder, &|name, step| {
        spinner.set_message(match step {
            Step::Waiting => format!("{name}: waiting for the compiler"),
            Step::Compiling => format!("{name}: compiling"),
            Step::Mapping => format!("{name}: mapping"),
        });
    })
    .await;
    spinner.finish_and_clear();
    tools
}

/// The owner's token: made at the first start and kept, readable by its owner alone, beside the master key, which is worth as much.
async fn owner_token(data: &Path, wired: &Wired) -> Result<String> {
    let path = data.join("owner.token");
    if let Ok(token) = std::fs::read_to_string(&path) {
        let token = token.trim().to_owned();
        if wired.gateway.authenticate(&token).await.is_some() {
            return Ok(token);
        }
    }
    let (token, token_id) = caisson_store::new_token();
    let principal = Principal { token_id, ..wiring::itself("default")? };
    wired.store.put_token(&token, &principal).await?;
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .with_context(|| format!("the owner's token cannot be kept in `{}`", path.display()))?;
    file.write_all(token.as_bytes())?;
    Ok(token)
}

fn announce(cli: &Cli, url: &str, token: &str, plugins: usize) {
    if cli.json {
        println!("{}", json!({ "url": url, "token": token, "builtInPlugins": plugins }));
    } else {
        println!("Caisson listens on {url}");
        println!("  HTTP API  {url}/v1  (described at {url}/openapi.json)");
        println!("  MCP       {url}/mcp");
        println!("  token     {token}");
        if plugins == 0 {
            println!("  no built-in tools: give their folder with --built-in");
        }
        println!("\nTry:\n");
        println!(
            "  curl -s {url}/v1/tools/invoke \\\n    -H 'Authorization: Bearer {token}' \\\n    -H 'Content-Type: application/json' \\\n    -d '{{\"tool\": \"datetime\", \"arguments\": {{}}}}'\n"
        );
    }
    let _ = std::io::stdout().flush();
}

/// Done at SIGINT or SIGTERM.
async fn stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        tracing::error!("signals cannot be listened to; end the gateway with SIGKILL");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
