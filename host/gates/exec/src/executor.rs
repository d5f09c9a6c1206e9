//! What runs commands: one for a gateway.

use caisson_confine::{Confiner, Demand, HostId, Limits, SYSTEM, Stub, find_stub};
use caisson_docker::{Config as ContainersConfig, Containers};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;

/// How commands run, as the operator set it.
#[derive(Clone, Debug)]
pub struct ExecConfig {
    /// The program that confines itself; where none is named, `caisson-confine` beside this program.
    pub stub: Option<PathBuf>,
    /// Where workspaces lie, to try the confinement on.
    pub workspaces: PathBuf,
    /// Paths of the gateway that no command may name.
    pub denied: Vec<String>,
    /// Directories and files that commands see read-only beside the system's.
    pub system: Vec<PathBuf>,
    /// The environment of every command.
    pub environment: BTreeMap<String, String>,
    /// What the machine must give; less is an error and never a weaker wall.
    pub demand: Demand,
    /// Whom commands are to the host where the gateway is root.
    pub host: HostId,
    /// What one command may spend.
    pub limits: Limits,
    /// The engine of containers; without one, a command that is to run in a container does not run.
    pub containers: Option<ContainersConfig>,
}

impl ExecConfig {
    /// The defaults, for workspaces below a directory.
    #[must_use]
    pub fn new(workspaces: PathBuf) -> Self {
        let environment = [
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            ("HOME", "/tmp"),
            ("TMPDIR", "/tmp"),
            ("LANG", "C.UTF-8"),
            ("USER", "agent"),
        ];
        Self {
            stub: None,
            workspaces,
            denied: vec![],
            system: vec![],
            environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            demand: Demand::default(),
            host: HostId::default(),
            limits: Limits::default(),
            containers: None,
        }
    }
}

impl ExecConfig {
    /// Where commands find a program of a name.
    pub(crate) fn look_up(&self, name: &str) -> Option<PathBuf> {
        let folders = self.environment.get("PATH")?;
        folders.split(':').map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
    }

    /// The file that a path stands for, through links, where commands see it.
    pub(crate) fn within(&self, path: &Path) -> Option<PathBuf> {
        let file = path.canonicalize().ok()?;
        let seen = SYSTEM.iter().map(Path::new).chain(self.system.iter().map(PathBuf::as_path));
        let mut seen = seen.filter(|folder| file.starts_with(folder));
        seen.next().is_some().then_some(file)
    }
}

/// Runs commands, confined. Asks the machine what it gives at the first command, so that a gateway whose tools run none starts
/// as fast as without.
pub struct Executor {
    pub(crate) config: ExecConfig,
    confiner: OnceCell<Confiner>,
    pub(crate) containers: Option<Containers>,
}

impl Executor {
    /// Nothing is asked or started yet.
    #[must_use]
    pub fn new(config: ExecConfig) -> Self {
        let containers = config.containers.clone().map(Containers::new);
        Self { config, confiner: OnceCell::new(), containers }
    }

    /// Takes away the containers that an earlier run of this gateway left.
    ///
    /// # Errors
    /// Where no engine answers, or there is none.
    pub async fn open_containers(&self) -> Result<(), String> {
        match &self.containers {
            Some(containers) => containers.open().await.map_err(|error| error.to_string()),
            None => Err("no engine of containers is set; name its socket with `--docker-socket`".into()),
        }
    }

    /// Ends every container and what runs in it.
    pub async fn close(&self) {
        if let Some(containers) = &self.containers {
            containers.close().await;
        }
    }

    /// Where commands find a program of a name; nothing where there is none in the part of the system that they see.
    #[must_use]
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        self.config.look_up(name).filter(|path| self.has_program(path))
    }

    /// Whether commands see a file at this path.
    #[must_use]
    pub fn has_program(&self, path: &Path) -> bool {
        path.is_absolute() && self.config.within(path).is_some_and(|file| file.is_file())
    }

    /// The confinement, or what this machine lacks for it, for the operator. Asked again by the next command.
    pub(crate) async fn confiner(&self) -> Result<&Confiner, String> {
        let open = async || {
            let stub = self.config.stub.as_deref().map_or_else(find_stub, Stub::open);
            let stub = stub.map_err(|missing| missing.to_string())?;
            // The confinement is tried on the folder of workspaces, which the first call makes.
            std::fs::create_dir_all(&self.config.workspaces).map_err(|error| error.to_string())?;
            Confiner::open(stub, self.config.demand, self.config.host, &self.config.workspaces)
                .await
                .map_err(|lacking| lacking.to_string())
        };
        self.confiner.get_or_try_init(open).await
    }
}
