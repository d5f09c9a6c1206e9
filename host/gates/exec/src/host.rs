//! The WIT implementation: decide, confine, run.

use crate::bindings::caisson::host::exec::{Captured, Command, Event, Finished, Host, HostProcess, Options};
use crate::bindings::caisson::host::failures::{self, Code, Failure};
use crate::decide::{Allowed, decide};
use crate::error::{failure, not_boxed, not_started, refuse, unconfined};
use crate::network::open;
use crate::process::{MAX_EVENT, Process, ending};
use crate::{ExecView, Executor};
use caisson_call::{Budget, Ledger, Outside};
use caisson_confine::{Output, Plan, Running, Through};
use caisson_docker::{Key, Sandbox};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;
use wasmtime::component::Resource;

/// Host memory of a running command: its pipes and the task that watches it.
const PROCESS_BYTES: u64 = 16 << 10;

/// Longest that one `next` waits, so that a guest is asked now and then whether its caller still waits.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// What was decided about a command, started.
struct Started {
    running: Running,
    input: Vec<u8>,
    timeout: Duration,
    outside: Outside,
    /// What its output goes through, where it has credentials.
    through: Option<[Box<dyn Through>; 2]>,
    /// Serves its connections until this is dropped.
    proxy: Option<AbortOnDropHandle<()>>,
}

impl ExecView<'_> {
    async fn start(&mut self, command: Command, options: Options) -> wasmtime::Result<Result<Started, Failure>> {
        let ctx = &*self.ctx;
        let Allowed { mut plan, network, sandbox, input, timeout, shown, launched } =
            match decide(ctx, self.agent, &self.workspace, command, options).await {
                Ok(allowed) => allowed,
                Err(refusal) => return Ok(Err(refuse(ctx, refusal))),
            };
        ctx.ledger.charge(Budget::Processes, 1)?;
        ctx.ledger.note(format!("exec {shown}"));
        let through = match (launched, ctx.programs.as_deref()) {
            (Some(launched), Some(programs)) => {
                let (note, secrets) = launched.told();
                ctx.ledger.note(note);
                Some(programs.hide(&secrets))
            }
            _ => None,
        };
        let outside = Ledger::outside(&ctx.ledger);
        let workspace = match (self.workspace)() {
            Ok(workspace) => workspace,
            Err(error) => {
                tracing::error!(%error, "the workspace of a command cannot be opened");
                return Ok(Err(failure(Code::Unavailable, "the workspace cannot be opened; try again later")));
            }
        };
        if network && let Err(error) = open(&mut plan, &*self.network) {
            tracing::error!(error, "commands have no proxy");
            return Ok(Err(failure(Code::Unavailable, "the proxy of commands cannot be started; try again later")));
        }
        let spawned = match sandbox {
            Some(sandbox) => {
                let key = Key { tenant: self.tenant.to_owned(), scope: self.agent.unwrap_or_default().to_owned() };
                in_container(&ctx.executor, &key, &sandbox, plan, workspace.as_fd()).await
            }
            None => confined(&ctx.executor, plan, workspace.as_fd()).await,
        };
        let mut running = match spawned {
            Ok(running) => running,
            Err(failure) => return Ok(Err(failure)),
        };
        let proxy = running.take_proxy().and_then(|listener| TcpListener::from_std(listener).ok());
        let proxy =
            proxy.map(|listener| AbortOnDropHandle::new(tokio::spawn(Arc::clone(&self.network).serve(listener))));
        Ok(Ok(Started { running, input, timeout, outside, proxy, through }))
    }
}

async fn confined(executor: &Executor, plan: Plan, workspace: BorrowedFd<'_>) -> Result<Running, Failure> {
    let confiner = executor.confiner().await.map_err(|lacking| {
        tracing::error!(lacking, "commands cannot be confined");
        unconfined()
    })?;
    confiner.spawn(plan, workspace).await.map_err(|error| not_started(&error))
}

/// A command that is to run in a container runs there or not at all.
async fn in_container(
    executor: &Executor,
    key: &Key,
    sandbox: &Sandbox,
    plan: Plan,
    workspace: BorrowedFd<'_>,
) -> Result<Running, Failure> {
    let Some(containers) = &executor.containers else {
        let why =
            "commands are to run in a container here, and the operator has set no engine for them (`--docker-socket`)";
        return Err(failure(Code::Unavailable, why));
    };
    containers.spawn(key, sandbox, plan, workspace).await.map_err(|error| not_boxed(&error))
}

impl Host for ExecView<'_> {
    async fn run(&mut self, command: Command, options: Options) -> wasmtime::Result<Result<Finished, Failure>> {
        let Started { running, input, timeout, outside, proxy, through } = match self.start(command, options).await? {
            Ok(started) => started,
            Err(failure) => return Ok(Err(failure)),
        };
        let done = running.capture_through(input, timeout, through).await;
        drop((outside, proxy));
        let bytes = kept(&done.stdout) + kept(&done.stderr);
        self.ctx.ledger.charge(Budget::HostMemory, bytes)?;
        let finished =
            Finished { ending: ending(done.ending), stdout: captured(done.stdout), stderr: captured(done.stderr) };
        self.ctx.ledger.release(Budget::HostMemory, bytes);
        Ok(Ok(finished))
    }
}

fn kept(output: &Output) -> u64 {
    (output.head.len() + output.tail.len()) as u64
}

fn captured(output: Output) -> Captured {
    let dropped_bytes = output.dropped;
    Captured { kept: output.joined(), dropped_bytes }
}

impl failures::Host for ExecView<'_> {}

impl HostProcess for ExecView<'_> {
    async fn start(
        &mut self,
        command: Command,
        options: Options,
    ) -> wasmtime::Result<Result<Resource<Process>, Failure>> {
        let has_input = options.stdin.is_some();
        // Input comes in pieces unless all of it was given; an empty one holds the pipe open for them.
        let options = Options { stdin: Some(options.stdin.unwrap_or_default()), ..options };
        let Started { running, input, timeout, outside, proxy, through } =
            match ExecView::start(self, command, options).await? {
                Ok(started) => started,
                Err(failure) => return Ok(Err(failure)),
            };
        self.ctx.ledger.charge(Budget::HostMemory, PROCESS_BYTES)?;
        let mut process = Process::new(running, timeout, outside, proxy, through);
        if has_input {
            process.feed(input);
        }
        Ok(Ok(self.table.push(process)?))
    }

    async fn write(&mut self, process: Resource<Process>, chunk: Vec<u8>) -> wasmtime::Result<Result<u32, Failure>> {
        let process = self.table.get_mut(&process)?;
        let gone = |_| failure(Code::Failed, "the program takes no more input: it has ended or closed it");
        Ok(process.write(&chunk).await.map_err(gone))
    }

    async fn close_input(&mut self, process: Resource<Process>) -> wasmtime::Result<()> {
        self.table.get_mut(&process)?.close_input();
        Ok(())
    }

    async fn next(
        &mut self,
        process: Resource<Process>,
        limit: u32,
        wait_ms: u32,
    ) -> wasmtime::Result<Result<Event, Failure>> {
        let process = self.table.get_mut(&process)?;
        let wait = Duration::from_millis(wait_ms.into()).min(MAX_WAIT);
        Ok(Ok(process.next(limit.min(MAX_EVENT), wait).await))
    }

    async fn drop(&mut self, process: Resource<Process>) -> wasmtime::Result<()> {
        self.table.delete(process)?;
        self.ctx.ledger.release(Budget::HostMemory, PROCESS_BYTES);
        Ok(())
    }
}
