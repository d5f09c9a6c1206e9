use rustix::process::{WaitOptions, waitpid};

use super::sys::{self, Side};
use crate::given::Answer;
use crate::probe::Tried;

const KINDS: [(&str, i32); 7] = [
    ("user", libc::CLONE_NEWUSER),
    ("mount", libc::CLONE_NEWNS),
    ("pid", libc::CLONE_NEWPID),
    ("network", libc::CLONE_NEWNET),
    ("ipc", libc::CLONE_NEWIPC),
    ("uts", libc::CLONE_NEWUTS),
    ("cgroup", libc::CLONE_NEWCGROUP),
];

const NO_NAMESPACE: &str = "allow unprivileged user namespaces (`user.max_user_namespaces`, `kernel.unprivileged_userns_clone`, an AppArmor \
                            profile with `userns` for this program; in a container, its seccomp profile), or run the gateway as root";

/// Tries each part by itself.
pub fn run() -> Tried {
    let namespaces = KINDS.iter().map(|(name, flag)| ((*name).to_owned(), namespace(*flag))).collect();
    let seccomp = answer(sys::can_kill_by_filter(), "take a kernel with `CONFIG_SECCOMP_FILTER`");
    Tried { namespaces, landlock: sys::landlock_version(), seccomp }
}

fn namespace(flag: i32) -> Answer {
    let forked = sys::fork(libc::CLONE_NEWUSER | flag);
    answer(
        forked.map(|side| match side {
            Side::Parent(child) => drop(waitpid(Some(child), WaitOptions::empty())),
            Side::Child => sys::exit(0),
        }),
        NO_NAMESPACE,
    )
}

fn answer(result: std::io::Result<()>, how: &str) -> Answer {
    match result {
        Ok(()) => Answer::Yes,
        Err(error) => Answer::No { why: error.to_string().to_lowercase(), how: how.into() },
    }
}
