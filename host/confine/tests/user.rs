//! The same walls where the gateway is an ordinary user. Run as root, the test starts itself again as one.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;

use caisson_confine::{Confiner, Demand, Ending, HostId, Network, Stub, open_workspace};
use common::{LONG, err, out, shell};

/// A user that owns nothing on any machine.
const SOMEBODY: u32 = 1_900_000_001;
const STUB: &str = "CAISSON_CONFINE_TEST_STUB";

#[tokio::test]
async fn an_ordinary_user_has_the_same_walls() {
    if rustix::process::geteuid().is_root() {
        return again_as_somebody();
    }
    let stub = std::env::var_os(STUB).unwrap_or_else(|| env!("CARGO_BIN_EXE_caisson-confine").into());
    let data = tempfile::tempdir().unwrap();
    let workspace = data.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    std::fs::write(data.path().join("key"), "secret").unwrap();
    let confiner =
        Confiner::open(Stub::open(Path::new(&stub)).unwrap(), Demand::default(), HostId::default(), &workspace)
            .await
            .unwrap();
    assert!(!confiner.given().as_root);
    let directory = open_workspace(&workspace).unwrap();
    let denied = format!(
        "cat {0}/key; cat /etc/shadow; ls /root; ls /proc/1/fd/; echo x > /etc/passwd; unshare -U true; mount -t tmpfs x /tmp; chmod 4755 made; su -c id",
        data.path().display()
    );
    for attempt in denied.split(';') {
        let running =
            confiner.spawn(shell(&format!("touch made; {attempt} </dev/null")), directory.as_fd()).await.unwrap();
        let ran = running.capture(Vec::new(), LONG).await;
        assert!(matches!(ran.ending, Ending::Exited(code) if code != 0), "{attempt}: {ran:?}");
    }
    let mut plan = shell("id -u; grep -h Cap /proc/self/status | tr -d '\\n\\t'; ls -A; (setsid sleep 1000 &)");
    plan.network = Network::Proxy { port: 3128 };
    let ran = confiner.spawn(plan, directory.as_fd()).await.unwrap().capture(Vec::new(), LONG).await;
    let zero = "0000000000000000";
    let caps = ["Inh", "Prm", "Eff", "Bnd", "Amb"].map(|set| format!("Cap{set}:{zero}")).concat();
    assert_eq!((ran.ending, out(&ran)), (Ending::Exited(0), format!("1000\n{caps}made\n")), "{}", err(&ran));
    assert_eq!(workspace.join("made").metadata().unwrap().uid(), rustix::process::geteuid().as_raw());
    // Without control groups, limits of the namespace's own user bound processes, and of each process memory.
    let mut many = shell("for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done");
    many.limits.processes = 5;
    let ran = confiner.spawn(many, directory.as_fd()).await.unwrap().capture(Vec::new(), LONG).await;
    assert!(err(&ran).contains("Cannot fork"), "{ran:?}");
    if !matches!(confiner.given().memory_group, caisson_confine::Answer::Yes) {
        let mut hog = shell("exec python3 -c 'bytearray(300 << 20)'");
        hog.limits.memory = 200 << 20;
        let ran = confiner.spawn(hog, directory.as_fd()).await.unwrap().capture(Vec::new(), LONG).await;
        assert!(err(&ran).contains("MemoryError"), "{ran:?}");
        let demand = Demand { memory_group: true, ..Demand::default() };
        let stub = Stub::open(Path::new(&stub)).unwrap();
        let lacking = Confiner::open(stub, demand, HostId::default(), &workspace).await.unwrap_err();
        assert!(lacking.how.contains("Delegate=yes"), "{lacking}");
    }
    // Another directory at the path of the one that was opened is not taken for it.
    std::fs::rename(&workspace, data.path().join("moved")).unwrap();
    let moved = confiner.spawn(shell("ls -A"), directory.as_fd()).await.unwrap().capture(Vec::new(), LONG).await;
    assert_eq!(out(&moved), "made\n");
}

fn again_as_somebody() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (stub, own) = (folder.path().join("caisson-confine"), folder.path().join("test"));
    std::fs::copy(env!("CARGO_BIN_EXE_caisson-confine"), &stub).unwrap();
    std::fs::copy(std::env::current_exe().unwrap(), &own).unwrap();
    let temporary = folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    chown(&temporary, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    let ran = std::process::Command::new(&own)
        .args(["--exact", "an_ordinary_user_has_the_same_walls", "--nocapture"])
        .env(STUB, &stub)
        .env("TMPDIR", &temporary)
        .current_dir("/")
        .uid(SOMEBODY)
        .gid(SOMEBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
}
