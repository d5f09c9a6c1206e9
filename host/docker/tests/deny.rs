//! What a program in a container cannot do, each against a real engine.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod common;

use std::time::Duration;

use caisson_confine::{Access, Ending, Network, Plan, Program, Stdin};
use caisson_docker::{BoxError, Config, Containers, Pull, Sandbox};
use common::{Bench, LONG, ODD_IMAGE, config, done, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn no_network_is_there() {
    let Some(bench) = Bench::new() else { return };
    let devices = bench.out("cat /proc/net/dev | tail -n +3 | cut -d: -f1").await;
    assert_eq!(devices.trim(), "lo");
    // A listener of the host's, which a shared network would reach.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    assert!(!bench.succeeds(&format!("nc -w 2 127.0.0.1 {port} </dev/null")).await);
    assert!(!bench.succeeds("nc -w 2 169.254.169.254 80 </dev/null").await);
    let mut plan = bench.shell("true");
    plan.network = Network::Proxy { port: 3128 };
    let refused = bench.spawn(plan).await.unwrap_err();
    assert!(matches!(refused, BoxError::NotInContainers { what: "network", .. }), "{refused}");
}

#[tokio::test]
async fn the_root_is_read_only_and_temporary_files_are_bounded_and_not_executed() {
    let Some(bench) = Bench::new() else { return };
    for path in ["/x", "/bin/x", "/etc/x", "/.caisson/x", "/.caisson/init", "/proc/sys/kernel/core_pattern"] {
        assert!(!bench.succeeds(&format!("echo x > {path}")).await, "{path}");
    }
    assert!(bench.succeeds("cp /bin/busybox /tmp/true && ! /tmp/true").await);
    let mounts = bench.out("cat /proc/mounts").await;
    let tmp = mounts.lines().find(|line| line.split(' ').nth(1) == Some("/tmp")).unwrap();
    for option in ["nosuid", "nodev", "noexec", "size=262144k"] {
        assert!(tmp.contains(option), "{tmp}");
    }
    let workspace = mounts.lines().find(|line| line.split(' ').nth(1) == Some("/workspace")).unwrap();
    assert!(workspace.contains("nosuid") && workspace.contains("nodev"), "{workspace}");
    assert!(!bench.succeeds("dd if=/dev/zero of=/tmp/x bs=1M count=257").await);
}

#[tokio::test]
async fn nothing_of_roots_is_left() {
    let Some(bench) = Bench::new() else { return };
    assert_eq!(bench.out("id -u; id -g; id -G").await, "65534\n65534\n65534\n");
    let status = bench.out("cat /proc/self/status").await;
    for line in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert!(status.contains(&format!("{line}:\t0000000000000000")), "{status}");
    }
    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    // A program that would be root, of the image and of the workspace.
    assert_eq!(bench.out("/suid/id -u").await, "65534\n");
    assert!(!bench.succeeds("cp /bin/busybox /workspace/id && chmod 4755 /workspace/id").await);
    assert!(!bench.succeeds("cp /bin/busybox /workspace/id && chmod g+s /workspace/id").await);
    for attempt in ["mount -t tmpfs x /mnt", "chroot / true", "unshare -r true", "mknod /workspace/m c 1 1"] {
        assert!(!bench.succeeds(attempt).await, "{attempt}");
    }
    assert!(bench.succeeds("kill -9 1; kill -TERM 1; kill -0 1").await, "process 1 outlives it");
}

#[tokio::test]
async fn process_1_and_its_descriptors_are_closed_to_its_own_user() {
    let Some(bench) = Bench::new() else { return };
    assert!(!bench.succeeds("ls /.caisson").await);
    assert!(bench.succeeds("test -e /.caisson/init && ! test -e /.caisson/socket").await);
    assert!(!bench.succeeds("ls /proc/1/fd").await);
    assert!(!bench.succeeds("cat /proc/1/environ").await);
    // Nor those of the process above this one.
    assert!(!bench.succeeds("ls /proc/$PPID/fd").await);
    assert_eq!(bench.out("ls /proc/self/fd | wc -l").await, "4\n");
}

#[tokio::test]
async fn neither_the_engines_socket_nor_anything_else_of_the_host_is_there() {
    let Some(bench) = Bench::new() else { return };
    let other = bench.workspace("other");
    std::fs::write(other.join("secret"), "of another").unwrap();
    for path in
        ["/var/run/docker.sock", "/run/docker.sock", other.to_str().unwrap(), bench.data.path().to_str().unwrap()]
    {
        assert!(!bench.succeeds(&format!("test -e {path}")).await, "{path}");
    }
    assert_eq!(bench.out("find / -name '*.sock' -o -name socket -o -name secret 2>/dev/null; true").await, "");
    let mut environment: Vec<String> = bench.out("env").await.lines().map(str::to_owned).collect();
    environment.sort();
    assert_eq!(environment, ["PATH=/bin", "PWD=/workspace", "SHLVL=1"]);
    let mut plan = bench.shell("true");
    plan.system.push("/opt".into());
    assert!(matches!(bench.spawn(plan).await.unwrap_err(), BoxError::NotInContainers { .. }));
}

#[tokio::test]
async fn a_fork_bomb_is_bounded_and_gone_afterwards() {
    let Some(bench) = Bench::new() else { return };
    let bomb = "b() { b | b & }; b; n=0; while [ $n -lt 200 ]; do n=$((n+1)); done; exit 7";
    let running = bench.spawn(bench.shell(bomb)).await.unwrap();
    done(running, Duration::from_secs(5)).await;
    // While a container is full nothing more starts in it, and what runs is not harmed by asking.
    let fill = "sh -c 'for i in $(seq 300); do sleep 1000 & done'; sleep 1000 & echo full; read end";
    let mut full = bench.spawn(Plan { stdin: Stdin::Piped, ..bench.shell(fill) }).await.unwrap();
    let mut said = [0; 5];
    full.take_stdout().unwrap().read_exact(&mut said).await.unwrap();
    let refused = bench.spawn(bench.shell("true")).await.unwrap_err();
    assert!(matches!(refused, BoxError::Host { .. }), "{refused}");
    full.kill();
    assert_eq!(full.wait().await, Ending::Signalled(9));
    // Only this shell, the one that stands over it, and process 1.
    assert_eq!(bench.out("set -- /proc/[0-9]*; echo $#").await, "3\n");
    let limit = bench.engine.client(&["inspect", "--format", "{{.HostConfig.PidsLimit}}", &bench.container()]).unwrap();
    assert_eq!(limit, "256");
}

#[tokio::test]
async fn who_takes_too_much_memory_is_ended_for_it_and_the_container_goes_on() {
    let Some(mut bench) = Bench::new() else { return };
    bench.sandbox = serde_json::from_str(&format!(r#"{{"image":"{}","memory_mb":32}}"#, common::IMAGE)).unwrap();
    bench.sh("true").await;
    let before = bench.container();
    let hog = bench.sh("tail -c 200000000 /dev/zero").await;
    assert_eq!(hog.ending, Ending::OutOfMemory, "{hog:?}");
    assert_eq!(bench.sh("exit 3").await.ending, Ending::Exited(3));
    assert_eq!(bench.container(), before);
}

#[tokio::test]
async fn a_daemon_does_not_outlive_its_program() {
    let Some(bench) = Bench::new() else { return };
    bench.sh("setsid sh -c 'while true; do echo x >> /workspace/alive; done' & sleep 0.1; exit 0").await;
    assert!(!bench.succeeds("ps | grep alive | grep -v grep").await);
    // Two forks, a session of its own, deaf to all but SIGKILL, and no stream that would hold it.
    let deaf =
        "(setsid sh -c 'trap \"\" TERM HUP INT; while true; do sleep 1; done' </dev/null >/dev/null 2>&1 &) & exit 0";
    bench.sh(deaf).await;
    assert!(!bench.succeeds("ps | grep trap | grep -v grep").await);
}

#[tokio::test]
async fn everything_ends_at_the_deadline_and_when_nobody_waits() {
    let Some(bench) = Bench::new() else { return };
    let polite = "trap 'echo bye; exit 0' TERM; while true; do sleep 0.05; done";
    let polite = done(bench.spawn(bench.shell(polite)).await.unwrap(), Duration::from_millis(200)).await;
    assert_eq!((polite.ending, polite.out.as_str()), (Ending::TimedOut, "bye\n"), "{polite:?}");
    let deaf = "trap '' TERM; (setsid sleep 1000 &); while true; do sleep 1000; done";
    let deaf = done(bench.spawn(bench.shell(deaf)).await.unwrap(), Duration::from_millis(200)).await;
    assert_eq!(deaf.ending, Ending::TimedOut);
    assert!(!bench.succeeds("ps | grep 'sleep 1000' | grep -v grep").await);
    drop(bench.spawn(bench.shell("(setsid sleep 2000 &); sleep 2000")).await.unwrap());
    let gone = bench.sh("while ps | grep 'sleep 2000' | grep -v grep; do sleep 0.05; done").await;
    assert_eq!(gone.ending, Ending::Exited(0));
}

#[tokio::test]
async fn who_kills_or_stops_what_stands_over_it_ends_its_container() {
    let Some(bench) = Bench::new() else { return };
    bench.sh("true").await;
    let before = bench.container();
    let killed = bench.sh("kill -9 $PPID; sleep 1000").await;
    assert_eq!(killed.ending, Ending::Signalled(9));
    assert_eq!(bench.sh("exit 3").await.ending, Ending::Exited(3), "a new container takes its place");
    until("the old one is removed", || !bench.engine.containers().contains(&before)).await;
    let stop = Plan { stdin: Stdin::Piped, ..bench.shell("read go; kill -STOP $PPID; sleep 1000") };
    let mut stopped = bench.spawn(stop).await.unwrap();
    stopped.take_stdin().unwrap().write_all(b"go\n").await.unwrap();
    let stopped = done(stopped, Duration::from_millis(200)).await;
    assert_eq!(stopped.ending, Ending::TimedOut);
    assert_eq!(bench.sh("exit 4").await.ending, Ending::Exited(4));
}

#[tokio::test]
async fn what_may_only_be_read_is_not_changed() {
    let Some(bench) = Bench::new() else { return };
    std::fs::write(bench.workspace("tenant").join("a"), "text").unwrap();
    let read_only = |text: &str| Plan { workspace: Access::ReadOnly, ..bench.shell(text) };
    for text in ["echo x > /workspace/a", "echo x > /workspace/b", "rm /workspace/a", "chmod 777 /workspace"] {
        assert_ne!(bench.run(read_only(text)).await.ending, Ending::Exited(0), "{text}");
    }
    assert_eq!(bench.run(read_only("cat a")).await.out, "text");
}

#[tokio::test]
async fn an_image_brings_no_volume_no_check_and_no_environment() {
    let Some(mut bench) = Bench::new() else { return };
    bench.sandbox = Sandbox::new(ODD_IMAGE).unwrap();
    assert!(!bench.succeeds("echo x > /var/odd/x").await);
    assert!(!bench.out("env").await.contains("LEAK"));
    let container = bench.container();
    let volumes = bench.engine.client(&["volume", "ls", "--quiet"]).unwrap();
    let check = bench.engine.client(&["inspect", "--format", "{{.Config.Healthcheck.Test}}", &container]).unwrap();
    assert_eq!((volumes.as_str(), check.as_str()), ("", "[NONE]"));
}

#[tokio::test]
async fn a_link_in_place_of_the_workspace_does_not_lead_elsewhere() {
    let Some(bench) = Bench::new() else { return };
    let mine = bench.workspace("tenant");
    let opened = caisson_confine::open_workspace(&mine).unwrap();
    // The name leads elsewhere by the time the engine sees it.
    let moved = mine.with_file_name("moved");
    std::fs::rename(&mine, &moved).unwrap();
    std::os::unix::fs::symlink(bench.workspace("other"), &mine).unwrap();
    let place = std::os::fd::AsFd::as_fd(&opened);
    let key = common::key("tenant");
    let running = bench.containers.spawn(&key, &bench.sandbox, bench.shell("echo x > here"), place);
    assert_eq!(done(running.await.unwrap(), LONG).await.ending, Ending::Exited(0));
    assert!(moved.join("here").exists() && !bench.workspace("other").join("here").exists());
}

#[tokio::test]
async fn without_an_engine_or_an_image_nothing_runs() {
    let missing = Config::new("test", "/nonexistent");
    let missing = Config { socket: "/nonexistent/docker.sock".into(), ..missing };
    let nowhere = tempfile::tempdir().unwrap();
    let workspace = caisson_confine::open_workspace(nowhere.path()).unwrap();
    let workspace = std::os::fd::AsFd::as_fd(&workspace);
    let sandbox = Sandbox::new(common::IMAGE).unwrap();
    let plan = || common::shell("touch ran", &sandbox);
    let no_engine = Containers::new(missing).spawn(&common::key("tenant"), &sandbox, plan(), workspace).await;
    let Err(BoxError::NoEngine { .. }) = no_engine else { panic!("{no_engine:?}") };
    assert!(!nowhere.path().join("ran").exists());

    let Some(mut bench) = Bench::new() else { return };
    bench.sandbox = Sandbox::new("team/tools:1").unwrap();
    let no_image = bench.spawn(bench.shell("touch ran")).await.unwrap_err();
    assert!(matches!(no_image, BoxError::NoImage { .. }), "{no_image}");
    assert!(no_image.to_string().contains("docker pull team/tools:1"), "{no_image}");
    // Where fetching is allowed, that it failed is an error too. No registry has this name.
    let pull = Config { pull: Pull::Missing, ..config(&bench.engine, &bench.data) };
    let sandbox = Sandbox::new("127.0.0.1:1/none:1").unwrap();
    let not_pulled =
        Containers::new(pull).spawn(&common::key("tenant"), &sandbox, plan(), workspace).await.unwrap_err();
    assert!(matches!(not_pulled, BoxError::Pull { .. }), "{not_pulled}");

    bench.sandbox = Sandbox::new(common::IMAGE).unwrap();
    bench.engine.stop();
    let dead = bench.spawn(bench.shell("touch ran")).await.unwrap_err();
    assert!(matches!(dead, BoxError::NoEngine { .. }), "{dead}");
    assert!(!bench.workspace("tenant").join("ran").exists());
}

#[tokio::test]
async fn what_cannot_be_executed_is_named() {
    let Some(bench) = Bench::new() else { return };
    let program = Program::Command { program: "no-such".into(), arguments: vec![] };
    let error = bench.spawn(Plan { program, ..bench.shell("") }).await.unwrap_err();
    assert!(matches!(&error, BoxError::Program { program, .. } if program == "no-such"), "{error}");
    let error = bench.spawn(Plan { directory: "no/such".into(), ..bench.shell("") }).await.unwrap_err();
    assert!(matches!(&error, BoxError::Directory { .. }), "{error}");
    let error = bench.spawn(Plan { directory: "../..".into(), ..bench.shell("") }).await.unwrap_err();
    assert!(matches!(&error, BoxError::Plan(_)), "{error}");
}
