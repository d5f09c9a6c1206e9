//! The names of programs that run their operands, and what is made of a program that is not among them.

use super::{Context, Scan};
use crate::shell::seen::{Unparsed, Word};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Programs that run their operands and have few options or none, so that an option that is not known is followed both ways.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    // Builtins, processes, terminals and sessions.
    "noglob", "nocorrect", "builtin", "coproc", "nohup", "daemonize", "daemon", "unbuffer", "rlwrap", "luit", "nq", "tsp",
    "chronic", "cronic", "ifne", "zrun", "run-one", "run-this-one", "keep-one-running", "run-one-constantly",
    "run-one-until-success", "run-one-until-failure", "annotate-output", "retry", "timelimit", "runalarm", "runlock",
    "runstat", "debconf", "debconf-apt-progress", "fstab-decode", "fghack", "pgrphack", "softlimit", "tini", "dumb-init",
    "catatonit", "with-contenv", "systemd-run", "systemd-inhibit", "systemd-cat", "systemd-socket-activate",
    "systemd-nspawn", "gnome-session-inhibit", "kde-inhibit", "dbus-run-session", "dbus-launch", "ssh-agent", "gpg-agent",
    "sshpass", "xvfb-run", "xinit", "startx", "vglrun", "optirun", "primusrun", "prime-run", "gamemoderun", "mangohud",
    "padsp", "aoss", "pasuspender", "kstart", "kstart5", "pg_virtualenv",
    // Scheduling and limits.
    "nocache", "cpulimit", "trickle", "prlimit", "setpriv", "choom", "coresched", "uclampset", "numactl", "schedtool",
    "eatmydata", "linux32", "linux64", "uname26", "i386", "i486", "i586", "i686", "x86_64", "ppc32", "ppc64", "s390x",
    "armv7l", "aarch64", "setarch",
    // Tracing and debugging.
    "catchsegv", "memusage", "sotruss", "valgrind", "heaptrack", "ltrace", "xtrace", "latrace", "dtruss", "operf", "ocount",
    "not", "ef", "duma", "sysprof-cli",
    // Sandboxes, roots and networks.
    "busybox", "toybox", "fakeroot", "fakeroot-sysv", "fakeroot-tcp", "fakeroot-ng", "pseudo", "fakechroot", "proot",
    "bwrap", "firejail", "nsjail", "minijail0", "isolate", "aa-exec", "runcon", "sandbox", "flatpak-spawn",
    "distrobox-enter", "ch-run", "junest", "lxc-execute", "torsocks", "torify", "tsocks", "socksify", "usewithtor",
    "graftcp", "proxychains", "proxychains4", "wine", "wine64", "mono", "box64", "box86",
    // Building.
    "ccache", "distcc", "sccache", "icecc", "colorgcc", "scan-build", "bear", "intercept-build", "compiledb", "checkinstall",
    "dpkg-architecture", "libtool", "msgexec", "msgfilter", "entr", "npx", "bunx", "mpirun", "mpiexec", "orterun", "srun",
];

/// Programs that run what stands behind their first operand.
#[rustfmt::skip]
const SKIP_ONE: &[&str] = &[
    "faketime", "datefudge", "su-exec", "gosu", "setuidgid", "envdir", "envuidgid", "taskset", "chrt", "repeat",
    "setlock", "lckdo", "lockf", "with-lock-ex", "s6-setuidgid", "s6-envdir", "s6-setlock", "switch_root", "gdbserver",
    "dtach", "abduco",
];

/// Whether a program runs its operands; the number of operands that stand before them.
pub(super) fn runs_operands(name: &str) -> Option<usize> {
    if SKIP_ONE.contains(&name) {
        return Some(1);
    }
    // Programs of a toolchain have its version behind their name: `not-14`.
    let bare = name.trim_end_matches(|end: char| end.is_ascii_digit() || matches!(end, '-' | '.'));
    (PLAIN.contains(&name) || bare == "not" || is_loader(name) || is_emulator(name)).then_some(0)
}

/// The dynamic loader, which starts the program that it is given.
fn is_loader(name: &str) -> bool {
    name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so"
}

/// `qemu-x86_64`, `qemu-aarch64-static`: one program on another processor; `qemu-img` and whole machines are none.
fn is_emulator(name: &str) -> bool {
    name.strip_prefix("qemu-").is_some_and(|machine| {
        ["x86_64", "i386", "arm", "aarch64", "riscv", "ppc", "mips", "s390x", "sparc", "alpha"]
            .iter()
            .any(|start| machine.starts_with(start))
    })
}

/// Names that nobody uses for anything but these programs, each of which some rule denies with some arguments.
#[rustfmt::skip]
const UNMISTAKABLE: &[&str] = &[
    "rm", "shred", "truncate", "mkfs", "wipefs", "fdisk", "parted", "rmdir", "sh", "bash", "dash", "zsh", "ksh", "busybox",
    "sudo", "su", "doas", "pkexec", "chroot", "nsenter", "unshare", "setpriv", "curl", "wget", "nc", "ncat", "netcat",
    "socat", "nmap", "scp", "sftp", "rsync", "telnet", "chmod", "chown", "chgrp", "chattr", "setfacl", "mount", "umount",
    "insmod", "modprobe", "rmmod", "crontab", "systemctl", "killall", "pkill", "shutdown", "reboot", "poweroff", "usermod",
    "useradd", "passwd", "visudo", "xargs", "env", "find", "tee", "dd", "cp", "mv", "ln", "sed", "awk", "perl", "ruby",
    "python", "python2", "python3", "pip3", "apt-get", "xmrig", "iptables", "eval",
];

/// Programs of every day that run nothing of what they are told, whatever it is called: their operands are text, files or
/// subcommands of their own.
#[rustfmt::skip]
const OWN_WORDS: &[&str] = &[
    // Text, files and documentation.
    "echo", "printf", "print", "cat", "tac", "ls", "dir", "stat", "test", "[", "wc", "head", "tail", "cut", "paste", "join",
    "sort", "uniq", "tr", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "look", "nl", "od", "xxd", "diff",
    "cmp", "comm", "basename", "dirname", "realpath", "readlink", "file", "touch", "mkdir", "seq", "expr", "true", "false",
    ":", "which", "whereis", "type", "hash", "man", "tldr", "cheat", "info", "help", "whatis", "apropos", "howdoi", "cd",
    "pushd", "popd", "read", "set", "unset", "export", "declare", "local", "alias", "unalias", "shift", "return", "exit",
    "trap", "wait", "jobs", "fg", "bg", "cowsay", "figlet", "banner", "espeak", "say", "logger", "notify-send", "jq", "yq",
    "tar", "zip", "unzip", "gzip", "gunzip", "xz", "zstd", "7z", "tree", "exa", "eza", "lsd", "bat", "less", "more", "md5sum",
    "sha256sum", "sha1sum", "b2sum", "column", "fmt", "fold", "rev", "split", "csplit", "tee", "patch", "aspell", "hunspell",
    "codespell", "shellcheck", "shfmt", "dpkg-query", "apt-cache", "apt-file", "ps", "pgrep", "pidof", "top", "htop", "id",
    "groups", "getent", "du", "df", "lsof", "date", "cal", "sleep", "kill", "mktemp", "cksum", "strings", "nm", "ldd",
    "objdump", "readelf", "locate", "compgen", "complete", "command", "getopts", "let", "tput", "stty",
    // Version control, builds, tests, clouds: `rm` and `cp` are subcommands there, and a test may be called anything.
    "git", "hg", "svn", "jj", "bzr", "fossil", "darcs", "dvc", "gh", "glab", "hub", "tea", "make", "gmake", "ninja", "cmake",
    "meson", "bazel", "buck", "cargo", "go", "npm", "pnpm", "yarn", "bun", "deno", "node", "tsc", "eslint", "prettier",
    "biome", "jest", "vitest", "mocha", "ava", "playwright", "cypress", "pytest", "tox", "nox", "ruff", "black", "mypy",
    "pylint", "flake8", "pip", "pipx", "uv", "poetry", "mvn", "gradle", "sbt", "ant", "dotnet", "rake", "rspec", "bundle",
    "rails", "mix", "composer", "phpunit", "artisan", "docker", "podman", "nerdctl", "buildah", "skopeo", "kubectl", "helm",
    "oc", "minikube", "kind", "k3d", "terraform", "tofu", "pulumi", "ansible", "vagrant", "aws", "gcloud", "gsutil", "az",
    "doctl", "fly", "flyctl", "heroku", "vercel", "netlify", "firebase", "supabase", "wrangler", "stripe", "ipfs", "rclone",
    "mc", "s3cmd", "restic", "borg", "op", "pass", "vault", "nix", "brew", "apt", "snap", "flatpak", "systemctl", "journalctl",
    "redis-cli", "mongo", "mongosh", "psql", "mysql", "sqlite3", "task", "todo", "just", "zellij", "chezmoi", "stow", "code",
    "cat-file", "claude", "gemini", "llm", "ollama",
];

/// Both lists for looking up, since every program of no table is asked for.
static NAMED: LazyLock<[HashSet<&str>; 2]> =
    LazyLock::new(|| [UNMISTAKABLE, OWN_WORDS].map(|names| names.iter().copied().collect()));

/// The most words in which a wrapped program is looked for.
const MOST_WORDS: usize = 8;

/// Options behind which a whole command may stand as one word.
const COMMAND_OPTIONS: &[&str] =
    &["-c", "-e", "-x", "--command", "--cmd", "--exec", "--execute", "--run", "--shell", "--eval"];

impl Scan {
    /// A program of which nothing is known may run what it is told. It is followed where its words name a program that
    /// nobody mentions by chance, with arguments: `memusage rm -rf a`. A script of the workspace is not: it may start what
    /// it likes anyway, and its words are its own.
    pub(super) fn guess(&mut self, name: &str, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let program = self.invocations.get(index).and_then(|one| one.program.as_ref());
        let of_system = program.and_then(Word::known).is_none_or(|text| {
            !text.contains('/') || ["/usr/", "/bin/", "/sbin/", "/opt/"].iter().any(|folder| text.starts_with(folder))
        });
        let [unmistakable, own_words] = &*NAMED;
        if !of_system
            || name.starts_with('-')
            || own_words.contains(name)
            || crate::shell::rules::is_known(&crate::shell::rules::known_as(name))
        {
            return Ok(());
        }
        let near = args.get(..args.len().min(MOST_WORDS)).unwrap_or_default();
        let is_program = |word: &Word| {
            word.known()
                .and(word.basename())
                .is_some_and(|name| unmistakable.contains(name) || name.starts_with("mkfs."))
        };
        if let Some(at) = near.iter().position(is_program)
            && args.len() > at + 1
        {
            return self.prefixed(index, args, at, false, cx);
        }
        for pair in near.windows(2) {
            let [option, text] = pair else { continue };
            let gives_command = option.known().is_some_and(|option| COMMAND_OPTIONS.contains(&option));
            let first = text.known().and_then(|text| text.split_once(' ')).map(|(first, _)| first);
            if gives_command && first.is_some_and(|first| unmistakable.contains(first)) {
                return self.shell_code(index, text.clone(), self.dialect, self.stdin_of(index), cx);
            }
        }
        Ok(())
    }
}
