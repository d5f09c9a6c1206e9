//! What a confined program can do: the twins of `deny.rs`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Duration;

use caisson_confine::{Access, Ending, Limits, Network, Plan, Program, Stdin};
use common::{Bench, LONG, err, out, shell};

#[tokio::test]
async fn a_program_works_in_its_workspace() {
    let bench = Bench::new().await;
    std::fs::write(bench.workspace().join("given"), "from the host").unwrap();
    let ran = bench.sh("pwd; cat given; mkdir -p a/b && mv given a/b/moved && chmod 700 a/b/moved && ln -s a/b/moved link && ln a/b/moved hard && cat link && rm hard && echo new > made").await;
    assert_eq!(
        (ran.ending, out(&ran)),
        (Ending::Exited(0), "/workspace\nfrom the hostfrom the host".into()),
        "{}",
        err(&ran)
    );
    assert_eq!(std::fs::read_to_string(bench.workspace().join("made")).unwrap(), "new\n");
    let mode = bench.workspace().join("a/b/moved").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700);
}

#[tokio::test]
async fn what_a_program_makes_belongs_to_the_workspaces_owner() {
    let bench = Bench::new().await;
    assert!(bench.succeeds("touch made; test -O made && test $(stat -c %u made) = 1000 && test $(id -u) = 1000").await);
    let (made, workspace) = (bench.workspace().join("made").metadata().unwrap(), bench.workspace().metadata().unwrap());
    assert_eq!((made.uid(), made.gid()), (workspace.uid(), workspace.gid()));
    // Files of the gateway that nobody else may read are the program's too.
    std::fs::write(bench.workspace().join("private"), "x").unwrap();
    std::fs::set_permissions(bench.workspace().join("private"), std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(bench.succeeds("cat private && echo y >> private").await);
}

#[tokio::test]
async fn a_read_only_workspace_can_be_read_and_started_from() {
    let bench = Bench::new().await;
    std::fs::write(bench.workspace().join("script"), "#!/bin/sh\necho \"$0 $1\"\n").unwrap();
    std::fs::set_permissions(bench.workspace().join("script"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut plan = Plan::new(Program::Command { program: "./script".into(), arguments: vec!["a  b".into()] });
    assert_eq!(plan.workspace, Access::ReadOnly);
    assert_eq!(out(&bench.run(plan.clone()).await), "./script a  b\n");
    std::fs::create_dir(bench.workspace().join("below")).unwrap();
    plan.directory = "below".into();
    plan.program = Program::Shell("pwd; /workspace/script x".into());
    assert_eq!(out(&bench.run(plan).await), "/workspace/below\n/workspace/script x\n");
}

#[tokio::test]
async fn the_temporary_folder_is_private() {
    let bench = Bench::new().await;
    std::fs::write(std::env::temp_dir().join("caisson-confine-seen"), "").unwrap();
    let ran = bench.sh("ls -A /tmp; echo x > /tmp/mine; cp /bin/true /tmp/t && /tmp/t && echo y > /dev/shm/shared && echo z > /var/tmp/v && ls -A /tmp").await;
    std::fs::remove_file(std::env::temp_dir().join("caisson-confine-seen")).unwrap();
    assert_eq!((ran.ending, out(&ran)), (Ending::Exited(0), "mine\nshared\nt\nv\n".into()), "{}", err(&ran));
    assert_eq!(out(&bench.sh("ls -A /tmp").await), "");
}

#[tokio::test]
async fn the_usual_tools_work() {
    let bench = Bench::new().await;
    let git = "git init -q . && git config user.email a@b && git config user.name a && echo x > f && git add f && git commit -qm first && git log --format=%s && git mv f g && git status --short && git gc -q";
    let ran = bench.sh(git).await;
    assert_eq!((ran.ending, out(&ran)), (Ending::Exited(0), "first\nR  f -> g\n".into()), "{}", err(&ran));
    let python = "import subprocess, threading, socket, multiprocessing, tempfile, os, pwd, ssl\n\
        a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'\n\
        threads = [threading.Thread(target=lambda: None) for _ in range(20)]\n[t.start() for t in threads]; [t.join() for t in threads]\n\
        with multiprocessing.Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]\n\
        assert subprocess.check_output(['sh', '-c', 'kill -TERM $$ || exit 1; echo'], stderr=subprocess.STDOUT) if False else True\n\
        assert subprocess.run(['sh', '-c', 'kill -TERM $$']).returncode == -15\n\
        with tempfile.TemporaryFile() as f: f.write(b'x')\n\
        assert pwd.getpwuid(os.getuid()).pw_name == 'sandbox'\n\
        assert len(ssl.create_default_context().get_ca_certs()) >= 0\n\
        open('/dev/null', 'w').write('x'); assert len(open('/dev/urandom', 'rb').read(8)) == 8\n\
        assert os.path.exists('/proc/self/status') and os.readlink('/proc/self/cwd') == '/workspace'\n\
        print('fine')";
    std::fs::write(bench.workspace().join("all.py"), python).unwrap();
    let ran = bench.sh("/usr/bin/python3 all.py").await;
    assert_eq!((ran.ending, out(&ran)), (Ending::Exited(0), "fine\n".into()), "{}", err(&ran));
    assert!(bench.succeeds("perl -e 'print 1' && tar cf x.tar all.py && tar xf x.tar && find / -maxdepth 1 >/dev/null && date && awk 'BEGIN{}' && sort all.py >/dev/null").await);
}

#[tokio::test]
async fn endings_are_told_as_they_were() {
    let bench = Bench::new().await;
    for code in [0, 1, 42, 127, 255] {
        assert_eq!(bench.sh(&format!("exit {code}")).await.ending, Ending::Exited(code));
    }
    for (name, number) in [("TERM", 15), ("KILL", 9), ("SEGV", 11), ("PIPE", 13)] {
        assert_eq!(bench.sh(&format!("kill -{name} $$")).await.ending, Ending::Signalled(number));
    }
    let killed = bench.spawn(shell("sleep 1000")).await.unwrap();
    killed.kill();
    assert_eq!(killed.capture(Vec::new(), LONG).await.ending, Ending::Signalled(9));
    let asked = bench.spawn(shell("sleep 1000")).await.unwrap();
    asked.terminate();
    assert_eq!(asked.capture(Vec::new(), LONG).await.ending, Ending::Signalled(15));
}

#[tokio::test]
async fn the_deadline_leaves_time_to_clean_up() {
    let bench = Bench::new().await;
    let plan = shell("trap 'echo cleaned > state; exit 0' TERM; echo ready; while :; do sleep 0.05; done");
    let mut running = bench.spawn(plan).await.unwrap();
    let mut stdout = running.take_stdout().unwrap();
    tokio::io::AsyncReadExt::read_exact(&mut stdout, &mut [0; 6]).await.unwrap();
    assert_eq!(running.finish(Duration::ZERO).await, Ending::TimedOut);
    assert_eq!(std::fs::read_to_string(bench.workspace().join("state")).unwrap(), "cleaned\n");
    // Asked again, it says what became of the program.
    assert_eq!(running.wait().await, Ending::Exited(0));
}

#[tokio::test]
async fn input_arrives_and_streams_are_apart() {
    let bench = Bench::new().await;
    let mut plan = shell("wc -c; echo oops >&2; exec >&-; echo still; echo late >&2; exit 0");
    plan.stdin = Stdin::Piped;
    let ran = bench.spawn(plan).await.unwrap().capture(vec![b'x'; 3_000_000], LONG).await;
    assert_eq!(out(&ran).trim(), "3000000");
    assert!(err(&ran).starts_with("oops\n") && err(&ran).ends_with("late\n"), "{}", err(&ran));
}

#[tokio::test]
async fn streams_can_be_read_while_the_program_runs() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let bench = Bench::new().await;
    let mut plan = Plan::new(Program::Command { program: "cat".into(), arguments: vec!["-u".into()] });
    plan.stdin = Stdin::Piped;
    let mut running = bench.spawn(plan).await.unwrap();
    let (mut stdin, mut stdout) = (running.take_stdin().unwrap(), running.take_stdout().unwrap());
    for word in [b"one", b"two"] {
        stdin.write_all(word).await.unwrap();
        let mut echo = [0; 3];
        stdout.read_exact(&mut echo).await.unwrap();
        assert_eq!(&echo, word);
    }
    drop(stdin);
    assert_eq!(running.wait().await, Ending::Exited(0));
}

#[tokio::test]
async fn a_granted_proxy_is_reached() {
    let bench = Bench::new().await;
    let client = "import socket\ns = socket.create_connection(('127.0.0.1', 3128)); s.sendall(b'CONNECT x'); print(s.recv(5).decode())\n\
                  s = socket.create_connection(('localhost', 3128)); s.close()";
    let mut plan =
        Plan::new(Program::Command { program: "/usr/bin/python3".into(), arguments: vec!["-c".into(), client.into()] });
    plan.network = Network::Proxy { port: 3128 };
    let mut running = bench.spawn(plan).await.unwrap();
    let proxy = running.take_proxy().unwrap();
    proxy.set_nonblocking(false).unwrap();
    let served = std::thread::spawn(move || {
        let (mut stream, peer) = proxy.accept().unwrap();
        let mut asked = [0; 9];
        stream.read_exact(&mut asked).unwrap();
        stream.write_all(b"hello").unwrap();
        // Kept open for the second connection.
        (peer.ip().is_loopback(), asked, proxy)
    });
    let ran = running.capture(Vec::new(), LONG).await;
    assert_eq!((ran.ending, out(&ran)), (Ending::Exited(0), "hello\n".into()), "{}", err(&ran));
    let (loopback, asked, _proxy) = served.join().unwrap();
    assert_eq!((loopback, asked), (true, *b"CONNECT x"));
}

#[tokio::test]
async fn two_programs_have_two_proxies_at_one_port() {
    let bench = Bench::new().await;
    let mut plan = shell("read line");
    plan.stdin = Stdin::Piped;
    plan.network = Network::Proxy { port: 3128 };
    let mut first = bench.spawn(plan.clone()).await.unwrap();
    let mut second = bench.spawn(plan).await.unwrap();
    let (a, b) = (first.take_proxy().unwrap(), second.take_proxy().unwrap());
    assert_eq!(a.local_addr().unwrap(), b.local_addr().unwrap());
}

#[tokio::test]
async fn an_operators_additions_are_seen_and_only_read() {
    let bench = Bench::new().await;
    let tools = bench.data.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    std::fs::write(tools.join("tool"), "works").unwrap();
    let mut permissions = bench.data.path().metadata().unwrap().permissions();
    permissions.set_mode(0o755);
    std::fs::set_permissions(bench.data.path(), permissions).unwrap();
    // Below /tmp only the program's own is seen, so the addition has a place elsewhere.
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(place.path().join("tool"), "works").unwrap();
    let path = place.path().display().to_string();
    let mut plan = shell(&format!("cat {path}/tool; echo x > {path}/new"));
    plan.system = vec![place.path().to_owned(), "/usr/share".into()];
    let ran = bench.run(plan).await;
    assert_eq!(out(&ran), "works");
    assert_ne!(ran.ending, Ending::Exited(0));
}

#[tokio::test]
async fn limits_allow_what_is_below_them() {
    let bench = Bench::new().await;
    let mut plan = shell(
        "python3 -c 'a=bytearray(b\"x\")*(60<<20)' && head -c 1000000 /dev/zero > big && head -c 1000000 /dev/zero > /tmp/t && for i in 1 2 3 4 5 6 7 8; do sleep 0.1 & done; wait",
    );
    plan.limits = Limits {
        memory: 256 << 20,
        processes: 12,
        file_size: 1 << 20,
        temporary: 1 << 20,
        open_files: 32,
        cpu_seconds: 30,
    };
    let ran = bench.run(plan).await;
    assert_eq!(ran.ending, Ending::Exited(0), "{}", err(&ran));
}

#[tokio::test]
async fn many_run_at_once() {
    let bench = std::sync::Arc::new(Bench::new().await);
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let bench = std::sync::Arc::clone(&bench);
            tokio::spawn(async move { out(&bench.sh(&format!("echo {number} > {number}; cat {number}")).await) })
        })
        .collect();
    for (number, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.unwrap(), format!("{number}\n"));
    }
}

#[tokio::test]
async fn the_machine_is_described() {
    let bench = Bench::new().await;
    let given = bench.confiner.given();
    assert_eq!(given.namespaces.len(), 7);
    assert!(given.landlock >= 2);
    let text = serde_json::to_string(given).unwrap();
    assert_eq!(&serde_json::from_str::<caisson_confine::Given>(&text).unwrap(), given);
}

#[tokio::test]
async fn files_beside_a_program_are_its_own_and_gone_with_it() {
    let bench = Bench::new().await;
    let mut plan = shell(
        "cat /run/files/KEY; stat -c %a /run/files/KEY; echo x > /run/files/KEY || rm /run/files/KEY || touch /run/files/new || echo unchanged",
    );
    plan.files.insert("KEY".into(), "s3cret\n".into());
    plan.files.insert("large".into(), "x".repeat(3 << 20));
    assert_eq!(plan.check(), Ok(()));
    let ran = bench.run(plan).await;
    assert_eq!(out(&ran), "s3cret\n600\nunchanged\n", "{}", err(&ran));
    assert!(bench.succeeds("test ! -e /run").await);
}
