use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit};

use super::{At, Fault, Step, filter, landlock, sys};
use crate::plan::{Limits, Network, Plan, Program, WORKSPACE};
use crate::wire::Settings;

/// Confines this process further and replaces it by the program. Says over `told` why it could not; the pipe's end without a
/// word says that it could.
pub fn become_program(plan: &Plan, settings: Settings, streams: [OwnedFd; 3], told: OwnedFd) -> ! {
    let Err(fault) = confine(plan, settings, streams).and_then(|()| execute(plan));
    if let Ok(bytes) = serde_json::to_vec(&fault) {
        let _gone = std::fs::File::from(told).write_all(&bytes);
    }
    sys::exit(127)
}

/// Waits until the other side of the fork has become the program.
pub fn await_exec(told: OwnedFd) -> Result<(), Fault> {
    let mut bytes = Vec::new();
    std::fs::File::from(told).read_to_end(&mut bytes).at(Step::Start, "wait for exec")?;
    if bytes.is_empty() {
        return Ok(());
    }
    let why: Fault = serde_json::from_slice(&bytes).map_err(io::Error::from).at(Step::Start, "read why exec failed")?;
    Err(why)
}

fn confine(plan: &Plan, settings: Settings, streams: [OwnedFd; 3]) -> Result<(), Fault> {
    rustix::process::setpgid(None, None).at(Step::Start, "process group")?;
    let [stdin, stdout, stderr] = streams;
    rustix::stdio::dup2_stdin(stdin).at(Step::Start, "standard input")?;
    rustix::stdio::dup2_stdout(stdout).at(Step::Start, "standard output")?;
    rustix::stdio::dup2_stderr(stderr).at(Step::Start, "standard error")?;
    sys::unblock_signals().at(Step::Start, "unblock signals")?;
    rustix::process::umask(Mode::from_raw_mode(0o022));
    sys::close_from(3, sys::Close::OnExec).at(Step::Start, "close descriptors")?;
    let start = Path::new(WORKSPACE).join(&plan.directory);
    rustix::process::chdir(&start).at(Step::Directory, plan.directory.display())?;
    limit(&plan.limits, settings.memory_group).at(Step::Limits, "set a limit")?;
    landlock::restrict(plan, settings.landlock)?;
    let network = match plan.network {
        Network::None => filter::Sockets::None,
        Network::Proxy { .. } => filter::Sockets::Stream,
    };
    seccompiler::apply_filter(filter::for_sockets(network))
        .map_err(io::Error::other)
        .at(Step::Seccomp, "install the filter")
}

fn limit(limits: &Limits, memory_group: bool) -> rustix::io::Result<()> {
    // A limit under which the gateway runs itself cannot be raised here.
    let set = |resource, soft: u64, hard: u64| {
        let most = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        rustix::process::setrlimit(resource, Rlimit { current: Some(soft.min(most)), maximum: Some(hard.min(most)) })
    };
    // One byte writes no core file, as none would, and is what tells the kernel not to start the machine's own handler of
    // crashes either, which runs as root and outside.
    set(Resource::Core, 1, 1)?;
    // Init is one of this user's processes in this namespace.
    let processes = u64::from(limits.processes) + 1;
    set(Resource::Nproc, processes, processes)?;
    set(Resource::Nofile, limits.open_files.into(), limits.open_files.into())?;
    set(Resource::Fsize, limits.file_size, limits.file_size)?;
    // The first tells a program, the second ends it.
    set(Resource::Cpu, limits.cpu_seconds.into(), u64::from(limits.cpu_seconds) + 1)?;
    if memory_group { Ok(()) } else { set(Resource::As, limits.memory, limits.memory) }
}

fn execute(plan: &Plan) -> Result<std::convert::Infallible, Fault> {
    let mut command = match &plan.program {
        Program::Command { program, arguments } => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        Program::Shell(text) => {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(text);
            command
        }
    };
    let error = command.env_clear().envs(&plan.environment).exec();
    Err(error).at(Step::Program, command.get_program().display())
}
