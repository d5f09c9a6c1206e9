//! An engine of a test's own with images made of busybox, a workspace, and short ways to run something.
#![allow(dead_code, reason = "each test file uses some of it")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::fs::{self, File, Permissions};
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use caisson_confine::{Access, Ending, Plan, Program, Running, open_workspace};
use caisson_docker::{BoxError, Config, Containers, Key, Sandbox};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;

/// What no test waits for: only a hang gets there.
pub const LONG: Duration = Duration::from_secs(60);
/// The image that most tests use.
pub const IMAGE: &str = "box:latest";
/// One that declares a volume and a health check.
pub const ODD_IMAGE: &str = "odd:latest";

const CLIENT: &str = "/usr/bin/docker";

/// A Docker engine with nothing but a socket. Ends when dropped.
pub struct Engine {
    process: Child,
    pub folder: TempDir,
}

impl Engine {
    /// `None`, after saying so, where none can be started and this is not CI.
    pub fn start() -> Option<Self> {
        match Self::try_start() {
            Ok(engine) => Some(engine),
            Err(why) if std::env::var_os("CI").is_none() => {
                eprintln!(
                    "SKIPPED: no engine could be started ({why}); it takes root, `docker.io` and `busybox-static`"
                );
                None
            }
            Err(why) => panic!("no engine could be started: {why}"),
        }
    }

    fn try_start() -> Result<Self, String> {
        let folder = TempDir::new().map_err(|error| error.to_string())?;
        let log = File::create(folder.path().join("log")).map_err(|error| error.to_string())?;
        let mut command = Command::new("dockerd");
        let under = |name: &str| folder.path().join(name).display().to_string();
        command.args(["--bridge=none", "--iptables=false", "--ip6tables=false", "--host"]);
        command.arg(format!("unix://{}", under("socket")));
        for name in ["data-root", "exec-root", "pidfile"] {
            command.arg(format!("--{name}={}", under(name)));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        #[expect(unsafe_code, reason = "between fork and exec: one system call")]
        unsafe {
            // A test that is killed leaves no engine.
            command.pre_exec(|| {
                Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?)
            });
        }
        let process = command.spawn().map_err(|error| format!("dockerd: {error}"))?;
        let engine = Self { process, folder };
        let patience = Instant::now() + LONG;
        while engine.client(&["version"]).is_err() {
            if Instant::now() > patience {
                let log = fs::read_to_string(engine.folder.path().join("log")).unwrap_or_default();
                return Err(log.lines().last().unwrap_or("it does not answer").to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        engine.import()?;
        Ok(engine)
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// What the engine's own client says.
    pub fn client(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(CLIENT);
        command.arg("--host").arg(format!("unix://{}", self.socket().display())).args(arguments);
        let output = command.output().map_err(|error| format!("{CLIENT}: {error}"))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    }

    /// All containers, by id.
    pub fn containers(&self) -> Vec<String> {
        let listed = self.client(&["ps", "--all", "--quiet", "--no-trunc"]).unwrap();
        listed.lines().map(str::to_owned).collect()
    }

    /// Ends the engine as an operator would.
    pub fn stop(&mut self) {
        if self.process.try_wait().is_ok_and(|ended| ended.is_none())
            && let Some(pid) = i32::try_from(self.process.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            let _gone = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _gone = self.process.wait();
    }

    /// A root with busybox in it, and in it a set-user-ID program of root's.
    fn import(&self) -> Result<(), String> {
        let (root, tar) = (self.folder.path().join("root"), self.folder.path().join("root.tar"));
        let busybox = ["/bin/busybox", "/usr/bin/busybox"].iter().find(|path| Path::new(path).exists());
        let busybox = busybox.ok_or("no busybox is installed")?;
        for folder in ["bin", "suid", "etc"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::copy(busybox, root.join("bin/busybox")).unwrap();
        fs::copy(busybox, root.join("suid/id")).unwrap();
        fs::set_permissions(root.join("suid/id"), Permissions::from_mode(0o4755)).unwrap();
        fs::write(root.join("etc/passwd"), "root:x:0:0::/:/bin/sh\n").unwrap();
        let applets = Command::new(busybox).arg("--list").output().unwrap().stdout;
        for applet in String::from_utf8_lossy(&applets).lines().filter(|name| *name != "busybox") {
            symlink("busybox", root.join("bin").join(applet)).unwrap();
        }
        let tarred = Command::new("tar").arg("-C").arg(&root).arg("-cf").arg(&tar).arg(".").status();
        assert!(tarred.is_ok_and(|status| status.success()));
        let tar = tar.display().to_string();
        self.client(&["import", &tar, IMAGE])?;
        let odd = ["--change", "VOLUME /var/odd", "--change", "HEALTHCHECK CMD /bin/true", "--change", "ENV LEAK=1"];
        self.client(&[&["import"], &odd[..], &[&tar, ODD_IMAGE]].concat())?;
        Ok(())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        for id in self.client(&["ps", "--all", "--quiet"]).unwrap_or_default().lines() {
            let _gone = self.client(&["rm", "--force", id]);
        }
        self.stop();
        // It leaves a network namespace mounted, which would keep the folder from being removed.
        for namespace in fs::read_dir(self.folder.path().join("exec-root/netns")).into_iter().flatten().flatten() {
            let _none = rustix::mount::unmount(namespace.path(), rustix::mount::UnmountFlags::DETACH);
        }
    }
}

/// A program that has ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Done {
    pub ending: Ending,
    pub out: String,
    pub err: String,
}

/// A gateway's containers and a workspace in them.
pub struct Bench {
    pub containers: Containers,
    pub engine: Engine,
    /// Holds the workspaces and whatever a test puts beside them.
    pub data: TempDir,
    pub sandbox: Sandbox,
    made: Mutex<Vec<PathBuf>>,
}

impl Bench {
    pub fn new() -> Option<Self> {
        let engine = Engine::start()?;
        let data = TempDir::new().unwrap();
        let config = config(&engine, &data);
        let (containers, sandbox) = (Containers::new(config), Sandbox::new(IMAGE).unwrap());
        Some(Self { containers, engine, data, sandbox, made: Mutex::default() })
    }

    /// The workspace of one tenant.
    pub fn workspace(&self, tenant: &str) -> PathBuf {
        let path = self.data.path().join("workspaces").join(tenant);
        fs::create_dir_all(&path).unwrap();
        self.made.lock().unwrap().push(path.clone());
        path
    }

    pub async fn spawn(&self, plan: Plan) -> Result<Running, BoxError> {
        self.spawn_for("tenant", plan).await
    }

    pub async fn spawn_for(&self, tenant: &str, plan: Plan) -> Result<Running, BoxError> {
        let workspace = open_workspace(&self.workspace(tenant)).unwrap();
        self.containers.spawn(&key(tenant), &self.sandbox, plan, workspace.as_fd()).await
    }

    pub async fn run(&self, plan: Plan) -> Done {
        done(self.spawn(plan).await.unwrap(), LONG).await
    }

    /// Runs a shell text with a workspace that may be changed.
    pub async fn sh(&self, text: &str) -> Done {
        self.run(self.shell(text)).await
    }

    /// Whether a shell text succeeds.
    pub async fn succeeds(&self, text: &str) -> bool {
        let done = self.sh(text).await;
        assert!(matches!(done.ending, Ending::Exited(_)), "{text}: {done:?}");
        done.ending == Ending::Exited(0)
    }

    /// What a shell text that succeeds writes.
    pub async fn out(&self, text: &str) -> String {
        let done = self.sh(text).await;
        assert_eq!(done.ending, Ending::Exited(0), "{text}: {done:?}");
        done.out
    }

    pub fn shell(&self, text: &str) -> Plan {
        shell(text, &self.sandbox)
    }

    /// The only container there is.
    pub fn container(&self) -> String {
        let all = self.engine.containers();
        assert_eq!(all.len(), 1, "{all:?}");
        all.into_iter().next().unwrap()
    }
}

pub fn config(engine: &Engine, data: &TempDir) -> Config {
    Config { socket: engine.socket(), ..Config::new("test", data.path().join("containers")) }
}

pub fn key(tenant: &str) -> Key {
    Key { tenant: tenant.into(), scope: "agent".into() }
}

pub fn shell(text: &str, sandbox: &Sandbox) -> Plan {
    let mut plan = Plan::new(Program::Shell(text.into()));
    plan.workspace = Access::ReadWrite;
    plan.environment.insert("PATH".into(), "/bin".into());
    plan.limits = sandbox.limits();
    plan
}

/// Reads both streams to their ends and waits for the program's.
pub async fn done(mut running: Running, timeout: Duration) -> Done {
    let (mut stdout, mut stderr) = (running.take_stdout().unwrap(), running.take_stderr().unwrap());
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (ending, _, _) =
        tokio::join!(running.finish(timeout), stdout.read_to_end(&mut out), stderr.read_to_end(&mut err));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Done { ending, out: text(out), err: text(err) }
}

/// Waits until something is so; only a hang never is.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < patience, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
