//! Paths: what a word may name, resolved by text alone, and which places matter to rules.
//!
//! Parts that are not known are kept in the text as marks from Unicode's private use area, so that one comparison serves
//! plain and partly known paths. What a word holds of these characters itself is read as a pattern too, which denies more.

use crate::shell::{Piece, Value, Why, Word};
use std::borrow::Cow;

/// Any run of characters within a step: `*`.
const RUN: char = '\u{f8f0}';
/// Any one character: `?`, `[…]`.
const ONE: char = '\u{f8f1}';
/// A value that is not known.
const ANY: char = '\u{f8f2}';

/// The path that a word may be, with marks for what is not known. `$HOME` reads as `~`, `$PWD` as the workspace.
pub(crate) fn text_of<'w>(word: &'w Word, workspace: &str) -> Cow<'w, str> {
    let pieces = match &word.value {
        Value::Known(text) => return Cow::Borrowed(text),
        Value::Partial(pieces) => pieces,
    };
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Glob(pattern) => push_pattern(&mut text, pattern),
            Piece::Unknown { why: Why::Tilde(part), .. } => text.push_str(part),
            Piece::Unknown { why: Why::Variable(name), .. } if name == "HOME" && text.is_empty() => text.push('~'),
            Piece::Unknown { why: Why::Variable(name), .. } if name == "PWD" && text.is_empty() => {
                text.push_str(workspace);
            }
            Piece::Unknown { why: Why::Variable(name), .. } if NUMBERS.contains(&name.as_str()) => text.push(RUN),
            Piece::Unknown { why: Why::Arithmetic, .. } => text.push(RUN),
            Piece::Unknown { .. } => text.push(ANY),
        }
    }
    Cow::Owned(text)
}

/// Variables that hold a number.
const NUMBERS: &[&str] = &["$", "!", "?", "#", "PPID", "BASHPID", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "SHLVL"];

fn push_pattern(text: &mut String, pattern: &str) {
    let mut rest = pattern.chars();
    while let Some(next) = rest.next() {
        match next {
            '*' => text.push(RUN),
            '?' => text.push(ONE),
            '[' => {
                // A class is one character, whatever it lists; one without an end is itself.
                match rest.as_str().get(1..).and_then(|inner| inner.find(']')) {
                    Some(end) => {
                        let after = rest.as_str().get(end + 2..).unwrap_or_default();
                        rest = after.chars();
                        text.push(ONE);
                    }
                    None => text.push('['),
                }
            }
            other => text.push(other),
        }
    }
}

/// The path without `.`, `..` and empty steps, absolute where `base` is. `~` stays as the first step.
pub(crate) fn resolve(path: &str, base: &str) -> String {
    let rooted = path.starts_with('/') || path.starts_with('~');
    let mut steps: Vec<&str> = Vec::new();
    let whole = if rooted { "" } else { base };
    for step in whole.split('/').chain(path.split('/')) {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            _ => steps.push(step),
        }
    }
    let mut text = String::with_capacity(path.len() + whole.len() + 1);
    for step in steps {
        if !(text.is_empty() && step.starts_with('~')) {
            text.push('/');
        }
        text.push_str(step);
    }
    if text.is_empty() { "/".to_owned() } else { text }
}

/// Whether a step may be this name.
pub(crate) fn step_may_be(step: &str, name: &str) -> bool {
    if !step.contains([RUN, ONE, ANY]) {
        return step == name;
    }
    // A value of which nothing is known names nothing; a lone `*` does not name what begins with a dot.
    if step.chars().all(|c| c == ANY) || (name.starts_with('.') && step.starts_with([RUN, ONE])) {
        return false;
    }
    pattern_matches(step, name)
}

/// Greedy matching with one point to return to: the product of both lengths at worst, and names are short.
fn pattern_matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    let mut back: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mut ahead = pattern.clone();
        match (ahead.next(), name.clone().next()) {
            (Some(RUN | ANY), _) => {
                pattern = ahead;
                back = Some((pattern.clone(), name.clone()));
                continue;
            }
            (Some(ONE), Some(_)) => {
                pattern = ahead;
                name.next();
                continue;
            }
            (Some(p), Some(n)) if p == n => {
                pattern = ahead;
                name.next();
                continue;
            }
            (None, None) => return true,
            _ => {}
        }
        let Some((after, mut from)) = back.take() else { return false };
        if from.next().is_none() {
            return false;
        }
        pattern = after.clone();
        name = from.clone();
        back = Some((after, from));
    }
}

/// Whether a path may be this one or lie below it. Both absolute, or both from `~`. A step of which nothing is known is
/// taken for another one; see [`may_be_within`].
pub(crate) fn within(path: &str, place: &str) -> bool {
    lies(path, place, false)
}

/// As [`within`], with a step of which nothing is known taken for any number of any steps.
pub(crate) fn may_be_within(path: &str, place: &str) -> bool {
    lies(path, place, true)
}

fn lies(path: &str, place: &str, any: bool) -> bool {
    if path.starts_with('/') != place.starts_with('/') {
        return false;
    }
    let mut steps = path.split('/').filter(|step| !step.is_empty());
    for wanted in place.split('/').filter(|step| !step.is_empty()) {
        match steps.next() {
            Some(step) if step_may_be(step, wanted) => {}
            // A value that is not known may hold slashes, so anything may follow.
            Some(step) if any && step.contains(ANY) => {
                return wanted.starts_with(step.split(ANY).next().unwrap_or_default());
            }
            _ => return false,
        }
    }
    true
}

/// Whether a step says at least so many letters itself, or has no pattern.
fn says(step: &str, least: usize) -> bool {
    !step.contains([RUN, ONE, ANY]) || step.chars().filter(|c| !matches!(*c, RUN | ONE | ANY)).count() >= least
}

/// Whether steps occur in a path, in this order and side by side; `*` is any step.
pub(crate) fn has_steps(path: &str, wanted: &[&str]) -> bool {
    let mut start = path;
    loop {
        let mut steps = start.split('/');
        let fits = wanted
            .iter()
            .all(|name| steps.next().is_some_and(|step| *name == "*" || (says(step, 2) && step_may_be(step, name))));
        if fits {
            return true;
        }
        match start.split_once('/') {
            Some((_, rest)) => start = rest,
            None => return false,
        }
    }
}

/// The last step.
pub(crate) fn last_step(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Whether the last step may be one of these. A pattern must say three letters of the name, or every `*` would be a key.
fn last_is(path: &str, names: &[&str]) -> bool {
    let last = last_step(path);
    says(last, 3) && names.iter().any(|name| step_may_be(last, name))
}

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

/// Whether a path belongs to the system.
pub(crate) fn is_system(path: &str) -> bool {
    path == "/"
        || path.starts_with(['/', ANY]) && path.get(1..).is_some_and(|rest| rest.starts_with(ANY))
        || (path.starts_with('/')
            && SYSTEM.iter().any(|place| within(path, place))
            && !HARMLESS.iter().any(|place| within(path, place)))
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
        "port",
    ];
    names.iter().any(|name| device.starts_with(name)) || device.starts_with([RUN, ONE])
}

/// Files that a shell, a session, git or an interpreter runs by itself.
pub(crate) fn is_startup(path: &str) -> bool {
    last_is(
        path,
        &[
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
            "authorized_keys",
            "authorized_keys2",
            "sitecustomize.py",
            "usercustomize.py",
            "rc.local",
            "ld.so.preload",
            "crontab",
            "sudoers",
        ],
    ) || [
        &[".git", "hooks"][..],
        &[".ssh", "rc"],
        &[".ssh", "config"],
        &[".ssh", "environment"],
        &[".git", "config"],
        &[".config", "fish"],
        &[".config", "autostart"],
        &[".config", "systemd"],
        &[".config", "git"],
        &[".config", "environment.d"],
        &[".local", "share", "systemd"],
        &["Library", "LaunchAgents"],
        &["Library", "LaunchDaemons"],
        &[".profile.d"],
        &["profile.d"],
        &["cron.d"],
        &["cron.daily"],
        &["cron.hourly"],
        &["cron.weekly"],
        &["cron.monthly"],
        &["spool", "cron"],
        &["etc", "systemd"],
        &["etc", "init.d"],
        &["etc", "xdg", "autostart"],
        &["systemd", "system"],
    ]
    .iter()
    .any(|steps| has_steps(path, steps))
}

/// Files that hold keys or passwords of the system, or of whoever it belongs to.
pub(crate) fn is_secret(path: &str) -> bool {
    let keys = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"];
    let files = [".netrc", ".git-credentials", ".pgpass", ".my.cnf", ".vault-token", ".htpasswd", "shadow-", "gshadow"];
    last_is(path, &keys)
        || last_is(path, &files)
        || [
            "/etc/shadow",
            "/etc/gshadow",
            "/etc/sudoers",
            "/etc/sudoers.d",
            "/etc/ssl/private",
            "/root",
            "/run/secrets",
        ]
        .iter()
        .any(|place| within(path, place))
        || within(path, "/var/run/secrets")
        || [
            &["etc", "shadow"][..],
            &[".aws", "credentials"],
            &[".docker", "config.json"],
            &[".kube", "config"],
            &[".config", "gcloud"],
            &[".config", "gh", "hosts.yml"],
            &[".gnupg"],
            &[".password-store"],
        ]
        .iter()
        .any(|steps| has_steps(path, steps))
        || is_ssh_key(path)
}

/// Everything in `.ssh` but what is public.
fn is_ssh_key(path: &str) -> bool {
    has_steps(path, &[".ssh"])
        && !last_step(path).ends_with(".pub")
        && !matches!(last_step(path), "known_hosts" | "config" | "authorized_keys")
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
            || says(second, 2) && within(path, "/proc/sys") && !PLAIN_PROC.iter().any(|plain| path == *plain)
            || last_is(path, &["mem"]) && path.matches('/').count() >= 3
            || ["root", "ns", "map_files"].iter().any(|name| has_steps(path, &["proc", "*", name]));
    }
    if step_may_be(first, "sys") {
        return ["kernel", "fs", "class", "devices", "firmware", "module"]
            .iter()
            .any(|name| within(path, &format!("/sys/{name}")));
    }
    last_is(path, &["release_agent", "core_pattern"])
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
    last_is(
        path,
        &[
            "docker.sock",
            "containerd.sock",
            "crio.sock",
            "podman.sock",
            "buildkitd.sock",
            "dockershim.sock",
            "docker_engine",
        ],
    )
}

/// The shell's own network files.
pub(crate) fn is_shell_network(path: &str) -> bool {
    within(path, "/dev/tcp") || within(path, "/dev/udp")
}
