//! What the engine is asked for: the walls of a container, all of them here and none of them from settings.

use std::collections::HashMap;

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigCgroupnsModeEnum, HostConfigLogConfig, Mount,
    MountBindOptions, MountBindOptionsPropagationEnum, MountType, ResourcesUlimits, RestartPolicy,
    RestartPolicyNameEnum,
};
use caisson_confine::{Access, Limits, WORKSPACE};

use crate::engine::Image;
use crate::wire::{FOLDER, INIT};

/// What a container is made of. One that is kept serves only those who need exactly this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub image: String,
    pub millicpus: u32,
    pub limits: Limits,
    pub access: Access,
}

/// What a container is given.
pub struct Parts<'a> {
    pub shape: &'a Shape,
    /// The image by digest, so that what was looked at is what is run.
    pub image: &'a Image,
    /// The label's value.
    pub instance: &'a str,
    /// As whom it runs.
    pub user: &'a str,
    /// The host's directory that is its workspace.
    pub workspace: &'a str,
    /// The host's directory with process 1 and its socket.
    pub folder: &'a str,
}

/// The label of all our containers.
pub const LABEL: &str = "caisson";
/// Inside of what the image calls shared memory; it counts as memory.
const SHARED_MEMORY: i64 = 64 << 20;
/// What process 1 may have open.
const OWN_FILES: i64 = 64;

pub fn body(parts: &Parts<'_>) -> ContainerCreateBody {
    ContainerCreateBody {
        image: Some(parts.image.id.clone()),
        entrypoint: Some(vec![format!("{FOLDER}/{INIT}")]),
        cmd: Some(vec![]),
        user: Some(parts.user.into()),
        working_dir: Some("/".into()),
        hostname: Some("sandbox".into()),
        network_disabled: Some(true),
        // An image's own would be a command that nobody asked for.
        healthcheck: Some(HealthConfig { test: Some(vec!["NONE".into()]), ..HealthConfig::default() }),
        labels: Some(HashMap::from([(LABEL.to_owned(), parts.instance.to_owned())])),
        host_config: Some(walls(parts)),
        ..ContainerCreateBody::default()
    }
}

fn walls(parts: &Parts<'_>) -> HostConfig {
    let Shape { millicpus, limits, access, .. } = parts.shape;
    let memory = i64::try_from(limits.memory).unwrap_or(i64::MAX);
    HostConfig {
        network_mode: Some("none".into()),
        ipc_mode: Some("private".into()),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
        privileged: Some(false),
        readonly_rootfs: Some(true),
        cap_drop: Some(vec!["ALL".into()]),
        security_opt: Some(vec!["no-new-privileges".into()]),
        memory: Some(memory),
        // As much as without swap: none of it.
        memory_swap: Some(memory),
        memory_swappiness: Some(0),
        oom_kill_disable: Some(false),
        nano_cpus: Some(i64::from(*millicpus) * 1_000_000),
        // Process 1 and those that stand over commands are among them.
        pids_limit: Some(limits.processes.into()),
        // Process 1 needs some itself; programs get what is set.
        ulimits: Some(vec![ulimit("nofile", i64::from(limits.open_files).max(OWN_FILES)), ulimit("core", 1)]),
        shm_size: Some(SHARED_MEMORY.min(memory / 4)),
        tmpfs: Some(temporary(limits.temporary, &parts.image.volumes)),
        mounts: Some(vec![
            mount(parts.workspace, WORKSPACE, *access == Access::ReadOnly),
            mount(parts.folder, FOLDER, true),
        ]),
        // Output does not pass through the engine, and nothing else is worth keeping.
        log_config: Some(HostConfigLogConfig { typ: Some("none".into()), config: None }),
        restart_policy: Some(RestartPolicy { name: Some(RestartPolicyNameEnum::NO), maximum_retry_count: None }),
        // When the gateway dies, process 1 ends, and nothing is left.
        auto_remove: Some(true),
        init: Some(false),
        ..HostConfig::default()
    }
}

fn mount(source: &str, target: &str, read_only: bool) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(source.into()),
        target: Some(target.into()),
        read_only: Some(read_only),
        bind_options: Some(MountBindOptions {
            propagation: Some(MountBindOptionsPropagationEnum::RPRIVATE),
            ..MountBindOptions::default()
        }),
        ..Mount::default()
    }
}

/// The folder for temporary files. Volumes that the image declares would be writable and without a bound, so they are empty.
fn temporary(bytes: u64, volumes: &[String]) -> HashMap<String, String> {
    let ours = ["/tmp", WORKSPACE, FOLDER];
    let sealed = volumes.iter().filter(|path| !ours.contains(&path.trim_end_matches('/')));
    let sealed = sealed.map(|path| (path.clone(), "ro,nosuid,nodev,noexec,size=4k".to_owned()));
    let tmp = ("/tmp".to_owned(), format!("rw,nosuid,nodev,noexec,size={bytes},mode=1777"));
    sealed.chain([tmp]).collect()
}

fn ulimit(name: &str, value: i64) -> ResourcesUlimits {
    ResourcesUlimits { name: Some(name.into()), soft: Some(value), hard: Some(value) }
}
