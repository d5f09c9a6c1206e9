//! Programs that run with credentials: what of a command is started in place of a shell, and with what.

#![expect(
    clippy::result_large_err,
    reason = "a refusal is made once for a refused command and handed on at once; boxing it would cost more than moving it"
)]

use crate::approvals::{Unavailable, field};
use crate::decide::{Refusal, denied_by};
use crate::executor::ExecConfig;
use async_trait::async_trait;
use caisson_confine::{FILES, Plan, Program, Through};
use caisson_programs::{Asked, Decision, Launch, Needs, Place, Roster, Secret, decide};
use std::path::{Path, PathBuf};

/// The registered programs, for the principal of one call.
#[async_trait]
pub trait Programs: Send + Sync {
    /// What is registered now, and what of it the caller was granted.
    ///
    /// # Errors
    /// Where it cannot be read: then no command may run, since it could be a registered program.
    async fn roster(&self) -> Result<Roster, Unavailable>;

    /// Takes values out of all that the call says from now on. What is returned takes them out of what a program writes, of its standard output
    /// and its standard error: so not even the guest has them.
    fn hide(&self, values: &[Secret]) -> [Box<dyn Through>; 2];
}

/// A program that is to be started with credentials.
pub(crate) struct Launched {
    launch: Launch,
    /// The registered file, through links.
    file: PathBuf,
}

/// Where the command would run.
#[derive(Clone, Copy)]
pub(crate) struct Ground {
    /// Whether in a container, whose files are an image's and not the operator's.
    pub(crate) in_container: bool,
    /// Whether it may reach the proxy.
    pub(crate) network: bool,
}

/// What is to be started with credentials, if the command is for that; nothing for one that has nothing to do with them.
pub(crate) fn launched(
    asked: &Asked<'_>,
    roster: &Roster,
    ground: Ground,
    config: &ExecConfig,
) -> Result<Option<Launched>, Refusal> {
    let cleared = match decide(asked, roster) {
        Decision::Elsewhere => return Ok(None),
        Decision::Refused(refusal) => return Err(denied_by(*refusal)),
        Decision::Run(cleared) => cleared,
    };
    let name = cleared.name().to_owned();
    if ground.in_container {
        return Err(denied_by(caisson_programs::Refusal::in_container(&name)));
    }
    let file = config.within(Path::new(cleared.path()));
    let file = file.ok_or_else(|| denied_by(caisson_programs::Refusal::missing(&name, cleared.path())))?;
    let place = Place::new(FILES, None).map_err(|why| Refusal::denied("exec.unavailable", why, ""))?;
    let launch = cleared.prepare(&place).map_err(denied_by)?;
    let reaches = match launch.needs {
        Needs::Nothing => true,
        Needs::Http => ground.network,
        Needs::Other => false,
    };
    if !reaches {
        return Err(denied_by(caisson_programs::Refusal::no_network(&name, launch.needs)));
    }
    Ok(Some(Launched { launch, file }))
}

impl Launched {
    pub(crate) fn timeout(&self) -> std::time::Duration {
        self.launch.timeout
    }

    /// The program's name.
    pub(crate) fn name(&self) -> &str {
        &self.launch.injected.name
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Hex digest of what an approval is bound to: the program, its file and its arguments.
    pub(crate) fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let file = self.file.as_os_str().as_encoded_bytes();
        for part in [b"credentials", self.launch.injected.program.as_str().as_bytes(), file] {
            field(&mut hasher, part);
        }
        for argument in &self.launch.arguments {
            field(&mut hasher, argument.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Puts program, variables and files into a plan.
    pub(crate) fn fill(&self, plan: &mut Plan, config: &ExecConfig) {
        let Launch { program, arguments, files, .. } = &self.launch;
        plan.program = Program::Command { program: program.clone(), arguments: arguments.clone() };
        let environment = self.launch.environment(&config.environment);
        plan.environment = environment.into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect();
        let below = |path: &str| path.strip_prefix(FILES).unwrap_or(path).trim_start_matches('/').to_owned();
        plan.files = files.iter().map(|file| (below(&file.path), file.contents.expose().to_owned())).collect();
    }

    /// What the audit says, and what must not be shown.
    pub(crate) fn told(self) -> (String, Vec<Secret>) {
        let injected = serde_json::to_string(&self.launch.injected).unwrap_or_else(|_| self.name().to_owned());
        (format!("program {injected}"), self.launch.scrub)
    }
}
