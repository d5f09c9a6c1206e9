//! `call`.

use crate::args::{CallArgs, Cli};
use crate::{local, output, remote};
use anyhow::{Result, bail};
use caisson_call::Outcome;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Calls a tool of a component file or of a gateway.
pub(crate) async fn call(cli: &Cli, args: &CallArgs) -> Result<ExitCode> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [file, tool, rest @ ..] if is_component(file) => {
            local::call(cli, args, Path::new(file), tool, rest.first().copied().unwrap_or("{}")).await
        }
        [file] if is_component(file) => bail!("name a tool of `{file}`; `caisson inspect {file}` lists them"),
        [tool, rest @ ..] if rest.len() <= 1 => remotely(cli, args, tool, rest.first().copied().unwrap_or("{}")).await,
        _ => bail!("too many words: give a tool and its arguments as one JSON object in quotes"),
    }
}

fn is_component(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "wasm")
}

async fn remotely(cli: &Cli, args: &CallArgs, tool: &str, arguments: &str) -> Result<ExitCode> {
    let arguments: Value =
        serde_json::from_str(arguments).map_err(|e| anyhow::anyhow!("the arguments are not JSON: {e}"))?;
    let body = json!({ "tool": tool, "arguments": arguments, "sessionKey": args.session });
    let answer =
        remote::Gateway::of(&args.gateway)?.send("POST", "/v1/tools/invoke", Some(remote::Body::Json(body))).await?;
    let text = |at: &str| answer.body.pointer(at).and_then(Value::as_str).map(str::to_owned);
    if cli.json {
        output::print(&answer.body);
    } else if answer.status == 200 {
        for content in answer.body.pointer("/result/content").and_then(Value::as_array).into_iter().flatten() {
            println!(
                "{}",
                content.get("text").and_then(Value::as_str).map_or_else(|| content.to_string(), str::to_owned)
            );
        }
    } else {
        eprintln!(
            "{}: {}",
            text("/outcome").unwrap_or_else(|| answer.status.to_string()),
            text("/detail").unwrap_or_default()
        );
    }
    let outcome = answer.body.get("outcome").and_then(|word| serde_json::from_value::<Outcome>(word.clone()).ok());
    Ok(outcome.map_or(ExitCode::from(2), output::status))
}
