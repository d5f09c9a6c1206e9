//! `explain`: what would be decided, by which rule, and what would change it.

mod shell;

use crate::args::{Cli, ExplainArgs, ExplainWhat};
use crate::output;
use anyhow::{Context, Result, bail};
use caisson_contract::{Access, Capabilities, Effect, FilesRule, Hosts, HttpRule, Layer, LayerSource, Layers};
use caisson_scrub::{Explained, Scrubber};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;

/// One answer, the same for every kind of question.
struct Answer {
    allow: bool,
    rule: String,
    detail: String,
    grant: String,
}

/// Answers one question for a person, or many for a program.
pub(crate) async fn explain(cli: &Cli, args: &ExplainArgs) -> Result<ExitCode> {
    match &args.what {
        ExplainWhat::Path { path, workspace, write, granted, jsonl } => {
            let layers = files_layers(*write, granted);
            let access = if *write { Access::ReadWrite } else { Access::Read };
            let judge = async |input: &str| {
                let said = caisson_gate_files::explain(workspace, &layers, input, access);
                let allow = said.decision == caisson_gate_files::Decision::Allow;
                Answer { allow, rule: said.rule, detail: said.detail, grant: said.grant }
            };
            answer(cli, path.as_ref(), *jsonl, judge).await
        }
        ExplainWhat::Url { url, method, granted, egress, resolve, jsonl } => {
            let layers = http_layers(method, granted);
            let egress = crate::wiring::egress_of(egress, vec![])?;
            let judge = async |input: &str| {
                let said = egress.explain(input, method, Some(&layers), *resolve).await;
                let allow = said.decision == caisson_gate_http::Decision::Allow;
                Answer { allow, rule: said.rule, detail: said.detail, grant: said.grant }
            };
            answer(cli, url.as_ref(), *jsonl, judge).await
        }
        ExplainWhat::Shell(args) => shell::explain(cli, args).await,
        ExplainWhat::Scrub { text, long_hex, jsonl } => scrub(cli, text.as_ref(), *long_hex, *jsonl).await,
    }
}

/// One question for a person, or many for a program.
async fn answer(
    cli: &Cli,
    input: Option<&String>,
    jsonl: bool,
    judge: impl AsyncFn(&str) -> Answer,
) -> Result<ExitCode> {
    if jsonl {
        return lines(async |_, input| Ok(answer_json(&judge(input).await))).await;
    }
    one(cli, &judge(given(input)?).await)
}

/// What is taken out of a text.
async fn scrub(cli: &Cli, text: Option<&String>, long_hex: bool, jsonl: bool) -> Result<ExitCode> {
    let scrubber = Scrubber::new().with_long_hex(long_hex);
    let as_json = |said: &Explained| json!({ "text": said.text, "classes": said.classes });
    if jsonl {
        return lines(async |_, input| Ok(as_json(&scrubber.explain(input)))).await;
    }
    let said = scrubber.explain(given(text)?);
    if cli.json {
        output::print(&as_json(&said));
    } else {
        println!("{}", said.text);
        println!("taken out: {}", if said.classes.is_empty() { "nothing".into() } else { said.classes.join(", ") });
    }
    Ok(ExitCode::SUCCESS)
}

fn given(input: Option<&String>) -> Result<&str> {
    input.map(String::as_str).context("give something to explain, or --jsonl to read many from standard input")
}

fn files_layers(write: bool, granted: &[String]) -> Layers {
    let access = if write { Access::ReadWrite } else { Access::Read };
    let paths = if granted.is_empty() { None } else { Some(granted.to_vec()) };
    let capabilities = Capabilities {
        files: [("/workspace".to_owned(), FilesRule { access, paths })].into(),
        ..Capabilities::default()
    };
    granted_layer(capabilities, if write { Effect::Mutating } else { Effect::ReadOnly })
}

fn http_layers(method: &str, granted: &[String]) -> Layers {
    let hosts = if granted.is_empty() { vec!["*".to_owned()] } else { granted.to_vec() };
    let rule = HttpRule {
        hosts: Hosts::List(hosts),
        blocked_hosts: vec![],
        methods: Some(vec![method.to_uppercase()]),
        paths: None,
        ports: None,
        schemes: Some(vec!["https".into(), "http".into()]),
        reads: false,
        credentials: vec![],
    };
    granted_layer(Capabilities { http: vec![rule], ..Capabilities::default() }, Effect::Mutating)
}

fn granted_layer(capabilities: Capabilities, effect: Effect) -> Layers {
    Layers::new(vec![Layer { source: LayerSource::Granted, capabilities: Arc::new(capabilities) }], effect)
}

fn one(cli: &Cli, answer: &Answer) -> Result<ExitCode> {
    if cli.json {
        output::print(&answer_json(answer));
    } else {
        println!("{}  by rule `{}`", if answer.allow { "allow" } else { "deny" }, answer.rule);
        println!("  {}", answer.detail);
        if !answer.grant.is_empty() {
            println!("  what would allow it: {}", answer.grant);
        }
    }
    Ok(if answer.allow { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

fn answer_json(answer: &Answer) -> Value {
    json!({
        "decision": if answer.allow { "allow" } else { "deny" },
        "rule": answer.rule,
        "detail": answer.detail,
        "grant": answer.grant,
    })
}

/// Answers each line of standard input, a JSON object with a text `input`, with one.
async fn lines(mut judge: impl AsyncFnMut(&Value, &str) -> Result<Value>) -> Result<ExitCode> {
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let question: Value =
            serde_json::from_str(&line).with_context(|| format!("line {} is not JSON", number + 1))?;
        let Some(input) = question.get("input").and_then(Value::as_str) else {
            bail!("line {} has no `input` text", number + 1)
        };
        let answer = judge(&question, input).await.with_context(|| format!("line {}", number + 1))?;
        writeln!(std::io::stdout().lock(), "{answer}")?;
    }
    Ok(ExitCode::SUCCESS)
}
