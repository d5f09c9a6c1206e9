//! How long containers live, against a real engine.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::os::fd::AsFd;
use std::time::Duration;

use caisson_confine::{Ending, open_workspace};
use caisson_docker::{BoxError, Config, Containers, Sandbox};
use common::{Bench, LONG, config, done, key, shell, until};

#[tokio::test]
async fn a_container_is_shared_by_nobody_else() {
    let Some(bench) = Bench::new() else { return };
    bench.sh("echo mine > /tmp/mine; echo mine > mine").await;
    let other = bench.shell("cat /tmp/mine mine");
    let other = done(bench.spawn_for("other", other).await.unwrap(), LONG).await;
    assert_eq!((other.ending, other.out.as_str()), (Ending::Exited(1), ""));
    assert_eq!(bench.engine.containers().len(), 2);
    // The same tenant and directory, another scope.
    let mut scope = key("tenant");
    scope.scope = "another agent".into();
    let workspace = open_workspace(&bench.workspace("tenant")).unwrap();
    let plan = bench.shell("cat /tmp/mine");
    let running = bench.containers.spawn(&scope, &bench.sandbox, plan, workspace.as_fd()).await.unwrap();
    assert_eq!(done(running, LONG).await.ending, Ending::Exited(1));
    assert_eq!(bench.engine.containers().len(), 3);
}

#[tokio::test]
async fn it_is_kept_until_what_is_set_changes_or_it_dies() {
    let Some(mut bench) = Bench::new() else { return };
    bench.sh("echo kept > /tmp/kept").await;
    let first = bench.container();
    assert_eq!(bench.out("cat /tmp/kept").await, "kept\n");
    let label = bench.engine.client(&["inspect", "--format", "{{.Config.Labels.caisson}}", &first]).unwrap();
    assert_eq!(label, "test");

    let running = bench.spawn(bench.shell("until [ -e go ]; do sleep 0.02; done; echo late")).await.unwrap();
    bench.sandbox = serde_json::from_str(&format!(r#"{{"image":"{}","memory_mb":128}}"#, common::IMAGE)).unwrap();
    assert!(!bench.succeeds("test -e /tmp/kept").await);
    assert!(bench.engine.containers().contains(&first), "what runs in the old one runs on");
    bench.sh("touch go").await;
    assert_eq!(done(running, LONG).await.out, "late\n");
    until("the old one is removed", || !bench.engine.containers().contains(&first)).await;

    let second = bench.container();
    let memory =
        bench.engine.client(&["inspect", "--format", "{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}}", &second]);
    assert_eq!(memory.unwrap(), format!("{0} {0}", 128 << 20));
    bench.engine.client(&["kill", &second]).unwrap();
    assert_eq!(bench.sh("exit 3").await.ending, Ending::Exited(3));
    until("the dead one is removed", || !bench.engine.containers().contains(&second)).await;
    assert_ne!(bench.container(), second);
}

#[tokio::test]
async fn it_goes_when_it_is_idle_and_not_while_something_runs() {
    let Some(mut bench) = Bench::new() else { return };
    bench.containers =
        Containers::new(Config { idle: Duration::from_millis(100), ..config(&bench.engine, &bench.data) });
    let running = bench.spawn(bench.shell("sleep 1; echo late")).await.unwrap();
    assert_eq!(done(running, LONG).await.out, "late\n");
    until("it is removed", || bench.engine.containers().is_empty()).await;
    assert_eq!(bench.sh("exit 3").await.ending, Ending::Exited(3));
    let folder = bench.data.path().join("containers");
    until("nothing of it is left", || std::fs::read_dir(&folder).unwrap().count() == 1).await;
}

#[tokio::test]
async fn there_are_no_more_than_there_may_be() {
    let Some(mut bench) = Bench::new() else { return };
    bench.containers = Containers::new(Config { most: 1, ..config(&bench.engine, &bench.data) });
    let running = bench.spawn(bench.shell("until [ -e go ]; do sleep 0.02; done")).await.unwrap();
    let full = bench.spawn_for("other", bench.shell("true")).await.unwrap_err();
    assert!(matches!(full, BoxError::Full { most: 1 }), "{full}");
    let idle = bench.container();
    assert_eq!(bench.sh("touch go").await.ending, Ending::Exited(0));
    assert_eq!(done(running, LONG).await.ending, Ending::Exited(0));
    let other = bench.spawn_for("other", bench.shell("exit 3")).await.unwrap();
    assert_eq!(done(other, LONG).await.ending, Ending::Exited(3));
    until("the idle one is removed", || !bench.engine.containers().contains(&idle)).await;
}

#[tokio::test]
async fn closing_ends_all() {
    let Some(bench) = Bench::new() else { return };
    let mut running = bench.spawn(bench.shell("sleep 1000")).await.unwrap();
    bench.containers.close().await;
    assert_eq!(running.wait().await, Ending::Signalled(9));
    until("it is removed", || bench.engine.containers().is_empty()).await;
}

#[tokio::test]
async fn what_a_gateway_left_goes_and_what_is_anothers_stays() {
    let Some(bench) = Bench::new() else { return };
    let run = |label: &str| {
        let label = format!("caisson={label}");
        bench.engine.client(&["run", "--detach", "--network=none", "--label", &label, common::IMAGE, "sleep", "1000"])
    };
    let (left, anothers) = (run("test").unwrap(), run("another").unwrap());
    bench.containers.open().await.unwrap();
    until("it is removed", || !bench.engine.containers().contains(&left)).await;
    assert_eq!(bench.engine.containers(), [anothers]);
}

/// A gateway that dies by a signal cannot clean up; its containers end by themselves.
#[tokio::test]
async fn nothing_outlives_a_gateway_that_is_killed() {
    const GATEWAY: &str = "CAISSON_DOCKER_TEST_GATEWAY";
    if let Some(data) = std::env::var_os(GATEWAY) {
        let data = std::path::PathBuf::from(data);
        let config = Config { socket: data.join("socket"), ..Config::new("killed", data.join("gateway")) };
        std::fs::create_dir(data.join("workspace")).unwrap();
        let workspace = open_workspace(&data.join("workspace")).unwrap();
        let sandbox = Sandbox::new(common::IMAGE).unwrap();
        let plan = shell("touch runs; sleep 1000", &sandbox);
        let containers = Containers::new(config);
        let mut running = containers.spawn(&key("tenant"), &sandbox, plan, workspace.as_fd()).await.unwrap();
        running.wait().await;
        return;
    }
    let Some(bench) = Bench::new() else { return };
    let data = bench.engine.folder.path();
    let mut gateway = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "nothing_outlives_a_gateway_that_is_killed"])
        .env(GATEWAY, data)
        .spawn()
        .unwrap();
    until("it runs", || data.join("workspace/runs").exists()).await;
    assert_eq!(bench.engine.containers().len(), 1);
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    until("it is removed", || bench.engine.containers().is_empty()).await;
}

/// Where workspaces were mounted for the engine when the gateway died, the mounts go and the workspaces stay.
#[tokio::test]
async fn no_workspace_is_removed_with_what_a_gateway_left() {
    let Some(bench) = Bench::new() else { return };
    let workspace = bench.workspace("tenant");
    std::fs::write(workspace.join("precious"), "").unwrap();
    let folder = bench.data.path().join("containers");
    for left in ["workspace-7", "box-1"] {
        std::fs::create_dir_all(folder.join(left)).unwrap();
    }
    rustix::mount::mount_bind(&workspace, folder.join("workspace-7")).unwrap();
    bench.containers.open().await.unwrap();
    assert!(workspace.join("precious").exists());
    let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["init"]);
}
