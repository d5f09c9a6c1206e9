//! `approvals`: commands that wait for a person.

use crate::args::{ApprovalsArgs, ApprovalsWhat, Cli};
use crate::output;
use crate::remote::{Body, Gateway};
use anyhow::Result;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Lists, shows and answers.
pub(crate) async fn approvals(cli: &Cli, args: &ApprovalsArgs) -> Result<ExitCode> {
    let gateway = Gateway::of(&args.gateway)?;
    let path = |id: &str| format!("/v1/approvals/{id}");
    let decide = async |id: &str, decision: &str| {
        gateway.ask("POST", &path(id), Some(Body::Json(json!({ "decision": decision })))).await
    };
    match &args.what {
        ApprovalsWhat::List { all } => {
            let mut listed = gateway.ask("GET", "/v1/approvals", None).await?;
            if let Some(approvals) = listed.get_mut("approvals").and_then(Value::as_array_mut) {
                approvals.retain(|one| *all || text(one, "state") == "pending");
            }
            list(cli, &listed, "approvals", "no command waits for a person", |one| {
                format!("{}  {:8}  {}", text(one, "id"), text(one, "state"), text(one, "command"))
            });
        }
        ApprovalsWhat::Show { id } => show(cli, &gateway.ask("GET", &path(id), None).await?),
        ApprovalsWhat::Approve { id, always: false } => show(cli, &decide(id, "approve-once").await?),
        ApprovalsWhat::Approve { id, always: true } => show(cli, &decide(id, "approve-always").await?),
        ApprovalsWhat::Deny { id } => show(cli, &decide(id, "deny").await?),
        ApprovalsWhat::Remembered => {
            let listed = gateway.ask("GET", "/v1/remembered-approvals", None).await?;
            list(cli, &listed, "remembered", "nothing was approved for good", |one| {
                format!("{}  {}  {} {}", text(one, "id"), text(one, "agent"), text(one, "path"), text(one, "shape"))
            });
        }
        ApprovalsWhat::Forget { id } => {
            gateway.ask("DELETE", &format!("/v1/remembered-approvals/{id}"), None).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn text<'a>(one: &'a Value, key: &str) -> &'a str {
    one.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn list(cli: &Cli, listed: &Value, key: &str, none: &str, line: impl Fn(&Value) -> String) {
    if cli.json {
        return output::print(listed);
    }
    let entries = listed.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if entries.is_empty() {
        println!("{none}");
    }
    for one in entries {
        println!("{}", line(one));
    }
}

fn show(cli: &Cli, approval: &Value) {
    if cli.json {
        return output::print(approval);
    }
    println!("{}  ({})", text(approval, "id"), text(approval, "state"));
    for key in ["command", "directory", "agent", "user", "plugin", "tool", "rule", "why"] {
        println!("  {key:10} {}", text(approval, key));
    }
    for program in approval.get("programs").and_then(Value::as_array).into_iter().flatten() {
        println!("  {:10} {}", "program", program.as_str().unwrap_or_default());
    }
    match approval.get("remember").and_then(Value::as_array).map(Vec::as_slice) {
        None | Some([]) => println!("  can be approved once, not for good"),
        Some(shapes) => {
            println!("  --always would be about");
            for shape in shapes {
                println!("    {} {}", text(shape, "path"), text(shape, "shape"));
            }
        }
    }
}
