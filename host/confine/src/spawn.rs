use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use tokio::sync::oneshot;

use crate::find::Stub;
use crate::given::{Answer, Demand, Given, Lacking};
use crate::plan::{HostId, Network, Plan, PlanError};
use crate::pool::Pool;
use crate::probe;
use crate::running::{Control, Ends, Running, Streams, watch};
use crate::wire::{self, Fault, Order, Report, Settings, Step};

/// Starts programs, confined. Exists only where the machine gives what is demanded.
#[derive(Debug)]
pub struct Confiner {
    pool: Arc<Pool>,
    given: Given,
}

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The plan cannot be carried out.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The program does not exist in its view, or is none.
    #[error(
        "`{program}` cannot be executed: {error}; name a program of the system or one in the workspace that is executable"
    )]
    Program {
        /// As the plan named it.
        program: String,
        /// What the kernel said.
        error: io::Error,
    },
    /// The directory to start in cannot be entered.
    #[error("the directory `{directory}` cannot be entered: {error}; name one that exists in the workspace")]
    Directory {
        /// As the plan named it.
        directory: String,
        /// What the kernel said.
        error: io::Error,
    },
    /// The confinement could not be set up, so nothing was run.
    #[error(
        "the confinement could not be set up, so nothing was run: {step}, {detail}: {error}; `caisson doctor` says what this machine gives"
    )]
    SetUp {
        /// The step that failed.
        step: String,
        /// What it was doing.
        detail: String,
        /// What the kernel said.
        error: io::Error,
    },
    /// Something outside the confinement failed: the stub, a pipe, a control group.
    #[error("the stub could not be started: {what}: {error}")]
    Stub {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: io::Error,
    },
}

/// Opens the directory that a program gets as its workspace. The descriptor pins what was meant, whatever becomes of the path.
///
/// # Errors
/// What the system says; a link in the last place is refused.
pub fn open_workspace(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

impl Confiner {
    /// Tries out what this machine gives for workspaces below the directory `workspaces`, and holds it against `demand`. `host` is
    /// whom programs are to the host where the gateway is root.
    ///
    /// # Errors
    /// What the machine is [`Lacking`].
    pub async fn open(stub: Stub, demand: Demand, host: HostId, workspaces: &Path) -> Result<Self, Lacking> {
        let confiner = Self::probe(stub, host, workspaces).await;
        match demand.check(&confiner.given) {
            Ok(()) => Ok(confiner),
            Err(lacking) => {
                confiner.close().await;
                Err(lacking)
            }
        }
    }

    /// What this machine gives, whether it is enough or not, for a person to read.
    pub async fn look(stub: Stub, host: HostId, workspaces: &Path) -> Given {
        let confiner = Self::probe(stub, host, workspaces).await;
        let given = confiner.given.clone();
        confiner.close().await;
        given
    }

    async fn probe(stub: Stub, host: HostId, workspaces: &Path) -> Self {
        let (given, groups) = probe::without_a_run(&stub).await;
        let settings = Settings {
            landlock: given.landlock,
            host: given.as_root.then_some(host),
            memory_group: groups.bounds_memory(),
            cgroup_namespace: given.has_namespace("cgroup"),
        };
        let mut confiner = Self { pool: Pool::new(stub, groups, settings), given };
        confiner.given.confinement = confiner.trial(workspaces).await;
        confiner
    }

    async fn trial(&self, workspaces: &Path) -> Answer {
        let mut plan = Plan::new(crate::Program::Shell(":".into()));
        plan.network = Network::Proxy { port: 3128 };
        let no = |why: String| Answer::No { why, how: probe::HOW.into() };
        let workspace = match open_workspace(workspaces) {
            Ok(workspace) => workspace,
            Err(error) => return no(format!("`{}` cannot be opened: {error}", workspaces.display())),
        };
        match self.spawn(plan, workspace.as_fd()).await {
            Ok(mut running) => match running.wait().await {
                crate::Ending::Exited(0) => Answer::Yes,
                other => no(format!("`:` ended with {other:?}")),
            },
            Err(error) => no(error.to_string()),
        }
    }

    /// What this machine gives.
    #[must_use]
    pub fn given(&self) -> &Given {
        &self.given
    }

    /// Ends what waits for the next program and removes its control groups. What still runs is not touched, and clears up when
    /// it ends.
    pub async fn close(self) {
        self.pool.close().await;
    }

    /// Starts a program with `workspace` as the only place of the host that it can change. Returns once it runs.
    ///
    /// # Errors
    /// [`SpawnError`]; nothing of the program has run then.
    pub async fn spawn(&self, plan: Plan, workspace: BorrowedFd<'_>) -> Result<Running, SpawnError> {
        plan.check()?;
        let names = Names::of(&plan);
        let keeper = self.pool.take(&plan.limits).map_err(failed("start or make its control group"))?;
        let (control, theirs) = wire::pair().map_err(failed("make a socket"))?;
        let (streams, child) = Streams::open(plan.stdin).map_err(failed("make a pipe"))?;
        let nothing = std::fs::File::open("/dev/null").map_err(failed("open `/dev/null`"))?;
        let order = Order { workspace: plan.workspace };
        let plan = wire::write_plan(&plan).map_err(failed("write the plan"))?;
        let child_stdin = child.stdin.as_ref().map_or(nothing.as_fd(), AsFd::as_fd);
        let given = [theirs.as_fd(), plan.as_fd(), child_stdin, child.stdout.as_fd(), child.stderr.as_fd(), workspace];
        let control = Arc::new(Control(wire::watch(control).map_err(failed("watch the socket"))?));
        keeper.order(order, &given).map_err(failed("send the order"))?;
        // What is open here too would never end for those who read it.
        drop((theirs, child));
        let ((tell_first, first), (tell_ending, ended)) = (oneshot::channel(), oneshot::channel());
        // From here on, whoever drops this future kills what was started, and the task clears up.
        let ends: Arc<dyn Ends> = Arc::<Control>::clone(&control);
        let mut running = Running::new(ends, streams, ended);
        tokio::spawn(watch((Arc::clone(&self.pool), keeper), control, tell_first, tell_ending));
        match first.await.ok() {
            Some((Report::Started, descriptors)) => {
                running.proxy = descriptors
                    .into_iter()
                    .next()
                    .map(|listener| listen(listener).map_err(failed("take the proxy")))
                    .transpose()?;
                Ok(running)
            }
            Some((Report::Failed(fault), _)) => Err(names.explain(fault)),
            Some((Report::Exited(_) | Report::Signalled(_), _)) | None => {
                Err(failed("set up")(io::Error::other("it ended without a word")))
            }
        }
    }
}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> SpawnError {
    move |error| SpawnError::Stub { what, error }
}

fn listen(listener: OwnedFd) -> io::Result<TcpListener> {
    let listener = TcpListener::from(listener);
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// What the plan called things, for the person who reads why they failed.
struct Names {
    program: String,
    directory: PathBuf,
}

impl Names {
    fn of(plan: &Plan) -> Self {
        let program = match &plan.program {
            crate::Program::Command { program, .. } => program.clone(),
            crate::Program::Shell(_) => "/bin/sh".into(),
        };
        Self { program, directory: plan.directory.clone() }
    }

    fn explain(self, fault: Fault) -> SpawnError {
        let error = match fault.errno {
            0 => io::Error::other("see the detail"),
            errno => io::Error::from_raw_os_error(errno),
        };
        match fault.step {
            Step::Program => SpawnError::Program { program: self.program, error },
            Step::Directory => SpawnError::Directory { directory: self.directory.display().to_string(), error },
            step => SpawnError::SetUp { step: format!("{step:?}").to_lowercase(), detail: fault.detail, error },
        }
    }
}
