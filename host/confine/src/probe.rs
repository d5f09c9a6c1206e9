//! What the machine gives, found by trying: what a kernel's version or a setting says is not what a container, a security
//! module or a service manager lets through.

use std::process::Stdio;

use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::cgroup::Groups;
use crate::find::Stub;
use crate::given::{Answer, Given};

/// What usually stands in the way of a whole set-up whose parts all work.
pub const HOW: &str = "run the gateway as root or as an ordinary user of the host, not in a container without `CAP_SYS_ADMIN` and an unmasked `/proc`, \
                       with its workspaces on a file system that can translate owners (ext4, xfs, btrfs or tmpfs)";

/// What the stub found on its own.
#[derive(Debug, Serialize, Deserialize)]
pub struct Tried {
    pub namespaces: Vec<(String, Answer)>,
    pub landlock: u8,
    pub seccomp: Answer,
}

/// All but a whole run.
pub async fn without_a_run(stub: &Stub) -> (Given, Groups) {
    let output = Command::new(stub.program()).arg("--try").env_clear().stdin(Stdio::null()).output().await;
    let tried = output.ok().and_then(|output| serde_json::from_slice::<Tried>(&output.stdout).ok());
    let untried = || Answer::No { why: "the stub gave no answer".into(), how: "install it again".into() };
    let tried = tried.unwrap_or_else(|| Tried {
        namespaces: vec![("user".into(), untried())],
        landlock: 0,
        seccomp: untried(),
    });
    let (groups, memory_group, process_group) = Groups::find();
    let given = Given {
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        as_root: rustix::process::geteuid().is_root(),
        namespaces: tried.namespaces,
        landlock: tried.landlock,
        seccomp: tried.seccomp,
        confinement: untried(),
        memory_group,
        process_group,
    };
    (given, groups)
}
