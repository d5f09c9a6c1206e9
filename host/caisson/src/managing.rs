//! `list`, `upload`, `grant`, `inspect`.

use crate::args::{Cli, EgressArgs, GrantArgs, InspectArgs, ListArgs, UploadArgs};
use crate::remote::{Body, Gateway};
use crate::{local, output};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Lists tools or plugins.
pub(crate) async fn list(cli: &Cli, args: &ListArgs) -> Result<ExitCode> {
    let gateway = Gateway::of(&args.gateway)?;
    let (path, key) = if args.plugins { ("/v1/plugins", "plugins") } else { ("/v1/tools?limit=1000", "tools") };
    let listed = gateway.ask("GET", path, None).await?;
    if cli.json {
        output::print(&listed);
        return Ok(ExitCode::SUCCESS);
    }
    for entry in listed.get(key).and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let first_line = text("description").lines().next().unwrap_or_default().to_owned();
        let second = if args.plugins { format!("{} {}", text("version"), text("state")) } else { text("effect") };
        println!("{:24} {second:18} {first_line}", text("name"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Installs a component in a gateway and shows what it asks for.
pub(crate) async fn upload(cli: &Cli, args: &UploadArgs) -> Result<ExitCode> {
    let component =
        std::fs::read(&args.component).with_context(|| format!("`{}` cannot be read", args.component.display()))?;
    let gateway = Gateway::of(&args.gateway)?;
    let spinner = output::spinner(cli, "the gateway checks and compiles the component");
    let plugin = gateway.ask("POST", "/v1/plugins", Some(Body::Component(component))).await;
    spinner.finish_and_clear();
    show(cli, &plugin?);
    Ok(ExitCode::SUCCESS)
}

/// Grants, or takes a grant back.
pub(crate) async fn grant(cli: &Cli, args: &GrantArgs) -> Result<ExitCode> {
    let gateway = Gateway::of(&args.gateway)?;
    let path = format!("/v1/plugins/{}/grant", args.plugin);
    let plugin = match (&args.capabilities, args.all, args.revoke) {
        (Some(text), ..) => {
            let capabilities: Value = serde_json::from_str(text).context("--capabilities is not JSON")?;
            gateway.ask("PUT", &path, Some(Body::Json(capabilities))).await?
        }
        (None, true, _) => gateway.ask("PUT", &path, Some(Body::Json(json!({ "all": true })))).await?,
        (None, false, true) => gateway.ask("DELETE", &path, None).await?,
        (None, false, false) => bail!("say what to grant: --all, --capabilities JSON, or --revoke"),
    };
    show(cli, &plugin);
    Ok(ExitCode::SUCCESS)
}

/// Shows a component file or an installed plugin.
pub(crate) async fn inspect(cli: &Cli, args: &InspectArgs) -> Result<ExitCode> {
    let file = Path::new(&args.what);
    let plugin = if file.extension().is_some_and(|e| e == "wasm") {
        let none = EgressArgs { allow_cidr: vec![], extra_ca: None };
        serde_json::to_value(local::load(cli, file, None, &none).await?.plugin)?
    } else {
        Gateway::of(&args.gateway)?.ask("GET", &format!("/v1/plugins/{}", args.what), None).await?
    };
    show(cli, &plugin);
    Ok(ExitCode::SUCCESS)
}

/// A plugin for people: who it is, what it asks for, what it was granted, its tools.
pub(crate) fn show(cli: &Cli, plugin: &Value) {
    if cli.json {
        output::print(plugin);
        return;
    }
    let text = |key: &str| plugin.get(key).and_then(Value::as_str).unwrap_or_default();
    println!("{} {}  ({})", text("name"), text("version"), text("state"));
    if !text("reason").is_empty() {
        println!("  held: {}", text("reason"));
    }
    println!("  {}", text("description"));
    println!("  digest {}", text("digest"));
    for (title, key) in [("asks for", "declared"), ("credentials", "credentials"), ("granted", "granted")] {
        match plugin.get(key) {
            Some(Value::Object(map)) if map.is_empty() => println!("  {title}: nothing"),
            Some(Value::Null) | None => println!("  {title}: nothing"),
            Some(value) => {
                println!("  {title}: {}", serde_json::to_string_pretty(value).unwrap_or_default().replace('\n', "\n  "))
            }
        }
    }
    println!("  tools:");
    for tool in plugin.get("tools").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
        println!(
            "    {:24} {:10} {}",
            text("name"),
            text("effect"),
            text("description").lines().next().unwrap_or_default()
        );
    }
}
