//! `caisson-author build DIR [--out FILE]`: what scripts build guests with, before the gateway itself is there.

use caisson_author::{BuildOptions, build_plugin};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: caisson-author build DIR [--out FILE]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (dir, out) = match arguments.as_slice() {
        ["build", dir] => (dir, None),
        ["build", dir, "--out", out] | ["build", "--out", out, dir] => (dir, Some(PathBuf::from(out))),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match build_plugin(dir.as_ref(), &BuildOptions { out }, &mut |step| eprintln!("  {step}")) {
        Ok(component) => {
            println!("{}", component.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
