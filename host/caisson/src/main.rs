//! The command line of Caisson.

mod approving;
mod args;
mod authoring;
mod calling;
mod doctor;
mod explain;
mod local;
mod managing;
mod output;
mod programs;
mod remote;
mod serving;
mod wiring;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

/// A call makes some hundreds of small allocations; the system's allocator took a tenth of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The hidden first argument under which this program is its own compile child.
pub(crate) const COMPILE_CHILD: &str = "__compile";

fn main() -> ExitCode {
    // Before anything else: the child must hold nothing of the gateway's.
    if std::env::args().nth(1).as_deref() == Some(COMPILE_CHILD) {
        return caisson_engine::compile_child();
    }
    let cli = Cli::parse();
    output::log(&cli);
    // ring for every TLS connection of this process; an error means that one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return output::fail(&cli, &anyhow::anyhow!("the runtime does not start: {error}")),
    };
    let code = match runtime.block_on(run(&cli)) {
        Ok(code) => code,
        Err(error) => output::fail(&cli, &error),
    };
    // A blocking task of a guest must not keep the program alive.
    runtime.shutdown_background();
    code
}

async fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    match &cli.command {
        Command::Serve(args) => serving::serve(cli, args).await,
        Command::Mcp(args) => serving::mcp(args).await,
        Command::New(args) => authoring::new(cli, args),
        Command::Build(args) => authoring::build(cli, args),
        Command::Check(args) => authoring::check(cli, args).await,
        Command::Inspect(args) => managing::inspect(cli, args).await,
        Command::Call(args) => calling::call(cli, args).await,
        Command::List(args) => managing::list(cli, args).await,
        Command::Upload(args) => managing::upload(cli, args).await,
        Command::Grant(args) => managing::grant(cli, args).await,
        Command::Approvals(args) => approving::approvals(cli, args).await,
        Command::Program(args) => programs::program(cli, args).await,
        Command::Explain(args) => explain::explain(cli, args).await,
        Command::Doctor(args) => doctor::doctor(cli, args).await,
        Command::Completions { shell } => {
            clap_complete::generate(*shell, &mut Cli::command(), "caisson", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    }
}
