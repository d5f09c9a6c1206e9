use std::path::PathBuf;
use std::time::Duration;

use caisson_confine::Limits;
use serde::Deserialize;

/// How containers are made and kept, as the operator set it: one for a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The engine's Unix socket.
    pub socket: PathBuf,
    /// Which gateway this is: the value of the label `caisson` of all its containers. What carries it and is not known to the gateway
    /// is left from a crash and is removed, so no two gateways of one engine share it.
    pub instance: String,
    /// A folder of the gateway's own, on the machine of the engine, for what containers are given at their start. Nobody else may
    /// enter it.
    pub folder: PathBuf,
    /// How long a container is kept after its last command.
    pub idle: Duration,
    /// How many containers there are at most. One that is needed takes the place of the one that has been idle longest.
    pub most: usize,
    /// Whether images are fetched.
    pub pull: Pull,
}

impl Config {
    /// The usual socket, 15 minutes of keeping, 64 containers, no fetching.
    #[must_use]
    pub fn new(instance: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        Self {
            socket: "/var/run/docker.sock".into(),
            instance: instance.into(),
            folder: folder.into(),
            idle: Duration::from_secs(15 * 60),
            most: 64,
            pull: Pull::Never,
        }
    }
}

/// Whether images are fetched from a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pull {
    /// An image that is not on the engine's machine is an error: which images there are is the operator's decision alone.
    #[default]
    Never,
    /// An image that is missing is fetched, by the engine and with its access to registries.
    Missing,
}

/// What a tenant or an agent set about its sandbox: `sandbox_config`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Sandbox {
    image: String,
    timeout: Duration,
    millicpus: u32,
    limits: Limits,
}

impl Sandbox {
    /// The defaults, for an image: 300 seconds, 1 CPU, 512 MiB, 256 processes.
    ///
    /// # Errors
    /// [`SandboxError`] for what is no name of an image.
    pub fn new(image: impl Into<String>) -> Result<Self, SandboxError> {
        Written { image: image.into(), timeout_sec: None, memory_mb: None, cpus: None, pids: None, tmp_mb: None }
            .try_into()
    }

    /// The image, by name or digest.
    #[must_use]
    pub fn image(&self) -> &str {
        &self.image
    }

    /// How long a command gets where nothing says otherwise.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// What a plan for this sandbox may spend. Memory, processes and temporary files are the container's, so of all commands in
    /// it together.
    #[must_use]
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// Thousandths of a CPU.
    pub(crate) const fn millicpus(&self) -> u32 {
        self.millicpus
    }
}

/// `sandbox_config` that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// No name of an image.
    #[error("`{0}` is no name of an image; use one such as `debian:12` or `registry.example/team/tools@sha256:…`")]
    Image(String),
    /// A number outside of its range.
    #[error("`{key}` is `{value}`; use a number from {least} to {most}")]
    Range {
        /// Which.
        key: &'static str,
        /// What was written.
        value: String,
        /// The least that can be meant.
        least: u32,
        /// The most.
        most: u32,
    },
}

/// As it is written in settings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    image: String,
    timeout_sec: Option<u32>,
    memory_mb: Option<u32>,
    cpus: Option<f64>,
    pids: Option<u32>,
    tmp_mb: Option<u32>,
}

impl TryFrom<Written> for Sandbox {
    type Error = SandboxError;

    fn try_from(written: Written) -> Result<Self, SandboxError> {
        let range = |key, value: Option<u32>, default, least, most| {
            let value = value.unwrap_or(default);
            let fault = || SandboxError::Range { key, value: value.to_string(), least, most };
            (least..=most).contains(&value).then_some(value).ok_or_else(fault)
        };
        if !is_image(&written.image) {
            return Err(SandboxError::Image(written.image.chars().take(200).flat_map(char::escape_debug).collect()));
        }
        // The engine takes no less than 6 MiB, and our process 1 needs some of it.
        let memory = range("memory_mb", written.memory_mb, 512, 16, 1 << 20)?;
        // Two are ours: process 1 and the one that stands over a command.
        let processes = range("pids", written.pids, 256, 8, 1 << 16)?;
        let temporary = range("tmp_mb", written.tmp_mb, 256, 1, 1 << 20)?;
        Ok(Self {
            image: written.image,
            timeout: Duration::from_secs(range("timeout_sec", written.timeout_sec, 300, 1, 3600)?.into()),
            millicpus: millicpus(written.cpus.unwrap_or(1.0))?,
            limits: Limits {
                memory: u64::from(memory) << 20,
                processes,
                temporary: u64::from(temporary) << 20,
                ..Limits::default()
            },
        })
    }
}

fn millicpus(cpus: f64) -> Result<u32, SandboxError> {
    let fault = || SandboxError::Range { key: "cpus", value: cpus.to_string(), least: 0, most: 256 };
    if !(0.01..=256.0).contains(&cpus) {
        return Err(fault());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range: from 10 to 256,000")]
    Ok((cpus * 1000.0).round() as u32)
}

/// Characters of references to images. They go into a URL's path and query, encoded; a leading dash or slash means something
/// else to people who copy the name into a command line.
fn is_image(name: &str) -> bool {
    name.len() <= 256
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte))
        && !name.contains("..")
}

/// For whom a container is kept. Two that differ in anything never share one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The tenant.
    pub tenant: String,
    /// Whatever else the caller keeps apart within the tenant, such as an agent.
    pub scope: String,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn what_cannot_be_meant_is_named() {
        for (text, words) in [
            (r#"{"image":"-v"}"#, "`-v` is no name"),
            (r#"{"image":""}"#, "is no name"),
            (r#"{"image":"a/../b"}"#, "is no name"),
            (r#"{"image":"a b"}"#, "is no name"),
            (r#"{"image":"a","timeout_sec":0}"#, "`timeout_sec` is `0`; use a number from 1 to 3600"),
            (r#"{"image":"a","timeout_sec":3601}"#, "3600"),
            (r#"{"image":"a","memory_mb":1}"#, "`memory_mb`"),
            (r#"{"image":"a","cpus":0}"#, "`cpus`"),
            (r#"{"image":"a","cpus":-1}"#, "`cpus`"),
            (r#"{"image":"a","pids":0}"#, "`pids`"),
            (r#"{"image":"a","network":"host"}"#, "unknown field `network`"),
            (r#"{"timeout_sec":5}"#, "missing field `image`"),
        ] {
            let error = serde_json::from_str::<Sandbox>(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_left_out_has_the_defaults() {
        let sandbox: Sandbox = serde_json::from_str(r#"{"image":"debian:12","cpus":0.5}"#).unwrap();
        assert_eq!((sandbox.image(), sandbox.timeout().as_secs(), sandbox.millicpus()), ("debian:12", 300, 500));
        assert_eq!((sandbox.limits().memory, sandbox.limits().processes), (512 << 20, 256));
        assert_eq!(Sandbox::new("debian:12").unwrap().millicpus(), 1000);
    }
}
