//! `container_escape`: out of the sandbox.

use super::args::{PLAIN, Spec, one_of, only_help, operands, subcommand};
use super::{Look, Rule, places, steps};
use crate::shell::{Group, Span};

const GROUP: Group = Group::ContainerEscape;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "container_escape.engine_socket",
        group: GROUP,
        sentence: "a container engine's socket is the whole machine",
        programs: &[],
        matches: |look| look.names(|named| places::is_engine_socket(&named.path)),
        denies: &[
            "curl --unix-socket /var/run/docker.sock http://x.example.com/",
            "ls -l /var/run/docker.sock",
            "cat < /run/containerd/containerd.sock",
            "docker -H unix:///var/run/docker.sock ps",
            "chmod a /var/run/dock*.sock",
            "cp a/docker.sock b",
        ],
        allows: &[
            "grep docker.sock README.md",
            "echo /var/run/docker.sock",
            "ls docker",
            "git commit -m 'mount docker.sock'",
        ],
    },
    Rule {
        id: "container_escape.kernel_file",
        group: GROUP,
        sentence: "the file is a way into the kernel or other processes",
        programs: &[],
        matches: kernel_file,
        denies: &[
            "echo x > /proc/sys/kernel/core_pattern",
            "cat /proc/sys/kernel/core_pattern",
            "echo x > /sys/fs/cgroup/a/release_agent",
            "echo b > /proc/sysrq-trigger",
            "cat /proc/self/mem",
            "dd if=/proc/1/mem of=a",
            "ls /proc/1/root/",
            "cat /proc/kcore",
            "echo 1 > /proc/sys/net/ipv4/ip_forward",
            "tee /sys/kernel/uevent_helper < a",
            "cat /sys/kernel/debug/x",
            "cat /proc/*/mem",
            "echo 1 > /sys/class/net/eth0/mtu",
            "ls /proc/1/ns/mnt",
            "cat /dev/mem",
        ],
        allows: &[
            "cat /proc/cpuinfo",
            "cat /proc/meminfo",
            "cat /proc/self/status",
            "cat /sys/fs/cgroup/memory.max",
            "cat /sys/class/net/eth0/address",
            "echo /proc/self/mem",
            "cat /proc/sys/kernel/hostname",
            "ls mem",
        ],
    },
    Rule {
        id: "container_escape.kernel_tool",
        group: GROUP,
        sentence: "modules, kernel settings and devices are the operator's",
        programs: &[
            "modprobe",
            "insmod",
            "rmmod",
            "depmod",
            "sysctl",
            "bpftool",
            "bpftrace",
            "pivot_root",
            "mknod",
            "debugfs",
            "kexec",
            "dmsetup",
            "switch_root",
            "keyctl",
            "devmem",
            "devmem2",
        ],
        matches: kernel_tool,
        denies: &[
            "modprobe x",
            "insmod x.ko",
            "sysctl -w kernel.core_pattern=x",
            "sysctl kernel.core_pattern=x",
            "mknod x b 8 0",
            "mknod -m 666 x c 1 1",
            "pivot_root a b",
            "bpftool prog",
        ],
        allows: &["lsmod", "sysctl kernel.hostname", "sysctl -n kernel.osrelease", "modinfo x"],
    },
    Rule {
        id: "container_escape.engine",
        group: GROUP,
        sentence: "a container engine starts programs outside of this sandbox; run the program here",
        programs: &[
            "docker",
            "podman",
            "nerdctl",
            "ctr",
            "crictl",
            "runc",
            "crun",
            "lxc",
            "docker-compose",
            "podman-compose",
            "buildah",
            "finch",
            "kata-runtime",
            "incus",
            "lxd",
            "machinectl",
            "virsh",
            "vagrant",
            "multipass",
        ],
        matches: engine,
        denies: &[
            "docker run -v /:/host x",
            "docker run --privileged x",
            "docker exec a sh",
            "podman run x",
            "docker --context a run x",
            "docker compose up",
            "docker-compose run a",
            "ctr run x",
            "docker cp a:/x b",
            "docker container exec a ls",
            "docker start a",
            "docker $x",
        ],
        allows: &[
            "docker ps",
            "docker images",
            "docker logs a",
            "docker --version",
            "docker inspect a",
            "echo docker run",
            "docker compose ps",
            "docker build .",
        ],
    },
];

fn kernel_file(look: &Look<'_>) -> Option<Span> {
    look.names(|named| {
        let memory = ["/dev/mem", "/dev/kmem", "/dev/port"].iter().any(|device| steps::within(&named.path, device));
        memory || (places::is_kernel(&named.path) && (named.writes || !places::is_plain_sys(&named.path)))
    })
}

fn kernel_tool(look: &Look<'_>) -> Option<Span> {
    if only_help(look.args()) {
        return None;
    }
    match look.name {
        "sysctl" => look.args().iter().find(|word| {
            let text = word.prefix();
            text.contains('=')
                || matches!(text, "-w" | "--write" | "-p" | "--load" | "--system")
                || word.known().is_none()
        }),
        "mknod" => operands(look.args(), Spec { short: "mZ", long: &["mode", "context"] })
            .nth(1)
            .filter(|word| one_of(word, &["b", "c", "u"])),
        _ => return Some(look.program()),
    }
    .map(|word| word.span)
}

/// What an engine only shows, or makes without starting it.
const SHOWS: &[&str] = &[
    "ps", "images", "image", "ls", "list", "logs", "inspect", "version", "info", "stats", "top", "port", "diff",
    "history", "search", "system", "network", "volume", "events", "build", "tag", "pull", "login", "logout", "rm",
    "rmi", "stop", "kill", "wait", "help", "config", "context", "buildx", "builder", "manifest", "rename", "pause",
    "unpause", "df", "status", "push", "save", "down",
];

fn engine(look: &Look<'_>) -> Option<Span> {
    let spec = Spec {
        short: "HcfpD",
        long: &[
            "host",
            "context",
            "config",
            "file",
            "project-name",
            "log-level",
            "namespace",
            "address",
            "project-directory",
            "profile",
            "connection",
        ],
    };
    let (mut word, mut rest) = subcommand(look.args(), spec)?;
    while one_of(word, &["container", "compose", "task", "tasks", "containers", "pod"]) && word.known().is_some() {
        (word, rest) = subcommand(rest, spec)?;
    }
    let shown = word.known().is_some_and(|text| SHOWS.contains(&text));
    // `docker volume create`, `docker system dial-stdio`: the second word says what is done.
    let inner = word.known() == Some("system")
        && operands(rest, PLAIN).next().is_some_and(|word| one_of(word, &["dial-stdio"]));
    (!shown || inner).then_some(word.span)
}
