//! Where the gateway is an ordinary user who may speak to the engine. Run as root, the test starts itself again as one.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::Permissions;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use caisson_confine::{Ending, open_workspace};
use caisson_docker::{BoxError, Config, Containers, Sandbox};
use common::{Engine, LONG, done, key, shell};

/// A user that owns nothing on any machine.
const SOMEBODY: u32 = 1_900_000_001;
const SOCKET: &str = "CAISSON_DOCKER_TEST_SOCKET";

#[tokio::test]
async fn an_ordinary_user_has_the_same_walls() {
    match std::env::var_os(SOCKET) {
        Some(socket) => as_somebody(socket.into()).await,
        None => again_as_somebody(),
    }
}

async fn as_somebody(socket: PathBuf) {
    let data = tempfile::tempdir().unwrap();
    let workspace = data.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let containers = Containers::new(Config { socket, ..Config::new("somebody", data.path().join("containers")) });
    let sandbox = Sandbox::new(common::IMAGE).unwrap();
    let run = async |text: &str| {
        let workspace = open_workspace(&workspace).unwrap();
        let running = containers.spawn(&key("tenant"), &sandbox, shell(text, &sandbox), workspace.as_fd()).await;
        done(running.unwrap(), LONG).await
    };
    let walls = run("touch made; id -u; grep -c 'Cap.*0000000000000000' /proc/self/status").await;
    assert_eq!((walls.ending, walls.out), (Ending::Exited(0), format!("{SOMEBODY}\n5\n")));
    for text in ["chmod 4755 made", "echo x > /x", "nc -w 1 127.0.0.1 1", "ls /proc/1/fd", "mount -t tmpfs x /mnt"] {
        assert!(matches!(run(text).await.ending, Ending::Exited(code) if code != 0), "{text}");
    }
    assert_eq!(workspace.join("made").metadata().unwrap().uid(), SOMEBODY);
    // Somebody else's: root's is never run as root, and one that cannot be written to is no workspace.
    let roots = open_workspace(Path::new("/usr")).unwrap();
    let refused = containers.spawn(&key("tenant"), &sandbox, shell("true", &sandbox), roots.as_fd()).await.unwrap_err();
    assert!(matches!(refused, BoxError::Workspace { .. }), "{refused}");
    containers.close().await;
}

fn again_as_somebody() {
    let Some(engine) = Engine::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    for open in [engine.folder.path(), folder.path()] {
        std::fs::set_permissions(open, Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::set_permissions(engine.socket(), Permissions::from_mode(0o666)).unwrap();
    let (own, temporary) = (folder.path().join("test"), folder.path().join("tmp"));
    std::fs::copy(std::env::current_exe().unwrap(), &own).unwrap();
    std::fs::create_dir(&temporary).unwrap();
    chown(&temporary, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    let ran = std::process::Command::new(&own)
        .args(["--exact", "an_ordinary_user_has_the_same_walls", "--nocapture"])
        .env(SOCKET, engine.socket())
        .env("TMPDIR", &temporary)
        .current_dir("/")
        .uid(SOMEBODY)
        .gid(SOMEBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
}
