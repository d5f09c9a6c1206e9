//! `doctor`: what this machine gives and lacks.

use crate::args::{Cli, DoctorArgs};
use crate::{output, wiring};
use anyhow::Result;
use caisson_confine::{Answer, Confiner, Demand, HostId, find_stub};
use caisson_engine::{Engine, EngineConfig, ExecConfig, Executor, Pool};
use serde_json::json;
use std::process::ExitCode;

/// One thing looked at.
struct Finding {
    what: &'static str,
    ok: bool,
    detail: String,
}

/// Looks, prints, and ends with 0 only if a gateway would run.
pub(crate) async fn doctor(cli: &Cli, args: &DoctorArgs) -> Result<ExitCode> {
    let findings = [pool()?, data(args), files(args), commands(args).await, containers(args).await, guest_toolchain()];
    // Commands and plugins' toolchains are for those who use them.
    let ok = findings.iter().take(3).all(|finding| finding.ok);
    if cli.json {
        let list: Vec<_> = findings.iter().map(|f| json!({ "what": f.what, "ok": f.ok, "detail": f.detail })).collect();
        output::print(&json!({ "ok": ok, "findings": list }));
    } else {
        for finding in &findings {
            println!("{} {:16} {}", if finding.ok { "ok  " } else { "lack" }, finding.what, finding.detail);
        }
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(4) })
}

fn pool() -> Result<Finding> {
    let config = EngineConfig {
        cache_dir: None,
        cache_key: [0; 32].into(),
        compiler: (std::env::current_exe()?, vec![]),
        compile_memory: 0,
        compile_seconds: 0,
        max_memory: 512 << 20,
        max_instances: 512,
    };
    Ok(match Engine::new(config) {
        Ok(engine) => match engine.pool() {
            Pool::Pooled { instances } => {
                Finding { what: "engine", ok: true, detail: format!("a pool of {instances} instances can be mapped") }
            }
            Pool::OnDemand { why } => Finding {
                what: "engine",
                ok: true,
                detail: format!("no pool can be mapped, calls will be slower: {why}"),
            },
        },
        Err(error) => Finding { what: "engine", ok: false, detail: error.to_string() },
    })
}

fn data(args: &DoctorArgs) -> Finding {
    let path = args.data.display();
    let probe = std::fs::create_dir_all(&args.data).and_then(|()| tempfile::tempfile_in(&args.data));
    match probe {
        Ok(_) => Finding { what: "data folder", ok: true, detail: format!("`{path}` can be written") },
        Err(error) => Finding {
            what: "data folder",
            ok: false,
            detail: format!("`{path}` cannot be written: {error}; choose another with --data"),
        },
    }
}

/// Whether the files gate can open beneath a folder as it has to.
fn files(args: &DoctorArgs) -> Finding {
    let opened = caisson_engine::Workspace::derive(&args.data.join("workspaces"), &["doctor"])
        .map_err(|error| error.to_string())
        .and_then(|workspace| workspace.open_or_create().map_err(|error| error.to_string()));
    match opened {
        Ok(_) => Finding { what: "files", ok: true, detail: "workspaces can be opened without leaving them".into() },
        Err(error) => Finding {
            what: "files",
            ok: false,
            detail: format!("workspaces cannot be opened safely: {error}; Linux 5.6 with openat2 is needed"),
        },
    }
}

/// What this machine gives for the confinement of commands.
async fn commands(args: &DoctorArgs) -> Finding {
    let what = "commands";
    let stub = match find_stub() {
        Ok(stub) => stub,
        Err(missing) => return Finding { what, ok: false, detail: format!("none can run: {missing}") },
    };
    let given = Confiner::look(stub, HostId::default(), &args.data.join("workspaces")).await;
    let mut lacks: Vec<String> = vec![];
    let namespaces = given.namespaces.iter().map(|(name, answer)| (format!("{name} namespace"), answer));
    let others = [
        ("system call filter".to_owned(), &given.seccomp),
        ("confinement as a whole".to_owned(), &given.confinement),
        ("memory group".to_owned(), &given.memory_group),
        ("process group".to_owned(), &given.process_group),
    ];
    for (name, answer) in namespaces.chain(others) {
        if let Answer::No { why, how } = answer {
            lacks.push(format!("{name}: {why}; {how}"));
        }
    }
    let ok = Demand::default().check(&given);
    let mut detail = format!("Linux {}, Landlock {}", given.kernel, given.landlock);
    match &ok {
        Ok(()) => detail.push_str(", commands run confined"),
        Err(lacking) => detail.push_str(&format!(", {lacking}")),
    }
    if !lacks.is_empty() {
        detail.push_str(&format!("; not there: {}", lacks.join(" | ")));
    }
    Finding { what, ok: ok.is_ok(), detail }
}

/// Whether an engine answers, where commands are to run in containers.
async fn containers(args: &DoctorArgs) -> Finding {
    let what = "containers";
    let Some(config) = wiring::containers(&args.containers, &args.data, "doctor") else {
        return Finding { what, ok: true, detail: "not asked for; `--docker-socket` names an engine".into() };
    };
    let exec = ExecConfig { containers: Some(config), ..ExecConfig::new(args.data.join("workspaces")) };
    match Executor::new(exec).open_containers().await {
        Ok(()) => Finding { what, ok: true, detail: "the engine answers".into() },
        Err(error) => Finding { what, ok: false, detail: error },
    }
}

fn guest_toolchain() -> Finding {
    match caisson_author::toolchain() {
        Ok(found) => Finding { what: "guest toolchain", ok: true, detail: found },
        Err(error) => {
            Finding { what: "guest toolchain", ok: false, detail: format!("{error} (needed by `caisson build` only)") }
        }
    }
}
