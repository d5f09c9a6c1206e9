//! `program`: programs that run with credentials.

use crate::approving::{list, text};
use crate::args::{Cli, CredentialArgs, ProgramArgs, ProgramSet, ProgramWhat};
use crate::output;
use crate::remote::{Body, Gateway};
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

const ROOT: &str = "/v1/cli-credentials";

/// Lists, registers, grants.
pub(crate) async fn program(cli: &Cli, args: &ProgramArgs) -> Result<ExitCode> {
    let gateway = Gateway::of(&args.gateway)?;
    match &args.what {
        ProgramWhat::Presets => {
            let listed = gateway.ask("GET", &format!("{ROOT}/presets"), None).await?;
            list(cli, &listed, "presets", "there are no presets", |one| {
                let names: Vec<&str> =
                    entries(one, "variables").iter().map(|variable| text(variable, "name")).collect();
                format!("{:12} {:50} {}", text(one, "name"), text(one, "description"), names.join(" "))
            });
        }
        ProgramWhat::List => {
            let listed = gateway.ask("GET", ROOT, None).await?;
            list(cli, &listed, "programs", "no program is registered", line);
        }
        ProgramWhat::Add { name, set } => {
            let presets = gateway.ask("GET", &format!("{ROOT}/presets"), None).await?;
            let preset = entries(&presets, "presets").iter().any(|one| text(one, "name") == name);
            let mut body = settings(set, None)?;
            body.entry(if preset { "preset" } else { "binary_name" }).or_insert_with(|| json!(name));
            show(cli, &gateway.ask("POST", ROOT, Some(Body::Json(Value::Object(body)))).await?);
        }
        ProgramWhat::Set { program, set } => {
            let old = find(&gateway, program).await?;
            let body = settings(set, Some(&old))?;
            show(cli, &gateway.ask("PUT", &path(&old), Some(Body::Json(Value::Object(body)))).await?);
        }
        ProgramWhat::Remove { program } => {
            gateway.ask("DELETE", &path(&find(&gateway, program).await?), None).await?;
        }
        ProgramWhat::Test { program, commands } => return test(cli, &gateway, program, commands).await,
        ProgramWhat::Grant { program, agent, settings, off } => {
            let mut body = object(settings.as_deref(), "--settings")?;
            if *off {
                body.insert("enabled".into(), json!(false));
            }
            let path = within(&find(&gateway, program).await?, "agent-grants", agent);
            let grant = gateway.ask("PUT", &path, Some(Body::Json(Value::Object(body)))).await?;
            output::print(&grant);
        }
        ProgramWhat::Revoke { program, agent } => {
            gateway.ask("DELETE", &within(&find(&gateway, program).await?, "agent-grants", agent), None).await?;
        }
        ProgramWhat::Credential(args) => credential(cli, &gateway, args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn test(cli: &Cli, gateway: &Gateway, program: &str, commands: &[String]) -> Result<ExitCode> {
    let path = format!("{}/test", path(&find(gateway, program).await?));
    let tried = gateway.ask("POST", &path, Some(Body::Json(json!({ "test_commands": commands })))).await?;
    list(cli, &tried, "results", "nothing was tried", |one| {
        let allowed = one.get("allowed").and_then(Value::as_bool).unwrap_or(false);
        format!("{}  {}  {}", if allowed { "allowed" } else { "refused" }, text(one, "command"), text(one, "reason"))
    });
    Ok(ExitCode::SUCCESS)
}

async fn credential(cli: &Cli, gateway: &Gateway, args: &CredentialArgs) -> Result<()> {
    let (kind, name) = match (&args.agent, &args.user) {
        (Some(agent), _) => ("agent-credentials", agent),
        (None, Some(user)) => ("user-credentials", user),
        (None, None) => bail!("say whose they are: --agent NAME or --user NAME"),
    };
    let path = within(&find(gateway, &args.program).await?, kind, name);
    if args.remove {
        gateway.ask("DELETE", &path, None).await?;
        return Ok(());
    }
    if args.set.is_none() {
        let listed = gateway.ask("GET", &path, None).await?;
        list(cli, &listed, "credentials", "there are none", |one| {
            format!("{:12} {}", text(one, "credential_type"), text(one, "host_scope"))
        });
        return Ok(());
    }
    let mut body = object(args.set.as_deref(), "--set")?;
    if let Some(variable) = &args.secret {
        body.insert("secret".into(), json!(from_environment(variable)?));
    }
    output::print(&gateway.ask("PUT", &path, Some(Body::Json(Value::Object(body)))).await?);
    Ok(())
}

/// A registered program by name or identifier.
async fn find(gateway: &Gateway, program: &str) -> Result<Value> {
    let listed = gateway.ask("GET", ROOT, None).await?;
    let known = |one: &&Value| text(one, "binary_name") == program || text(one, "id") == program;
    let found = entries(&listed, "programs").iter().find(known).cloned();
    found.with_context(|| format!("no program `{program}` is registered; `caisson program list` shows those that are"))
}

fn path(program: &Value) -> String {
    format!("{ROOT}/{}", text(program, "id"))
}

fn within(program: &Value, what: &str, name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    format!("{}/{what}/{}", path(program), name.bytes().map(encoded).collect::<String>())
}

fn entries<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn object(text: Option<&str>, flag: &str) -> Result<Map<String, Value>> {
    match text.map(serde_json::from_str).transpose().with_context(|| format!("{flag} is not JSON"))? {
        None => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map),
        Some(_) => bail!("{flag} must be a JSON object"),
    }
}

/// A secret comes from the environment, so that it is in no history of a shell.
fn from_environment(variable: &str) -> Result<String> {
    std::env::var(variable).with_context(|| format!("the environment variable `{variable}` is not set"))
}

fn pair(text: &str, shape: &'static str) -> Result<(String, String)> {
    let (name, value) = text.split_once('=').context(shape)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The body of a request. Variables that are not named stay as they are: the gateway keeps a secret that comes back masked.
fn settings(set: &ProgramSet, old: Option<&Value>) -> Result<Map<String, Value>> {
    let mut body = object(set.settings.as_deref(), "--settings")?;
    let named = [&set.secret, &set.value, &set.file].iter().any(|list| !list.is_empty());
    if named {
        let kept = |key: &str| body.get(key).or_else(|| old.and_then(|old| old.get(key))).cloned();
        let mut env = kept("env").and_then(|env| env.as_object().cloned()).unwrap_or_default();
        let mut files = kept("file_env").and_then(|files| files.as_array().cloned()).unwrap_or_default();
        for one in &set.secret {
            let (name, variable) = pair(one, "a secret variable is NAME=ENVIRONMENT_VARIABLE")?;
            env.insert(name, json!({ "kind": "sensitive", "value": from_environment(&variable)? }));
        }
        for one in &set.value {
            let (name, value) = pair(one, "a variable is NAME=VALUE")?;
            env.insert(name, json!({ "kind": "value", "value": value }));
        }
        for one in &set.file {
            let (name, path) = pair(one, "a variable that becomes a file is NAME=FILE")?;
            let contents = std::fs::read_to_string(&path).with_context(|| format!("`{path}` cannot be read"))?;
            env.insert(name.clone(), json!({ "kind": "sensitive", "value": contents }));
            if !files.contains(&json!(name)) {
                files.push(json!(name));
            }
        }
        body.insert("env".into(), Value::Object(env));
        if !set.file.is_empty() {
            body.insert("file_env".into(), Value::Array(files));
        }
    }
    if let Some(words) = &set.accept_exposure {
        body.insert("accepted_exposure".into(), json!(words));
    }
    Ok(body)
}

fn line(one: &Value) -> String {
    let is = |key: &str| one.get(key).and_then(Value::as_bool).unwrap_or(false);
    let state = match (one.get("broken"), is("enabled"), is("is_global")) {
        (Some(_), ..) => "broken".to_owned(),
        (None, false, _) => "off".to_owned(),
        (None, true, true) => "all agents".to_owned(),
        (None, true, false) => {
            let agents: Vec<&str> = entries(one, "agents").iter().filter_map(Value::as_str).collect();
            if agents.is_empty() { "nobody".to_owned() } else { agents.join(" ") }
        }
    };
    format!("{}  {:12} {:24} {state}", text(one, "id"), text(one, "binary_name"), text(one, "binary_path"))
}

fn show(cli: &Cli, program: &Value) {
    if cli.json {
        return output::print(program);
    }
    println!("{}", line(program));
    for (name, variable) in program.get("env").and_then(Value::as_object).into_iter().flatten() {
        println!("  {name}={}", text(variable, "value"));
    }
}
