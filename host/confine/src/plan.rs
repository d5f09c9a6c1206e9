use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where the workspace stands in the program's view.
pub const WORKSPACE: &str = "/workspace";

/// Where the files of a plan stand in the program's view.
pub const FILES: &str = "/run/files";

/// Most bytes of all files of a plan together: fifty of 64 KiB.
pub(crate) const MAX_FILES: usize = 4 << 20;

/// The system that every program sees: programs, libraries, and what libraries cannot do without. On most distributions all but `/usr` are
/// links into it. What a machine does not have is left out.
pub const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/// The most bytes of arguments and environment together: what the kernel takes for a program with the usual stack, less
/// room for its own tables.
const MAX_WORDS: usize = 1 << 20;

/// The most bytes of certificates that take the place of the machine's.
const MAX_AUTHORITIES: usize = 64 << 10;

/// Where a program finds the certificates of [`Plan::authorities`].
pub const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// What is to run, and all that it may touch. The workspace itself is handed over apart, as an open directory.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What is executed.
    pub program: Program,
    /// The program's whole environment. Nothing is inherited.
    pub environment: BTreeMap<String, String>,
    /// Where the program starts, relative to the workspace; empty means its root.
    pub directory: PathBuf,
    /// Whether the workspace may be changed.
    pub workspace: Access,
    /// Directories and files that an operator adds to the read-only system, at their own paths, such as `/opt/tools`.
    pub system: Vec<PathBuf>,
    /// Files that this program alone sees, by their names below [`FILES`]: readable by nobody else (mode 0600), not to be changed, and gone with
    /// the program.
    pub files: BTreeMap<String, String>,
    /// Where standard input comes from.
    pub stdin: Stdin,
    /// What may be spent.
    pub limits: Limits,
    /// What may be reached.
    pub network: Network,
    /// Certificates, PEM, that take the place of the machine's trusted ones in the program's view: those of a proxy that ends TLS itself.
    pub authorities: Option<String>,
}

/// Variables and files by name only: they can hold secrets.
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("program", &self.program)
            .field("environment", &self.environment.keys())
            .field("directory", &self.directory)
            .field("workspace", &self.workspace)
            .field("files", &self.files.keys())
            .finish_non_exhaustive()
    }
}

/// What is executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// A program by path, or by a name that is looked up in the `PATH` of the given environment, and its arguments.
    Command {
        /// Path or name.
        program: String,
        /// Arguments, without the program's own name.
        arguments: Vec<String>,
    },
    /// Text for `/bin/sh -c`.
    Shell(String),
}

/// What may be done with the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Files may be read and executed.
    ReadOnly,
    /// Files may also be made, changed and removed.
    ReadWrite,
}

/// Where standard input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stdin {
    /// `/dev/null`.
    Empty,
    /// A pipe that [`crate::Running`] holds.
    Piped,
}

/// What may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Nothing: no socket can be made.
    None,
    /// Only what the caller accepts from [`crate::Running::take_proxy`]: in the program's own network, `127.0.0.1` at this port is that
    /// listener, and no other port or protocol leads anywhere.
    Proxy {
        /// The port, 1024 to 65535.
        port: u16,
    },
}

/// What a program and all that it starts may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Bytes of memory: of all processes together where the machine gives a memory control group, else of address space of
    /// each process.
    pub memory: u64,
    /// Processes and threads together.
    pub processes: u32,
    /// Open descriptors of each process.
    pub open_files: u32,
    /// Bytes of each file that is written.
    pub file_size: u64,
    /// Bytes of the private temporary folder. They are memory.
    pub temporary: u64,
    /// Seconds of CPU of each process.
    pub cpu_seconds: u32,
}

impl Default for Limits {
    /// What a container gets too: 512 MiB and 256 processes; one hour of CPU is the longest timeout that settings take.
    fn default() -> Self {
        Self {
            memory: 512 << 20,
            processes: 256,
            open_files: 1024,
            file_size: 1 << 30,
            temporary: 256 << 20,
            cpu_seconds: 3600,
        }
    }
}

/// The users and groups of the host that a gateway which runs as root gives to what it starts: the first of
/// [`HostId::COUNT`], none of which should own anything. Programs that run at the same time have different ones.
///
/// A gateway that runs as an ordinary user has no choice: what it starts is that user to the host, behind the same walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostId(u32);

impl HostId {
    /// How many ids are used, from the first on.
    pub const COUNT: u32 = 1 << 16;

    /// `first` and those that follow; `None` where they would meet the first 65,536, which are people and services, or the
    /// last ones, which the kernel keeps for itself.
    #[must_use]
    pub const fn new(first: u32) -> Option<Self> {
        if first < Self::COUNT || first > u32::MAX - 2 * Self::COUNT { None } else { Some(Self(first)) }
    }

    /// One of them, by any number.
    pub(crate) const fn pick(self, number: u32) -> Self {
        Self(self.0 + number % Self::COUNT)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

impl Default for HostId {
    /// Ids in the range that distributions, directory services, containers and service managers all leave unused.
    fn default() -> Self {
        Self(1_900_000_000)
    }
}

/// Why a plan was refused before anything was started.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PlanError {
    /// A word that the kernel cannot take.
    #[error("{what} `{}` holds a NUL byte, which no program can be given; remove it", value.escape_default())]
    Nul {
        /// Which word.
        what: &'static str,
        /// Its value.
        value: String,
    },
    /// The program's name is empty.
    #[error("the program's name is empty; name a program")]
    NoProgram,
    /// An environment variable without a usable name.
    #[error("`{0}` is no name of an environment variable; use one that is not empty and has no `=`")]
    Variable(String),
    /// A directory that is not below the workspace.
    #[error(
        "the directory `{0}` is not a plain path below the workspace; name one without a leading `/` and without `..`"
    )]
    Directory(String),
    /// An addition to the system that would be no addition.
    #[error(
        "`{0}` cannot be added to the read-only system; name an absolute path without `..` that is not `/`, `/proc`, `/sys`, `/dev`, `/tmp`, `/run` or the workspace"
    )]
    System(String),
    /// A file that cannot be made.
    #[error("`{0}` cannot be a file beside a program; use a plain name")]
    File(String),
    /// Larger files than a program is given.
    #[error("the files beside the program have `{0}` bytes, of at most {MAX_FILES}; put large data into the workspace")]
    LargeFiles(usize),
    /// A limit of zero.
    #[error("the limit `{0}` is zero, under which nothing can run; give at least 1")]
    Zero(&'static str),
    /// A port that is not free to choose.
    #[error("the proxy's port `{0}` is below 1024; choose one from 1024 to 65535")]
    Port(u16),
    /// More certificates than the view has room for.
    #[error("the certificates have `{0}` bytes, of at most {MAX_AUTHORITIES}; give those of the proxy only")]
    Authorities(usize),
    /// More words than a program can be given.
    #[error(
        "arguments and environment have `{0}` bytes, of at most {MAX_WORDS}; pass large data by standard input or a file"
    )]
    TooLong(usize),
}

impl Plan {
    /// A plan that runs `program` with nothing granted: an empty environment, no input, no network, a read-only workspace.
    #[must_use]
    pub fn new(program: Program) -> Self {
        Self {
            program,
            environment: BTreeMap::new(),
            directory: PathBuf::new(),
            workspace: Access::ReadOnly,
            system: Vec::new(),
            files: BTreeMap::new(),
            stdin: Stdin::Empty,
            limits: Limits::default(),
            network: Network::None,
            authorities: None,
        }
    }

    /// Whether the plan can be carried out at all; the first fault found.
    ///
    /// # Errors
    /// [`PlanError`], which names the value and what to give instead.
    pub fn check(&self) -> Result<(), PlanError> {
        self.check_words()?;
        self.limits.check()?;
        if !below(&self.directory) {
            return Err(PlanError::Directory(self.directory.display().to_string()));
        }
        if let Some(path) = self.system.iter().find(|path| !addable(path)) {
            return Err(PlanError::System(path.display().to_string()));
        }
        let plain = |name: &str| Path::new(name).components().eq([Component::Normal(name.as_ref())]);
        if let Some(name) = self.files.keys().find(|name| !plain(name) || name.contains('\0')) {
            return Err(PlanError::File(name.escape_default().to_string()));
        }
        let bytes = self.files.values().map(String::len).sum();
        if bytes > MAX_FILES {
            return Err(PlanError::LargeFiles(bytes));
        }
        if let Some(size) = self.authorities.as_ref().map(String::len).filter(|size| *size > MAX_AUTHORITIES) {
            return Err(PlanError::Authorities(size));
        }
        match self.network {
            Network::Proxy { port } if port < 1024 => Err(PlanError::Port(port)),
            Network::Proxy { .. } | Network::None => Ok(()),
        }
    }

    fn check_words(&self) -> Result<(), PlanError> {
        let mut bytes = 0;
        let mut word = |what, value: &str| {
            bytes += value.len() + 1;
            if value.contains('\0') { Err(PlanError::Nul { what, value: value.to_owned() }) } else { Ok(()) }
        };
        match &self.program {
            Program::Shell(text) => word("the command", text)?,
            Program::Command { program, .. } if program.is_empty() => return Err(PlanError::NoProgram),
            Program::Command { program, arguments } => {
                word("the program", program)?;
                arguments.iter().try_for_each(|argument| word("the argument", argument))?;
            }
        }
        for (name, value) in &self.environment {
            if name.is_empty() || name.contains('=') {
                return Err(PlanError::Variable(name.clone()));
            }
            word("the variable", name)?;
            // The error names the variable: its value can be a secret.
            if value.contains('\0') {
                return Err(PlanError::Nul { what: "the value of the variable", value: name.clone() });
            }
            word("the value", value)?;
        }
        if bytes > MAX_WORDS { Err(PlanError::TooLong(bytes)) } else { Ok(()) }
    }
}

impl Limits {
    fn check(&self) -> Result<(), PlanError> {
        let all = [
            ("memory", self.memory),
            ("processes", self.processes.into()),
            ("open_files", self.open_files.into()),
            ("file_size", self.file_size),
            ("temporary", self.temporary),
            ("cpu_seconds", self.cpu_seconds.into()),
        ];
        all.iter().find(|(_, value)| *value == 0).map_or(Ok(()), |(name, _)| Err(PlanError::Zero(name)))
    }
}

fn below(path: &Path) -> bool {
    !has_nul(path) && path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Paths that the view makes itself are no additions, and `/run` is where services keep their sockets.
fn addable(path: &Path) -> bool {
    let mut parts = path.components();
    let own = ["proc", "sys", "dev", "tmp", "run"];
    parts.next() == Some(Component::RootDir)
        && !has_nul(path)
        && matches!(parts.next(), Some(Component::Normal(first)) if !own.iter().any(|own| first == *own))
        && parts.all(|part| matches!(part, Component::Normal(_)))
        && !path.starts_with(WORKSPACE)
}

fn has_nul(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().contains(&0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn plan() -> Plan {
        Plan::new(Program::Shell("true".into()))
    }

    #[test]
    fn words_that_no_program_can_be_given_are_refused() {
        let mut nul = plan();
        nul.program = Program::Command { program: "true".into(), arguments: vec!["a\0b".into()] };
        assert!(nul.check().unwrap_err().to_string().contains("`a\\u{0}b`"));
        let mut variable = plan();
        variable.environment.insert("A=B".into(), String::new());
        assert_eq!(variable.check(), Err(PlanError::Variable("A=B".into())));
        let mut long = plan();
        long.environment.insert("A".into(), "x".repeat(MAX_WORDS));
        assert!(matches!(long.check(), Err(PlanError::TooLong(_))));
        long.environment.insert("A".into(), "x".repeat(MAX_WORDS / 2));
        assert_eq!(long.check(), Ok(()));
    }

    #[test]
    fn directories_outside_the_workspace_are_refused() {
        for bad in ["..", "/etc", "a/../../b"] {
            assert!(matches!(Plan { directory: bad.into(), ..plan() }.check(), Err(PlanError::Directory(_))), "{bad}");
        }
        for good in ["", ".", "a/b"] {
            assert_eq!(Plan { directory: good.into(), ..plan() }.check(), Ok(()), "{good}");
        }
    }

    #[test]
    fn the_system_takes_no_paths_of_the_view_itself() {
        for bad in ["/", "opt", "/proc", "/run/docker.sock", "/dev/mem", "/opt/../root", "/workspace/x", "/tmp"] {
            assert!(matches!(Plan { system: vec![bad.into()], ..plan() }.check(), Err(PlanError::System(_))), "{bad}");
        }
        assert_eq!(Plan { system: vec!["/opt/tools".into()], ..plan() }.check(), Ok(()));
    }

    #[test]
    fn files_have_plain_names_and_secrets_do_not_print_themselves() {
        for bad in ["", ".", "..", "a/b", "/a", "a/", "a\0"] {
            let files = [(bad.to_owned(), String::new())].into();
            assert!(matches!(Plan { files, ..plan() }.check(), Err(PlanError::File(_))), "{bad:?}");
        }
        let large = [("a".to_owned(), "x".repeat(MAX_FILES + 1))].into();
        assert!(matches!(Plan { files: large, ..plan() }.check(), Err(PlanError::LargeFiles(_))));
        let mut good = Plan { files: [("KEY".to_owned(), "s3cret".to_owned())].into(), ..plan() };
        good.environment.insert("TOKEN".into(), "s3cret".into());
        assert_eq!(good.check(), Ok(()));
        assert!(!format!("{good:?}").contains("s3cret"));
        good.environment.insert("TOKEN".into(), "s3cret\0".into());
        let told = good.check().unwrap_err().to_string();
        assert!(told.contains("`TOKEN`") && !told.contains("s3cret"), "{told}");
    }

    #[test]
    fn limits_of_zero_and_low_ports_are_refused() {
        let limits = Limits { processes: 0, ..Limits::default() };
        assert_eq!(Plan { limits, ..plan() }.check(), Err(PlanError::Zero("processes")));
        assert_eq!(Plan { network: Network::Proxy { port: 80 }, ..plan() }.check(), Err(PlanError::Port(80)));
        assert_eq!(Plan { network: Network::Proxy { port: 3128 }, ..plan() }.check(), Ok(()));
    }

    #[test]
    fn ids_that_are_somebody_are_refused() {
        assert!([0, 1000, 65534, 65535, u32::MAX, u32::MAX - 65536].iter().all(|id| HostId::new(*id).is_none()));
        let first = HostId::new(HostId::default().number()).unwrap();
        assert_ne!(first.pick(0), first.pick(1));
        assert_eq!(first.pick(HostId::COUNT), first);
    }
}
