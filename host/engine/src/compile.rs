//! Compilation in a confined child: it has pipes and nothing else, a memory and a CPU limit, and never sees the cache's key.

use crate::{EngineConfig, PrepareError, Step};
use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub(crate) struct Compiler {
    program: PathBuf,
    arguments: Vec<String>,
    memory: u64,
    seconds: u64,
    /// One component at a time: a big one takes all cores and 400 MB.
    turn: tokio::sync::Mutex<()>,
}

/// Exit status of a child whose component is at fault; its standard error says how.
const COMPONENT_AT_FAULT: u8 = 3;

/// Text of a child that is shown; more is a child that misbehaves.
const MAX_COMPLAINT: u64 = 4 << 10;

impl Compiler {
    pub(crate) fn new(config: &EngineConfig) -> Self {
        let (program, arguments) = config.compiler.clone();
        Self {
            program,
            arguments,
            memory: config.compile_memory,
            seconds: config.compile_seconds,
            turn: tokio::sync::Mutex::new(()),
        }
    }

    /// Machine code for a component.
    pub(crate) async fn compile(
        &self,
        component: Vec<u8>,
        told: &(dyn Fn(Step) + Send + Sync),
    ) -> Result<Vec<u8>, PrepareError> {
        let _turn = self.turn.lock().await;
        told(Step::Compiling);
        let machine = |what: &str, e: std::io::Error| PrepareError::Machine(format!("{what}: {e}"));
        let mut child = tokio::process::Command::new(&self.program)
            .args(&self.arguments)
            .arg(self.memory.to_string())
            .arg(self.seconds.to_string())
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|e| machine("the compile child does not start", e))?;
        let (Some(mut stdin), Some(mut stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(PrepareError::Machine("the compile child has no pipes".into()));
        };
        // Fed, read and listened to at once: a child that answers before it has read all must not block on a full pipe.
        let feed = async move {
            let _ = stdin.write_all(&component).await;
        };
        let mut code = Vec::new();
        let mut complaint = Vec::new();
        let mut stderr = stderr.take(MAX_COMPLAINT);
        let wall = std::time::Duration::from_secs(self.seconds.saturating_mul(2).max(10));
        let all = async {
            tokio::join!(feed, stdout.read_to_end(&mut code), stderr.read_to_end(&mut complaint), child.wait())
        };
        let Ok(((), read, _, status)) = tokio::time::timeout(wall, all).await else {
            return Err(PrepareError::Component(format!(
                "compiling took longer than {} s; make the component smaller",
                wall.as_secs()
            )));
        };
        read.map_err(|e| machine("the compile child's answer breaks off", e))?;
        let status = status.map_err(|e| machine("the compile child cannot be waited for", e))?;
        if status.success() && !code.is_empty() {
            return Ok(code);
        }
        let complaint: String =
            String::from_utf8_lossy(&complaint).chars().filter(|c| !c.is_control() || *c == '\n').collect();
        if status.code() == Some(i32::from(COMPONENT_AT_FAULT)) {
            return Err(PrepareError::Component(format!("the component does not compile: {}", complaint.trim())));
        }
        Err(PrepareError::Component(format!(
            "compiling was ended ({status}): it needs more than {} MiB of memory or {} s of CPU time; make the component smaller, or raise the operator's limits",
            self.memory >> 20,
            self.seconds
        )))
    }
}

/// The child's `main`: reads a component from standard input, writes its machine code to standard output. Takes the memory limit in
/// bytes and the CPU limit in seconds as its last two arguments.
#[must_use]
pub fn compile_child() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().rev().take(2).filter_map(|a| a.parse().ok()).collect();
    let [seconds, memory] = numbers.as_slice() else {
        return complain(1, "usage: MEMORY_BYTES CPU_SECONDS; a component on standard input");
    };
    let engine = match wasmtime::Engine::new(&crate::config::code_config()) {
        Ok(engine) => engine,
        Err(error) => return complain(1, &format!("{error:#}")),
    };
    if let Err(error) = confine(*memory, *seconds) {
        return complain(1, &format!("the compile child cannot confine itself: {error}"));
    }
    let mut component = Vec::new();
    if let Err(error) = std::io::stdin().lock().read_to_end(&mut component) {
        return complain(1, &format!("{error}"));
    }
    match engine.precompile_component(&component) {
        Ok(code) => match std::io::stdout().lock().write_all(&code) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => complain(1, &format!("{error}")),
        },
        Err(error) => complain(COMPONENT_AT_FAULT, &format!("{error:#}")),
    }
}

fn complain(status: u8, text: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{text}");
    ExitCode::from(status)
}

/// Limits first, then the system-call filter on every thread there is and will be.
fn confine(memory: u64, seconds: u64) -> Result<(), String> {
    let limit = |resource, value| {
        setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) }).map_err(|e| e.to_string())
    };
    limit(Resource::As, memory)?;
    limit(Resource::Cpu, seconds)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).map_err(|e| e.to_string())?;
    let rules = SYSTEM_CALLS.iter().map(|call| (*call, vec![])).collect();
    let refuse = SeccompAction::Errno(u32::try_from(libc::EPERM).unwrap_or(1));
    let filter = SeccompFilter::new(
        rules,
        refuse,
        SeccompAction::Allow,
        std::env::consts::ARCH.try_into().map_err(|_| "no filter for this processor")?,
    )
    .map_err(|e| e.to_string())?;
    let program: BpfProgram = filter.try_into().map_err(|e: seccompiler::BackendError| e.to_string())?;
    seccompiler::apply_filter_all_threads(&program).map_err(|e| e.to_string())
}

/// What a compiler with threads needs once its input is a pipe: memory, its own threads, time, its two pipes. Nothing that opens, connects,
/// starts or looks at anything.
const SYSTEM_CALLS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_clone3,
    libc::SYS_clone,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_tgkill,
    libc::SYS_membarrier,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_restart_syscall,
];
