//! `explain shell`: how a command is read, what it may start, and which rule decides.

use crate::args::{Cli, ShellArgs, ShellMode};
use crate::output;
use anyhow::{Context, Result, bail};
use caisson_contract::{Access, Layers};
use caisson_guard::shell::{Allowlist, Decision, Dialect, Mode, Node, PathDeny, Setting, Verdict, outline, scan, see};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// One command for a person, or many for a program.
pub(super) async fn explain(cli: &Cli, args: &ShellArgs) -> Result<ExitCode> {
    if args.jsonl {
        return super::lines(async |question: &Value, input: &str| Ok(answer_json(&judge(args, question, input)?)))
            .await;
    }
    let input = super::given(args.command.as_ref())?;
    let verdict = judge(args, &Value::Null, input)?;
    if cli.json {
        output::print(&answer_json(&verdict));
    } else {
        for node in outline(input, Dialect::default()).unwrap_or_default() {
            println!("{}", line(&node));
        }
        if verdict.allows() {
            println!("allow  no rule denies it; it would run confined");
        } else {
            println!("{}  {verdict}", verdict.decision.as_str());
        }
    }
    Ok(if verdict.allows() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

fn line(node: &Node) -> String {
    let mut line = format!("{:indent$}{}", "", node.kind, indent = 2 * node.depth);
    if !node.text.is_empty() {
        line.push_str(&format!("  {}", node.text.escape_debug()));
    }
    line
}

/// Where commands start that are given no workspace to look into.
const WORKSPACE: &str = "/workspace";

fn judge(args: &ShellArgs, question: &Value, input: &str) -> Result<Verdict> {
    let setting = setting(args, question, input)?;
    let verdict = scan(input, &setting);
    match &args.workspace {
        Some(workspace) if verdict.allows() => Ok(leaves(workspace, input).unwrap_or(verdict)),
        _ => Ok(verdict),
    }
}

/// What the flags say, and what a line says for itself with the keys `mode`, `allow`, `deny-path`, `exempt` and `registered`.
fn setting(args: &ShellArgs, question: &Value, input: &str) -> Result<Setting> {
    let listed = |key: &str, given: &[String]| -> Vec<String> {
        match question.get(key).and_then(Value::as_array) {
            Some(own) => own.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => given.to_vec(),
        }
    };
    let said = question.get("mode").and_then(Value::as_str);
    let mut setting = Setting::default();
    match said.unwrap_or(match args.mode {
        ShellMode::DenyGroups => "deny-groups",
        ShellMode::Allowlist => "allowlist",
    }) {
        "deny-groups" | "workspace" | "path-deny" => {}
        "allowlist" => {
            let mut allowed = listed("allow", &args.allow);
            // A line that names the mode and no program is about what a listed program can be made to do.
            if allowed.is_empty() && said.is_some() && question.get("allow").is_none() {
                allowed.extend(input.split_whitespace().next().map(str::to_owned));
            }
            setting.mode = Mode::Allowlist(Allowlist::new(&texts(&allowed))?);
        }
        "credentialed" => drop(setting.registered.insert("gh".to_owned())),
        other => {
            bail!("there is no mode `{other}`; there are deny-groups, allowlist, path-deny, workspace, credentialed")
        }
    }
    let (denied, exempt) = (listed("deny-path", &args.deny_path), listed("exempt", &args.exempt));
    let workspace = match &args.workspace {
        Some(path) => std::fs::canonicalize(path)
            .with_context(|| format!("the workspace `{}` cannot be found", path.display()))?
            .to_string_lossy()
            .into_owned(),
        None => WORKSPACE.to_owned(),
    };
    setting.paths = PathDeny::new(&workspace, &texts(&denied), &texts(&exempt));
    let registered = listed("registered", &args.registered);
    if !registered.is_empty() {
        setting.registered = registered.into_iter().map(|name| name.to_lowercase()).collect();
    }
    Ok(setting)
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// What the confinement would stop although no rule does: a word that leads out of the workspace through a link. Opened through the gate of
/// files, as a tool would.
fn leaves(workspace: &Path, input: &str) -> Option<Verdict> {
    let layers = super::files_layers(false, &[]);
    let seen = see(input, Dialect::default()).ok()?;
    let mut words =
        seen.invocations.iter().flat_map(|one| one.args.iter().chain(one.redirects.iter().map(|to| &to.target)));
    words.find(|word| word.known().is_some_and(|text| is_outside(workspace, &layers, text))).map(|word| Verdict {
        decision: Decision::Deny,
        group: None,
        rule: "workspace.outside",
        span: word.span,
        excerpt: word.span.of(input).to_owned(),
        sentence: "it leads out of the workspace, where the confinement shows nothing",
        grant: String::new(),
        remember: Vec::new(),
    })
}

fn is_outside(workspace: &Path, layers: &Layers, text: &str) -> bool {
    // The system's own paths are there for commands, read-only; what is not is not in their view at all.
    if text.starts_with(['/', '-']) || text.is_empty() {
        return false;
    }
    caisson_gate_files::explain(workspace, layers, text, Access::Read).rule == "files.outside"
}

fn answer_json(verdict: &Verdict) -> Value {
    json!({
        "decision": verdict.decision.as_str(),
        "group": verdict.group.map(|group| group.as_str()),
        "rule": verdict.rule,
        "excerpt": verdict.excerpt,
        "why": verdict.sentence,
        "grant": verdict.grant,
    })
}
