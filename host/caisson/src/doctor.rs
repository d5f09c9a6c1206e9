//! `doctor`: what this machine gives and lacks.

use crate::args::{Cli, DoctorArgs};
use crate::output;
use anyhow::Result;
use caisson_engine::{Engine, EngineConfig, Pool};
use serde_json::json;
use std::process::ExitCode;

/// One thing looked at.
struct Finding {
    what: &'static str,
    ok: bool,
    detail: String,
}

/// Looks, prints, and ends with 0 only if a gateway would run.
pub(crate) fn doctor(cli: &Cli, args: &DoctorArgs) -> Result<ExitCode> {
    let findings = [pool()?, data(args), guest_toolchain()];
    let ok = findings.iter().take(2).all(|finding| finding.ok);
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

fn guest_toolchain() -> Finding {
    match caisson_author::toolchain() {
        Ok(found) => Finding { what: "guest toolchain", ok: true, detail: found },
        Err(error) => {
            Finding { what: "guest toolchain", ok: false, detail: format!("{error} (needed by `caisson build` only)") }
        }
    }
}
