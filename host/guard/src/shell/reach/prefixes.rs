//! Programs whose operands are another program and its arguments.

use super::options::Options;

/// How such a program is called.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prefix {
    /// Its options.
    pub(super) options: Options,
    /// How many operands stand before the program.
    pub(super) skip: usize,
    /// Whether `NAME=value` may stand before the program.
    pub(super) assigns: bool,
}

/// Wrappers that have few options or none, so that an option that is not known is followed both ways.
const PLAIN: [&str; 53] = [
    "noglob",
    "nocorrect",
    "sshpass",
    "daemonize",
    "flatpak-spawn",
    "systemd-nspawn",
    "distrobox-enter",
    "nohup",
    "builtin",
    "busybox",
    "toybox",
    "coproc",
    "fakeroot",
    "eatmydata",
    "catchsegv",
    "unbuffer",
    "rlwrap",
    "torsocks",
    "torify",
    "tsocks",
    "proxychains",
    "proxychains4",
    "firejail",
    "bwrap",
    "proot",
    "xvfb-run",
    "dbus-run-session",
    "dbus-launch",
    "ssh-agent",
    "tini",
    "dumb-init",
    "catatonit",
    "nocache",
    "cpulimit",
    "trickle",
    "valgrind",
    "heaptrack",
    "prlimit",
    "setpriv",
    "systemd-run",
    "systemd-inhibit",
    "choom",
    "uclampset",
    "linux32",
    "linux64",
    "i386",
    "x86_64",
    "setarch",
    "entr",
    "ltrace",
    "numactl",
    "npx",
    "bunx",
];

/// Wrappers with one operand before the program.
const SKIP_ONE: [&str; 9] =
    ["faketime", "su-exec", "gosu", "setuidgid", "envdir", "envuidgid", "taskset", "chrt", "repeat"];

/// How a program that starts another one is called; none where it is no such program.
pub(super) fn prefix(name: &str) -> Option<Prefix> {
    let options = match name {
        "env" => Options {
            flags: "i0v",
            values: "uCaPS",
            long_flags: &[
                "ignore-environment",
                "null",
                "debug",
                "default-signal",
                "ignore-signal",
                "block-signal",
                "list-signal-handling",
            ],
            long_values: &["unset", "chdir", "split-string", "argv0"],
            ..Options::default()
        },
        "sudo" => Options {
            flags: "AbBEeHiKklNnPSsVv",
            values: "ugCcDhpRrTtUa",
            long_flags: &[
                "askpass",
                "background",
                "bell",
                "preserve-env",
                "edit",
                "set-home",
                "login",
                "remove-timestamp",
                "reset-timestamp",
                "list",
                "no-update",
                "non-interactive",
                "preserve-groups",
                "stdin",
                "shell",
                "version",
                "validate",
                "help",
            ],
            long_values: &[
                "user",
                "group",
                "close-from",
                "login-class",
                "chdir",
                "host",
                "prompt",
                "chroot",
                "role",
                "command-timeout",
                "type",
                "other-user",
                "auth-type",
            ],
            ..Options::default()
        },
        "doas" => Options { flags: "Lns", values: "uCa", ..Options::default() },
        "pkexec" => Options {
            long_flags: &["disable-internal-agent", "keep-cwd"],
            long_values: &["user"],
            ..Options::default()
        },
        "exec" => Options { flags: "cl", values: "a", ..Options::default() },
        "command" => Options { flags: "pvV", ..Options::default() },
        "nice" => Options { flags: "0123456789", values: "n", long_values: &["adjustment"], ..Options::default() },
        "ionice" => Options {
            flags: "t",
            values: "cnpPu",
            long_flags: &["ignore"],
            long_values: &["class", "classdata", "pid", "pgid", "uid"],
            ..Options::default()
        },
        "setsid" => Options { flags: "cfw", long_flags: &["ctty", "fork", "wait"], ..Options::default() },
        "stdbuf" => Options { values: "ioe", long_values: &["input", "output", "error"], ..Options::default() },
        "time" | "gtime" => Options {
            flags: "apvqlVh",
            values: "fo",
            long_flags: &["append", "portability", "verbose", "quiet"],
            long_values: &["format", "output"],
            ..Options::default()
        },
        "timeout" | "gtimeout" => Options {
            flags: "fpv",
            values: "ks",
            long_flags: &["foreground", "preserve-status", "verbose"],
            long_values: &["kill-after", "signal"],
            ..Options::default()
        },
        "chroot" => Options { long_flags: &["skip-chdir"], long_values: &["groups", "userspec"], ..Options::default() },
        "unshare" => Options {
            flags: "fcrT",
            values: "SGRwl",
            attached: "imnpuUC",
            long_flags: &[
                "mount",
                "uts",
                "ipc",
                "net",
                "pid",
                "user",
                "cgroup",
                "time",
                "fork",
                "map-root-user",
                "map-current-user",
                "map-auto",
                "kill-child",
                "mount-proc",
                "keep-caps",
                "mount-binfmt",
                "forward-signals",
            ],
            long_values: &[
                "map-user",
                "map-group",
                "map-users",
                "map-groups",
                "propagation",
                "setgroups",
                "setuid",
                "setgid",
                "root",
                "wd",
                "monotonic",
                "boottime",
                "owner",
                "load-interp",
            ],
        },
        "nsenter" => Options {
            flags: "aFceZ",
            values: "tSGN",
            attached: "muinpCUTrwW",
            long_flags: &[
                "all",
                "mount",
                "uts",
                "ipc",
                "net",
                "pid",
                "cgroup",
                "user",
                "time",
                "preserve-credentials",
                "keep-caps",
                "root",
                "wd",
                "wdns",
                "env",
                "no-fork",
                "follow-context",
                "user-parent",
                "join-cgroup",
            ],
            long_values: &["target", "setuid", "setgid", "net-socket"],
        },
        "flock" => Options {
            flags: "sxeunoFv",
            values: "wE",
            long_flags: &["shared", "exclusive", "unlock", "nonblock", "nb", "close", "no-fork", "verbose"],
            long_values: &["timeout", "wait", "conflict-exit-code"],
            ..Options::default()
        },
        "strace" => Options { flags: "cCdfFhikKnNqrtTvVwxyYzZ", values: "abeEIoOpPsSuUX", ..Options::default() },
        "caffeinate" => Options { flags: "disu", values: "tw", ..Options::default() },
        "cgexec" => Options { values: "g", ..Options::default() },
        "chpst" => Options { flags: "vP0123", values: "uUbe/nlLmdofpcrtC", ..Options::default() },
        _ if PLAIN.contains(&name) || SKIP_ONE.contains(&name) || is_loader(name) => Options::default(),
        _ => return None,
    };
    let skip = match name {
        "timeout" | "gtimeout" | "chroot" | "flock" => 1,
        _ => usize::from(SKIP_ONE.contains(&name)),
    };
    Some(Prefix { options, skip, assigns: matches!(name, "env" | "sudo" | "time") })
}

/// The dynamic loader, which starts the program that it is given.
fn is_loader(name: &str) -> bool {
    name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so"
}

/// Programs that run another one by a word of their own: the words before it.
pub(super) fn subcommand(name: &str) -> &'static [&'static [&'static str]] {
    match name {
        "uv" | "poetry" | "pipenv" | "pdm" | "hatch" | "rye" | "conda" | "mamba" | "micromamba" | "doppler" | "op"
        | "pixi" => &[&["run"], &["tool", "run"]],
        "bundle" | "rbenv" | "pyenv" | "asdf" | "mise" | "rtx" | "npm" | "pnpm" | "yarn" | "direnv" | "aws-vault"
        | "chamber" => &[&["exec"], &["x"], &["dlx"]],
        "perf" => &[&["stat"], &["record"], &["trace"]],
        "git" => &[&["bisect", "run"]],
        "ip" => &[&["netns", "exec"]],
        "toolbox" | "distrobox" => &[&["run"], &["enter"]],
        "nix" => &[&["develop", "-c"], &["develop", "--command"], &["shell", "-c"], &["run"]],
        "kubectl" | "oc" => &[&["exec"], &["run"], &["debug"]],
        "docker" | "podman" | "nerdctl" | "lxc" | "incus" | "lxc-attach" | "crictl" => &[
            &["exec"],
            &["run"],
            &["create"],
            &["container", "exec"],
            &["container", "run"],
            &["compose", "exec"],
            &["compose", "run"],
        ],
        _ => &[],
    }
}
