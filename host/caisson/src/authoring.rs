//! `new`, `build`, `check`.

use crate::args::{BuildArgs, CheckArgs, Cli, EgressArgs, Language, NewArgs};
use crate::{local, managing, output};
use anyhow::Result;
use caisson_author::Lang;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Starts a plugin from a template.
pub(crate) fn new(cli: &Cli, args: &NewArgs) -> Result<ExitCode> {
    let dir = args.dir.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    let lang = match args.lang {
        Language::Rust => Lang::Rust,
    };
    caisson_author::new_plugin(&dir, &args.name, lang)?;
    if cli.json {
        output::print(&json!({ "dir": dir }));
    } else {
        println!("made `{}`; build it with `caisson build {}`", dir.display(), dir.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds a plugin to one component file.
pub(crate) fn build(cli: &Cli, args: &BuildArgs) -> Result<ExitCode> {
    let spinner = output::spinner(cli, "building");
    let built = caisson_author::build_plugin(&args.dir, &caisson_author::BuildOptions::default(), &mut |text| {
        spinner.set_message(text.to_owned())
    });
    spinner.finish_and_clear();
    let component = built?;
    let bytes = std::fs::metadata(&component)?.len();
    if cli.json {
        output::print(&json!({ "component": component, "bytes": bytes }));
    } else {
        println!("built `{}` ({bytes} bytes)", component.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Does everything that an upload does, and keeps nothing.
pub(crate) async fn check(cli: &Cli, args: &CheckArgs) -> Result<ExitCode> {
    let none = EgressArgs { allow_cidr: vec![], extra_ca: None };
    let loaded = local::load(cli, &args.component, None, &none).await?;
    managing::show(cli, &serde_json::to_value(&loaded.plugin)?);
    Ok(ExitCode::SUCCESS)
}
