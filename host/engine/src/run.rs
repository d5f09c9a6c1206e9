//! One call: a store, an instance, the call.

use crate::bindings::caisson::plugin::plugin_types as wit;
use crate::meter::{CpuMeter, Limiter, Metered};
use crate::state::State;
use crate::{Prepared, Shared, classify};
use caisson_call::{
    Budget, Content, Denial, Ledger, Limits, ProgressSink, RawOutput, RawResult, Refused, ToolErrorReason,
};
use caisson_contract::{Effect, Layers, ToolSpec};
use caisson_gate_ambient::{AmbientCtx, LogSink, MAX_RESOURCES};
use caisson_gate_exec::{Approvals, ExecCtx, Executor, Programs};
use caisson_gate_files::{FilesCtx, Workspace};
use caisson_gate_host::{Facts, HostCtx, Input, KeptOutputs};
use caisson_gate_http::{Egress, HttpCtx, InjectedSecret};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use wasmtime::Store;
use wasmtime::component::ResourceTable;

/// Everything that a call brings to the engine. Made by the registry from a permit.
pub struct Job {
    /// What the call may do.
    pub layers: Layers,
    /// What it may spend.
    pub limits: Limits,
    /// What the guest may know of its call.
    pub facts: Facts,
    /// Settings, JSON text.
    pub settings: Arc<str>,
    /// Where its files are.
    pub workspace: Workspace,
    /// Caps blocking file operations of the tenant.
    pub blocking: Arc<tokio::sync::Semaphore>,
    /// How its HTTP leaves.
    pub egress: Arc<Egress>,
    /// How its commands run.
    pub executor: Arc<Executor>,
    /// Who is asked about its commands.
    pub approvals: Option<Arc<dyn Approvals>>,
    /// The programs that it may run with credentials.
    pub programs: Option<Arc<dyn Programs>>,
    /// Secrets that may be put into its HTTP.
    pub secrets: Arc<[InjectedSecret]>,
    /// Names of declared credentials that are stored.
    pub secret_names: Arc<BTreeSet<String>>,
    /// Attached files.
    pub inputs: Arc<[Input]>,
    /// Kept outputs.
    pub outputs: Option<Arc<dyn KeptOutputs>>,
    /// Where progress goes.
    pub progress: Option<ProgressSink>,
    /// Set when the caller gave up and a grace runs.
    pub cancelled: Arc<AtomicBool>,
}

/// How a run ended.
pub struct Ran {
    /// The guest's answer, or why there is none.
    pub result: Result<RawResult, Refused>,
    /// Thread time spent.
    pub cpu: Duration,
    /// What the gates refused, oldest first.
    pub denials: Vec<Denial>,
    /// What the gates did that the audit should know of, oldest first: commands.
    pub notes: Vec<String>,
    /// What the guest printed. Untrusted.
    pub log: Vec<u8>,
}

/// Data that one host call may make the host allocate on the guest's behalf, bytes.
const HOSTCALL_FUEL: usize = 16 << 20;

struct Account {
    ledger: Arc<Ledger>,
    log: LogSink,
    cpu: Arc<CpuMeter>,
    wall: Duration,
}

fn open(shared: &Shared, job: Job) -> (Store<State>, Account) {
    let wall = job.limits.wall;
    let ledger = Arc::new(Ledger::new(job.limits));
    let limits = ledger.limits();
    let log = LogSink::new(Arc::clone(&ledger));
    let cpu = Arc::new(CpuMeter::new(limits.cpu, Arc::clone(&shared.slow_lane)));
    let mut table = ResourceTable::new();
    table.set_max_capacity(MAX_RESOURCES);
    let state = State {
        table,
        exec: ExecCtx {
            layers: job.layers.clone(),
            ledger: Arc::clone(&ledger),
            executor: job.executor,
            approvals: job.approvals,
            programs: job.programs,
            settings: Arc::clone(&job.settings),
        },
        ambient: AmbientCtx::new(Arc::clone(&ledger), log.clone()),
        files: FilesCtx::new(job.layers.clone(), Arc::clone(&ledger), job.workspace, job.blocking),
        http: HttpCtx::new(job.layers.clone(), Arc::clone(&ledger), job.egress, job.secrets),
        host: HostCtx {
            layers: job.layers,
            ledger: Arc::clone(&ledger),
            settings: job.settings,
            facts: job.facts,
            deadline: Instant::now() + wall,
            cancelled: job.cancelled,
            progress: job.progress,
            secrets: job.secret_names,
            inputs: job.inputs,
            outputs: job.outputs,
        },
        limiter: Limiter::new(limits.memory),
        cpu: Arc::clone(&cpu),
    };
    let mut store = Store::new(&shared.wasmtime, state);
    store.limiter(|state| &mut state.limiter);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|context| context.data().cpu.tick());
    store.set_hostcall_fuel(HOSTCALL_FUEL);
    store.set_max_component_handles(MAX_RESOURCES);
    (store, Account { ledger, log, cpu, wall })
}

/// How often at most the wall clock is looked at again while a command runs.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Runs `body` under the wall clock and the CPU meter. The clock stands still while a command runs: commands have deadlines of their own.
async fn metered<T>(account: &Account, body: impl Future<Output = Result<T, Refused>>) -> Result<T, Refused> {
    let began = Instant::now();
    let mut body = std::pin::pin!(Metered::new(body, Arc::clone(&account.cpu)));
    let mut left = account.wall;
    loop {
        if let Ok(ended) = tokio::time::timeout(left, &mut body).await {
            return ended;
        }
        let outside = account.ledger.spent_outside();
        left = account.wall.saturating_sub(began.elapsed().saturating_sub(outside));
        if left.is_zero() {
            return Err(Refused::Deadline);
        }
        left = left.max(LOOK_AGAIN);
    }
}

pub(crate) async fn call_tool(shared: &Shared, prepared: &Prepared, job: Job, tool: &str, arguments: &str) -> Ran {
    let (mut store, account) = open(shared, job);
    let ledger = Arc::clone(&account.ledger);
    let body = async {
        let answer = async {
            let plugin = prepared.pre.instantiate_async(&mut store).await?;
            plugin.caisson_plugin_tools().call_call_tool(&mut store, tool, arguments).await
        }
        .await;
        let answer = answer.map_err(|error| classify::refused(&error, store.data().limiter.refused(), &ledger))?;
        let output = raw(answer);
        ledger.charge(Budget::OutputBytes, size(&output)).map_err(|over| Refused::OverBudget(over.0))?;
        check_files(&output, &mut store)?;
        Ok(RawResult::new(output))
    };
    let result = metered(&account, body).await;
    // Freed before the answer goes out: the slot is the neighbour's.
    drop(store);
    Ran {
        result,
        cpu: account.cpu.spent(),
        denials: account.ledger.take_denials(),
        notes: account.ledger.take_notes(),
        log: account.log.take(),
    }
}

/// A file that an output names is opened through the call's own gate, so that a guest cannot point at what it may not read.
fn check_files(output: &RawOutput, store: &mut Store<State>) -> Result<(), Refused> {
    let RawOutput::Output { for_model, .. } = output else { return Ok(()) };
    for content in for_model {
        if let Content::File { path, .. } = content {
            store.data_mut().files.open_for_host(path).map_err(Refused::Denied)?;
        }
    }
    Ok(())
}

pub(crate) async fn list_tools(
    shared: &Shared,
    prepared: &Prepared,
    job: Job,
) -> Result<Result<Vec<ToolSpec>, String>, Refused> {
    let (mut store, account) = open(shared, job);
    let ledger = Arc::clone(&account.ledger);
    let body = async {
        let answer = async {
            let plugin = prepared.pre.instantiate_async(&mut store).await?;
            plugin.caisson_plugin_tools().call_list_tools(&mut store).await
        }
        .await;
        answer.map_err(|error| classify::refused(&error, store.data().limiter.refused(), &ledger))
    };
    let answer = metered(&account, body).await?;
    Ok(answer.map(|tools| tools.into_iter().map(spec).collect()).map_err(|error| error.message))
}

fn spec(tool: wit::Tool) -> ToolSpec {
    ToolSpec {
        name: tool.name,
        title: tool.title,
        description: tool.description,
        parameters: tool.parameters,
        returns: tool.returns,
        effect: match tool.effect {
            wit::Effect::ReadOnly => Effect::ReadOnly,
            wit::Effect::Mutating => Effect::Mutating,
        },
        deferred: tool.deferred,
        idempotent: tool.idempotent,
        cache_seconds: tool.cache_seconds,
        groups: tool.groups,
        extra: tool.extra,
    }
}

fn raw(answer: Result<wit::Output, wit::Error>) -> RawOutput {
    match answer {
        Ok(output) => RawOutput::Output {
            for_model: output.for_model.into_iter().map(content).collect(),
            for_user: output.for_user,
            structured: output.structured,
            silent: output.silent,
        },
        Err(error) => RawOutput::Error {
            reason: match error.reason {
                wit::Reason::InvalidArguments => ToolErrorReason::InvalidArguments,
                wit::Reason::NotFound => ToolErrorReason::NotFound,
                wit::Reason::Unavailable => ToolErrorReason::Unavailable,
                wit::Reason::Failed => ToolErrorReason::Failed,
            },
            message: error.message,
            retry_after_ms: error.retry_after_ms,
            details: error.details,
        },
    }
}

fn content(content: wit::Content) -> Content {
    match content {
        wit::Content::Text(text) => Content::Text(text),
        wit::Content::Image(media) => Content::Image { mime_type: media.mime_type, data: media.data },
        wit::Content::Audio(media) => Content::Audio { mime_type: media.mime_type, data: media.data },
        wit::Content::File(file) => Content::File { path: file.path, mime_type: file.mime_type, caption: file.caption },
        wit::Content::Kept(reference) => Content::Kept(reference),
    }
}

fn size(output: &RawOutput) -> u64 {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let bytes = match output {
        RawOutput::Error { message, details, .. } => message.len() + length(details),
        RawOutput::Output { for_model, for_user, structured, .. } => {
            let contents = for_model.iter().map(|content| match content {
                Content::Text(text) | Content::Kept(text) => text.len(),
                Content::Image { data, .. } | Content::Audio { data, .. } => data.len(),
                Content::File { path, caption, .. } => path.len() + length(caption),
            });
            contents.sum::<usize>() + length(for_user) + length(structured)
        }
    };
    bytes as u64
}
