//! The places that matter to rules.

use super::steps::{ANY, ONE, RUN, has_steps, is_plain, last_is, last_step, says, step_may_be, within};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Folders of the system. `/var/tmp`, `/tmp` and the harmless devices are not among them.
const SYSTEM: &[&str] = &[
    "/etc",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/boot",
    "/root",
    "/dev",
    "/proc",
    "/sys",
    "/run",
    "/var/spool",
    "/var/lib",
    "/var/run",
    "/var/log",
    "/var/www",
    "/var/cache",
    "/opt",
    "/srv",
    "/System",
    "/Library",
    "/private/etc",
    "/Applications",
];

/// Devices that everybody may write to.
const HARMLESS: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/fd",
    "/dev/shm",
    "/dev/pts",
    "/proc/self/fd",
];

/// Names of files that a shell, a session, git or an interpreter runs by itself.
const STARTUP_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".xprofile",
    ".inputrc",
    ".pam_environment",
    ".envrc",
    ".direnvrc",
    ".vimrc",
    ".exrc",
    ".gdbinit",
    ".forward",
    ".gitconfig",
    ".hgrc",
    ".lldbinit",
    ".pdbrc",
    ".irbrc",
    ".pryrc",
    ".Rprofile",
    ".perldb",
    ".psqlrc",
    ".sqliterc",
    ".wgetrc",
    ".curlrc",
    ".mailcap",
    ".screenrc",
    ".tmux.conf",
    ".emacs",
    "authorized_keys",
    "authorized_keys2",
    "sitecustomize.py",
    "usercustomize.py",
    "rc.local",
    "ld.so.preload",
    "crontab",
    "sudoers",
];

/// Steps that lead to such files.
const STARTUP_STEPS: &[&str] = &[
    ".git/hooks",
    ".husky",
    ".githooks",
    ".git-templates",
    ".vim/plugin",
    ".vim/autoload",
    ".config/nvim",
    ".ipython/profile_default",
    ".ssh/rc",
    ".ssh/config",
    ".ssh/environment",
    ".git/config",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".config/git",
    ".config/environment.d",
    ".local/share/systemd",
    "Library/LaunchAgents",
    "Library/LaunchDaemons",
    ".profile.d",
    "profile.d",
    "cron.d",
    "cron.daily",
    "cron.hourly",
    "cron.weekly",
    "cron.monthly",
    "spool/cron",
    "etc/systemd",
    "etc/init.d",
    "etc/xdg/autostart",
    "systemd/system",
    "systemd/user",
];

/// Names of files that hold keys or passwords.
const SECRET_FILES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    ".netrc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".htpasswd",
    "shadow-",
    "gshadow",
];

/// Places where all that there is, is secret.
const SECRET_PLACES: &[&str] = &[
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/root",
    "/run/secrets",
    "/var/run/secrets",
];

/// Steps that lead to secrets.
const SECRET_STEPS: &[&str] = &[
    "etc/shadow",
    ".aws/credentials",
    ".docker/config.json",
    ".kube/config",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".gnupg",
    ".password-store",
    ".ssh",
];

/// The sockets of container engines.
const SOCKETS: &[&str] = &[
    "docker.sock",
    "containerd.sock",
    "crio.sock",
    "podman.sock",
    "buildkitd.sock",
    "dockershim.sock",
    "docker_engine",
];

/// Files by which a kernel starts programs.
const KERNEL_FILES: &[&str] = &["release_agent", "core_pattern"];

/// The first steps, or names, of every place above: what has none of them is no rule's business.
static STEPS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    [SYSTEM, STARTUP_FILES, STARTUP_STEPS, SECRET_FILES, SECRET_PLACES, SECRET_STEPS, SOCKETS, KERNEL_FILES]
        .into_iter()
        .flatten()
        .filter_map(|place| place.trim_start_matches('/').split('/').next())
        .collect()
});

/// Whether any rule about paths has anything to say about this one; most words are none that has.
pub(crate) fn is_notable(path: &str) -> bool {
    !is_plain(path)
        || path == "/"
        || path.contains('\\')
        || path.get(1..2) == Some(":")
        || path.split('/').any(|step| STEPS.contains(step))
}

/// Whether a path belongs to the system.
pub(crate) fn is_system(path: &str) -> bool {
    let of_system =
        || SYSTEM.iter().any(|place| within(path, place)) && !HARMLESS.iter().any(|place| within(path, place));
    // `/$x` may be any of them.
    path == "/"
        || path.strip_prefix('/').is_some_and(|rest| rest.starts_with(ANY))
        || (path.starts_with('/') && of_system())
        || is_windows_system(path)
}

fn is_windows_system(path: &str) -> bool {
    let Some(rest) = path.get(1..).and_then(|rest| rest.strip_prefix(':')) else { return false };
    let rest = rest.trim_start_matches(['\\', '/']).to_ascii_lowercase();
    ["windows", "program files", "programdata"].iter().any(|name| rest.starts_with(name))
}

/// Whether a path is a disk, or the machine's memory.
pub(crate) fn is_disk(path: &str) -> bool {
    let Some(device) = path.strip_prefix("/dev/") else { return false };
    let names = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "md", "loop", "mapper/", "mem", "kmem",
        "port", "nbd", "zram", "ram", "sr", "sg", "bsg", "nvram", "mtd", "rbd", "dasd", "block/",
    ];
    names.iter().any(|name| device.starts_with(name)) || device.starts_with([RUN, ONE])
}

/// Files that a shell, a session, git or an interpreter runs by itself.
pub(crate) fn is_startup(path: &str) -> bool {
    last_is(path, STARTUP_FILES) || STARTUP_STEPS.iter().any(|steps| has_steps(path, steps))
}

/// Files that hold keys or passwords of the system, or of whoever it belongs to.
pub(crate) fn is_secret(path: &str) -> bool {
    // What is public in `.ssh` is read by everybody.
    let public =
        last_step(path).ends_with(".pub") || matches!(last_step(path), "known_hosts" | "config" | "authorized_keys");
    last_is(path, SECRET_FILES)
        || SECRET_PLACES.iter().any(|place| within(path, place))
        || SECRET_STEPS.iter().any(|steps| has_steps(path, steps) && !(public && *steps == ".ssh"))
}

/// A process's environment.
pub(crate) fn is_environ(path: &str) -> bool {
    let mut steps = path.split('/').filter(|step| !step.is_empty());
    steps.next().is_some_and(|first| step_may_be(first, "proc"))
        && steps.count() >= 2
        && step_may_be(last_step(path), "environ")
}

/// A way into other processes or the kernel.
pub(crate) fn is_kernel(path: &str) -> bool {
    let Some(first) = path.strip_prefix('/').and_then(|rest| rest.split('/').next()) else { return false };
    if step_may_be(first, "proc") {
        // A lone `*` there is a process.
        let second = path.split('/').nth(2).unwrap_or_default();
        return says(second, 2) && (within(path, "/proc/sysrq-trigger") || within(path, "/proc/kcore"))
            || says(second, 2) && within(path, "/proc/sys") && !PLAIN_PROC.contains(&path)
            || last_is(path, &["mem"]) && path.matches('/').count() >= 3
            || ["root", "ns", "map_files"].iter().any(|name| has_steps(path, &format!("proc/*/{name}")));
    }
    if step_may_be(first, "sys") {
        return ["kernel", "fs", "class", "devices", "firmware", "module"]
            .iter()
            .any(|name| within(path, &format!("/sys/{name}")));
    }
    last_is(path, KERNEL_FILES)
}

/// Settings of the kernel that everybody reads.
const PLAIN_PROC: &[&str] = &[
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ostype",
    "/proc/sys/kernel/version",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/random/uuid",
    "/proc/sys/fs/file-max",
    "/proc/sys/net/core/somaxconn",
];

/// What everybody reads of `/sys`: limits, interfaces, sensors.
pub(crate) fn is_plain_sys(path: &str) -> bool {
    ["/sys/fs/cgroup", "/sys/class/net", "/sys/class/thermal", "/sys/class/power_supply", "/sys/devices/system/cpu"]
        .iter()
        .any(|place| {
            path.starts_with(place)
                && path.get(place.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
        && !path.contains([RUN, ANY])
        && !last_is(path, &["release_agent", "notify_on_release", "devices.allow", "uevent_helper"])
}

/// The socket of a container engine.
pub(crate) fn is_engine_socket(path: &str) -> bool {
    last_is(path, SOCKETS)
}

/// The shell's own network files.
pub(crate) fn is_shell_network(path: &str) -> bool {
    within(path, "/dev/tcp") || within(path, "/dev/udp")
}
