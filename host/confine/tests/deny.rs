//! What a confined program tries and cannot do. Each has a twin in `allow.rs`.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

use caisson_confine::{
    Access, Demand, Ending, HostId, Limits, Network, Plan, PlanError, Program, SpawnError, Stdin, open_workspace,
};
use common::{Bench, LONG, err, out, shell};

/// A Python program that prints what went wrong with each of some attempts, or `DONE` for one that did not go wrong.
fn python(attempts: &[&str]) -> String {
    let mut text = String::from(
        "import ctypes, os, socket, sys, fcntl, signal, errno\n\
         libc = ctypes.CDLL(None, use_errno=True)\n\
         def call(number, *arguments):\n    result = libc.syscall(number, *arguments)\n    if result < 0: raise OSError(ctypes.get_errno(), 'syscall')\n    return result\n",
    );
    for attempt in attempts {
        text.push_str(&format!("try:\n    {attempt}\n    print('DONE', {attempt:?})\nexcept OSError as error:\n    print(errno.errorcode.get(error.errno, error.errno))\n"));
    }
    text
}

async fn attempts(bench: &Bench, plan: Plan, attempts: &[&str]) -> Vec<String> {
    let mut plan = plan;
    plan.program =
        Program::Command { program: "/usr/bin/python3".into(), arguments: vec!["-c".into(), python(attempts)] };
    let ran = bench.run(plan).await;
    assert_eq!(ran.ending, Ending::Exited(0), "{}", err(&ran));
    let lines: Vec<String> = out(&ran).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), attempts.len(), "{lines:?}");
    lines
}

async fn all_fail(bench: &Bench, plan: Plan, tries: &[&str]) {
    for (attempt, line) in tries.iter().zip(attempts(bench, plan, tries).await) {
        assert!(!line.starts_with("DONE"), "{attempt} succeeded");
    }
}

#[tokio::test]
async fn nothing_of_the_host_but_the_workspace_is_there() {
    let bench = Bench::new().await;
    let other = bench.data.path().join("other");
    std::fs::create_dir(&other).unwrap();
    for (name, text) in [("gateway.db", "records"), ("key", "secret-key"), ("other/file", "another tenant's")] {
        std::fs::write(bench.data.path().join(name), text).unwrap();
        std::fs::set_permissions(bench.data.path().join(name), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    for path in ["gateway.db", "key", "other/file"] {
        let path = bench.data.path().join(path);
        assert!(!bench.succeeds(&format!("cat {}", path.display())).await, "{}", path.display());
    }
    for path in [
        "../key",
        "../other/file",
        "/etc/shadow",
        "/etc/hostname",
        "/root",
        "/home",
        "/run",
        "/var/run/docker.sock",
        "/var/log",
        "/sys",
        "/boot",
        "/mnt",
        "/dev/mem",
        "/dev/tty",
        "/dev/pts",
        "/dev/vda",
    ] {
        assert!(!bench.succeeds(&format!("ls -d {path}")).await, "{path}");
    }
    assert_eq!(
        out(&bench.sh("echo /* .[a-z]*").await).trim(),
        "/bin /dev /etc /lib /lib64 /proc /sbin /tmp /usr /var /workspace .[a-z]*"
    );
}

#[tokio::test]
async fn a_link_in_the_workspace_leads_nowhere_outside() {
    let bench = Bench::new().await;
    let key = bench.data.path().join("key");
    std::fs::write(&key, "secret").unwrap();
    std::os::unix::fs::symlink(&key, bench.workspace().join("link")).unwrap();
    std::os::unix::fs::symlink(bench.data.path(), bench.workspace().join("folder")).unwrap();
    std::os::unix::fs::symlink("/etc/shadow", bench.workspace().join("shadow")).unwrap();
    for try_ in [
        "cat link",
        "cat folder/key",
        "ls folder/",
        "cat shadow",
        "echo x > link",
        "ln /usr/bin/su su",
        "ln -L link hard",
        "echo x > folder/new",
    ] {
        assert!(!bench.succeeds(try_).await, "{try_}");
    }
    assert_eq!(std::fs::read_to_string(&key).unwrap(), "secret");
    assert!(!bench.data.path().join("new").exists());
}

#[tokio::test]
async fn the_workspace_itself_can_be_no_link_and_no_other_directory() {
    let bench = Bench::new().await;
    std::os::unix::fs::symlink(bench.data.path(), bench.data.path().join("alias")).unwrap();
    open_workspace(&bench.data.path().join("alias")).unwrap_err();
    // Replaced after it was opened: the descriptor decides.
    let workspace = open_workspace(&bench.workspace()).unwrap();
    std::fs::write(bench.workspace().join("mine"), "").unwrap();
    std::fs::rename(bench.workspace(), bench.data.path().join("moved")).unwrap();
    std::fs::create_dir(bench.workspace()).unwrap();
    std::fs::write(bench.workspace().join("theirs"), "").unwrap();
    match bench.confiner.spawn(shell("ls"), workspace.as_fd()).await {
        Ok(running) => assert_eq!(out(&running.capture(Vec::new(), LONG).await), "mine\n"),
        // An unprivileged gateway has to find it again by path, and then refuses.
        Err(error) => assert!(matches!(error, SpawnError::SetUp { .. }), "{error}"),
    }
}

#[tokio::test]
async fn the_system_cannot_be_written() {
    let bench = Bench::new().await;
    for path in [
        "/x",
        "/usr/x",
        "/usr/bin/sh",
        "/etc/passwd",
        "/etc/x",
        "/etc/ld.so.cache",
        "/lib/x",
        "/dev/x",
        "/proc/sys/kernel/hostname",
        "/proc/sysrq-trigger",
        "/proc/kcore",
        "/proc/self/uid_map",
        "/proc/self/oom_score_adj",
        "/var/x",
    ] {
        // The score may be raised, never lowered.
        let text = if path.ends_with("adj") { "-900" } else { "x" };
        assert!(!bench.succeeds(&format!("echo {text} 2>/dev/null >> {path}")).await, "{path}");
    }
    let mut plan = shell("echo x > made");
    plan.workspace = Access::ReadOnly;
    assert!(matches!(bench.run(plan).await.ending, Ending::Exited(code) if code != 0));
    assert!(!bench.workspace().join("made").exists());
}

#[tokio::test]
async fn no_other_process_is_seen_or_touched() {
    let bench = Bench::new().await;
    let own = std::process::id();
    for path in [
        format!("/proc/{own}"),
        format!("/proc/{own}/environ"),
        "/proc/1".into(),
        "/proc/1/root/".into(),
        "/proc/1/fd/".into(),
        "/proc/1/environ".into(),
        "/proc/self/../1/maps".into(),
    ] {
        assert!(!bench.succeeds(&format!("ls {path} || cat {path}")).await, "{path}");
    }
    let tries = [
        &format!("os.kill({own}, 0)") as &str,
        "call(101, 16, 1, 0, 0)",
        "call(101, 0, 0, 0, 0)",
        "call(310, 1, 0, 0, 0, 0, 0)",
        "call(312, 1, 1, 0, 0, 0)",
        "call(438, os.pidfd_open(1), 0, 0)",
        "call(302, 1, 7, ctypes.byref((ctypes.c_ulong * 2)(0, 0)), 0)",
    ];
    all_fail(&bench, shell(""), &tries).await;
    // Process 1 is there and does not mind.
    let ran = bench.sh("kill -STOP 1; kill -TERM 1; kill -KILL 1; echo alive").await;
    assert_eq!((ran.ending, out(&ran)), (Ending::Exited(0), "alive\n".into()));
    assert_eq!(bench.sh("kill -KILL 0; kill -KILL -1; echo alive").await.ending, Ending::Signalled(9));
}

// Numbers of calls differ between machines.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn calls_that_widen_the_view_are_refused() {
    let bench = Bench::new().await;
    let tries = [
        "call(165, b'none', b'/tmp', b'tmpfs', 0, 0)",                    // mount
        "call(166, b'/proc', 2)",                                         // umount2
        "call(155, b'/tmp', b'/tmp')",                                    // pivot_root
        "call(161, b'/tmp')",                                             // chroot
        "call(428, -100, b'/', 1)",                                       // open_tree
        "call(430, b'tmpfs', 0)",                                         // fsopen
        "call(442, -100, b'/', 0, 0, 32)",                                // mount_setattr
        "call(467, -100, b'/', 1, 0, 32)",                                // open_tree_attr
        "call(272, 0x10000000)",                                          // unshare a user namespace
        "call(272, 0x20000)",                                             // unshare a mount namespace
        "call(56, 0x10000000 | 17, 0, 0, 0, 0)",                          // clone with one
        "call(435, ctypes.byref((ctypes.c_ulong * 11)(0x10000000)), 88)", // clone3
        "call(308, 0, 0)",                                                // setns
        "call(321, 0, 0, 0)",                                             // bpf
        "call(298, 0, 0, 0, 0, 0)",                                       // perf_event_open
        "call(250, 0, 0, 0, 0, 0)",                                       // keyctl
        "call(248, b'user', b'a', b'b', 1, -3)",                          // add_key
        "call(323, 0)",                                                   // userfaultfd
        "call(425, 8, 0)",                                                // io_uring_setup
        "call(246, 0, 0, 0, 0)",                                          // kexec_load
        "call(175, 0, 0, b'')",                                           // init_module
        "call(303, -100, b'.', 0, 0, 0)",                                 // name_to_handle_at
        "call(304, -100, 0, 0)",                                          // open_by_handle_at
        "call(135, 0x0040000)",                                           // personality without address randomisation
        "call(437, -100, b'/etc/passwd', 0, 24)",                         // openat2
        "call(154, 1, 0, 0)",                                             // modify_ldt
        "call(169, 0, 0, 0, 0)",                                          // reboot
        "call(103, 3, 0, 0)",                                             // syslog
        "call(999)",                                                      // what no kernel has yet
    ];
    let said = attempts(&bench, shell(""), &tries).await;
    for (attempt, line) in tries.iter().zip(&said) {
        assert!(line == "EPERM" || line == "ENOSYS", "{attempt}: {line}");
    }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn another_call_table_ends_the_process() {
    let bench = Bench::new().await;
    // Number 39 of x32 is getpid.
    let ran = bench.sh("exec python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(0x40000000 + 39))'").await;
    assert_eq!(ran.ending, Ending::Signalled(libc::SIGSYS), "{}", out(&ran));
    // Number 20 of the 32-bit table is getpid too: `mov eax, 20; int 0x80; ret`. A kernel without that table ends it by itself.
    let code = "import ctypes, mmap; m = mmap.mmap(-1, 4096, prot=7); m.write(b\"\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3\"); print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))())";
    let ran = bench.sh(&format!("exec python3 -c '{code}'")).await;
    assert!(matches!(ran.ending, Ending::Signalled(libc::SIGSYS | libc::SIGSEGV)), "{ran:?}");
}

#[tokio::test]
async fn no_terminal_is_typed_into() {
    let bench = Bench::new().await;
    let tries = [
        "fcntl.ioctl(1, 0x5412, b'x')",
        "fcntl.ioctl(1, 0x541C, b'x')",
        "call(16, 1, 0x100005412, b'x')",
        "open('/dev/tty')",
    ];
    let said = attempts(&bench, shell(""), &tries).await;
    assert_eq!(said, ["EPERM", "EPERM", "EPERM", "ENOENT"]);
}

#[tokio::test]
async fn no_privilege_is_gained() {
    let bench = Bench::new().await;
    let status = out(&bench.sh("cat /proc/self/status").await);
    for line in [
        "CapInh:\t0000000000000000",
        "CapPrm:\t0000000000000000",
        "CapEff:\t0000000000000000",
        "CapBnd:\t0000000000000000",
        "CapAmb:\t0000000000000000",
        "NoNewPrivs:\t1",
        "Seccomp:\t2",
    ] {
        assert!(status.contains(line), "{line} in {status}");
    }
    assert!(!bench.succeeds("su -c id root </dev/null").await);
    assert_eq!(
        out(&bench
            .sh("find / -perm /6000 -type f 2>/dev/null -exec sh -c '{} -c id 2>/dev/null' ';' | grep uid=0")
            .await),
        ""
    );
    let tries = [
        "os.setuid(0)",
        "os.setgid(0)",
        "os.setgroups([0])",
        "os.chown('/workspace', 0, 0)",
        "os.mknod('/tmp/mem', 0o020666, os.makedev(1, 1))",
        "os.mknod('/workspace/disk', 0o060666, os.makedev(254, 0))",
        "open('/workspace/a', 'w') and os.chmod('/workspace/a', 0o4755)",
        "os.chmod('/workspace/a', 0o2755)",
        "os.fchmod(os.open('/workspace/a', os.O_RDWR), 0o6755)",
        "call(452, -100, b'/workspace/a', 0o4755, 0)",
        "os.open('/workspace/b', os.O_CREAT | os.O_WRONLY, 0o4755)",
        "os.open('/workspace', os.O_TMPFILE | os.O_WRONLY, 0o4755)",
        "call(85, b'/workspace/c', 0o4755)",
        "os.mknod('/workspace/d', 0o104755)",
        "os.setxattr('/workspace/a', 'security.capability', b'\\x01\\x00\\x00\\x02' + b'\\xff' * 16)",
    ];
    all_fail(&bench, shell(""), &tries).await;
    let set = std::fs::read_dir(bench.workspace())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().metadata().unwrap().mode() & 0o6000 != 0);
    assert_eq!(set.count(), 0);
}

#[tokio::test]
async fn no_service_of_the_host_is_reached() {
    let bench = Bench::new().await;
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let path = folder.path().join("service.sock");
    let named = UnixListener::bind(&path).unwrap();
    let abstract_name = format!("caisson-confine-test-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name).unwrap()).unwrap();
    let inside = UnixListener::bind(bench.workspace().join("inside.sock")).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (port, datagrams) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let listeners = [named.as_fd(), hidden.as_fd(), inside.as_fd(), tcp.as_fd(), udp.as_fd()];
    for listener in listeners {
        rustix::io::ioctl_fionbio(listener, true).unwrap();
    }
    let tries = [
        format!("socket.socket(socket.AF_UNIX).connect({:?})", path.display().to_string()),
        format!("socket.socket(socket.AF_UNIX).connect('\\0{abstract_name}')"),
        "socket.socket(socket.AF_UNIX).connect('/workspace/inside.sock')".into(),
        "socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')".into(),
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)".into(),
        format!("socket.create_connection(('127.0.0.1', {port}))"),
        "socket.create_connection(('169.254.169.254', 80), 2)".into(),
        "socket.create_connection(('::ffff:169.254.169.254', 80), 2)".into(),
        format!("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {datagrams}))"),
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('169.254.169.254', 53))".into(),
        "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)".into(),
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)".into(),
        "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)".into(),
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)".into(),
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)".into(),
        "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM, 0)".into(),
        "socket.socket(38, socket.SOCK_SEQPACKET, 0)".into(),
    ];
    let tries: Vec<&str> = tries.iter().map(String::as_str).collect();
    all_fail(&bench, shell(""), &tries).await;
    let mut proxied = shell("");
    proxied.network = Network::Proxy { port: 3128 };
    all_fail(&bench, proxied, &tries).await;
    named.accept().unwrap_err();
    hidden.accept().unwrap_err();
    inside.accept().unwrap_err();
    tcp.accept().unwrap_err();
    udp.recv(&mut [0]).unwrap_err();
}

#[tokio::test]
async fn a_proxy_is_the_only_port() {
    let bench = Bench::new().await;
    let mut plan = shell("");
    plan.network = Network::Proxy { port: 3128 };
    let tries = [
        "socket.create_connection(('127.0.0.1', 3129), 2)",
        "socket.create_connection(('127.0.0.2', 3129), 2)",
        "socket.create_connection(('10.0.0.1', 80), 2)",
        "socket.create_connection(('1.1.1.1', 3128), 2)",
        "socket.getaddrinfo('example.com', 80)",
        "socket.socket().bind(('127.0.0.1', 3128))",
        "socket.socket().bind(('127.0.0.1', 4000))",
    ];
    let said = attempts(&bench, plan, &tries).await;
    assert!(said[..6].iter().all(|line| !line.starts_with("DONE")), "{said:?}");
    if bench.confiner.given().landlock >= 4 {
        // Also without a network namespace other ports would be shut.
        assert_eq!([&said[0], &said[1], &said[2], &said[6]], ["EACCES"; 4]);
    }
}

#[tokio::test]
async fn nothing_outlives_the_program() {
    let bench = Bench::new().await;
    // The daemon would hold its standard output open, and so the capture, for as long as it lives.
    let ran = bench.sh("(setsid sh -c 'setsid sleep 1000 & setsid sleep 1000' &) ; python3 -c 'import os,time\nif os.fork()==0:\n os.setsid()\n if os.fork()==0:\n  time.sleep(1000)' ; echo gone").await;
    assert_eq!((ran.ending, out(&ran)), (Ending::Exited(0), "gone\n".into()));
}

#[tokio::test]
async fn the_deadline_ends_what_ignores_it() {
    let bench = Bench::new().await;
    let plan = shell(
        "trap '' TERM; (setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &) ; echo started; while :; do sleep 1; done",
    );
    let ran = bench.spawn(plan).await.unwrap().capture(Vec::new(), Duration::from_millis(300)).await;
    assert_eq!((ran.ending, out(&ran)), (Ending::TimedOut, "started\n".into()));
}

#[tokio::test]
async fn who_goes_away_takes_everything_along() {
    let bench = Bench::new().await;
    let mut running =
        bench.spawn(shell("trap '' TERM; (setsid sleep 1000 &) ; echo started; sleep 1000")).await.unwrap();
    let mut stdout = running.take_stdout().unwrap();
    let mut first = [0; 8];
    tokio::io::AsyncReadExt::read_exact(&mut stdout, &mut first).await.unwrap();
    drop(running);
    // The stream ends when the last process that holds it is gone.
    let mut rest = Vec::new();
    tokio::time::timeout(LONG, tokio::io::AsyncReadExt::read_to_end(&mut stdout, &mut rest)).await.unwrap().unwrap();
    assert_eq!((first.as_slice(), rest), (b"started\n".as_slice(), Vec::new()));
}

#[tokio::test]
async fn a_flood_is_read_and_dropped() {
    let bench = Bench::new().await;
    let ran = bench.sh("yes | head -c 200000000; yes no | head -c 3000000 >&2; printf end").await;
    assert_eq!(ran.ending, Ending::Exited(0));
    assert!(ran.stdout.head.len() + ran.stdout.tail.len() <= 1 << 20);
    assert_eq!(ran.stdout.dropped, 200_000_003 - (1 << 20));
    assert!(ran.stdout.tail.ends_with(b"end"));
    assert!(ran.stderr.dropped > 0);
}

#[tokio::test]
async fn processes_are_bounded() {
    let bench = Bench::new().await;
    let mut plan = shell("");
    plan.limits = Limits { processes: 20, ..Limits::default() };
    plan.program = Program::Command {
        program: "/usr/bin/python3".into(),
        arguments: vec!["-c".into(), "import os,time\nmade=0\ntry:\n while made < 500:\n  if os.fork()==0: time.sleep(1000)\n  made+=1\nexcept OSError: pass\nprint(made)".into()],
    };
    let ran = bench.run(plan).await;
    let made: u32 = out(&ran).trim().parse().unwrap();
    assert!((1..=20).contains(&made), "{made}");
    // The limit is of one program, not of its user.
    assert!(bench.succeeds("true").await);
}

#[tokio::test]
async fn a_fork_bomb_ends_at_the_deadline() {
    let bench = Bench::new().await;
    let mut plan = shell("b() { b | b & }; b; sleep 1000");
    plan.limits = Limits { processes: 64, ..Limits::default() };
    let ran = bench.spawn(plan).await.unwrap().capture(Vec::new(), Duration::from_millis(500)).await;
    assert!(matches!(ran.ending, Ending::TimedOut | Ending::Exited(_)), "{:?}", ran.ending);
    assert!(bench.succeeds("true").await);
}

#[tokio::test]
async fn memory_is_bounded() {
    let bench = Bench::new().await;
    let hog = "exec python3 -c 'a=[]\nwhile True: a.append(bytearray(b\"x\")*(1<<22))'";
    let mut plan = shell(hog);
    plan.limits = Limits { memory: 128 << 20, ..Limits::default() };
    let ran = bench.run(plan.clone()).await;
    if bench.confiner.given().memory_group == caisson_confine::Answer::Yes {
        assert_eq!(ran.ending, Ending::OutOfMemory);
        // Also where many share it, and where it is files.
        plan.program = Program::Shell("for i in 1 2 3 4; do python3 -c 'import time; a=bytearray(b\"x\")*(60<<20); time.sleep(5)' & done; wait; exit 1".into());
        assert_eq!(bench.run(plan.clone()).await.ending, Ending::OutOfMemory);
        plan.program = Program::Shell("head -c 200000000 /dev/zero > /tmp/x; exit $?".into());
        assert_ne!(bench.run(plan).await.ending, Ending::Exited(0));
    } else {
        assert!(matches!(ran.ending, Ending::Exited(code) if code != 0), "{ran:?}");
    }
    // A program after one that ran out is not blamed for it.
    assert_eq!(bench.sh("exit 3").await.ending, Ending::Exited(3));
}

#[tokio::test]
async fn files_and_the_temporary_folder_are_bounded() {
    let bench = Bench::new().await;
    let mut plan = shell(
        "trap '' XFSZ; head -c 10000000 /dev/zero > big; a=$?; head -c 10000000 /dev/zero > /tmp/1; b=$?; : > /tmp/2; exec 9> /tmp/3; for i in 3 4 5 6 7 8 9; do head -c 900000 /dev/zero > /tmp/$i || c=1; done; echo $a $b $c; ulimit -c",
    );
    plan.limits = Limits { file_size: 1 << 20, temporary: 4 << 20, ..Limits::default() };
    let ran = bench.run(plan).await;
    assert_eq!(out(&ran), "1 1 1\n0\n", "{}", err(&ran));
    assert_eq!(std::fs::metadata(bench.workspace().join("big")).unwrap().len(), 1 << 20);
}

#[tokio::test]
async fn open_files_and_cpu_are_bounded() {
    let bench = Bench::new().await;
    let mut plan = shell("");
    plan.limits = Limits { open_files: 16, ..Limits::default() };
    let said = attempts(&bench, plan, &["[os.open('/dev/null', 0) for _ in range(20)]"]).await;
    assert_eq!(said, ["EMFILE"]);
    let mut plan = shell("while :; do :; done");
    plan.limits = Limits { cpu_seconds: 1, ..Limits::default() };
    assert!(matches!(bench.run(plan).await.ending, Ending::Signalled(libc::SIGXCPU)));
}

#[tokio::test]
async fn nothing_is_inherited() {
    let bench = Bench::new().await;
    // A descriptor that the gateway forgot to mark.
    let leaked = std::fs::File::open("/etc/passwd").unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let mut plan = Plan::new(Program::Command { program: "/usr/bin/env".into(), arguments: Vec::new() });
    plan.environment.insert("ONLY".into(), "this one = a b".into());
    assert_eq!(out(&bench.run(plan).await), "ONLY=this one = a b\n");
    let fresh = Bench::new().await;
    for bench in [&bench, &fresh] {
        let ran = bench.sh("ls /proc/self/fd | tr '\\n' ' '; umask; trap").await;
        // The fourth is the listing's own.
        assert_eq!(out(&ran), "0 1 2 3 0022\n", "{}", err(&ran));
        assert_eq!(
            out(&bench.sh("grep -E 'Sig(Ign|Blk)|^Groups' /proc/self/status | tr -d '\\t\\n '").await)
                .replace("65534", ""),
            "Groups:SigBlk:0000000000000000SigIgn:0000000000000000"
        );
    }
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let bench = Bench::new().await;
    let missing = Plan::new(Program::Command { program: "no-such-program".into(), arguments: Vec::new() });
    let error = bench.spawn(missing).await.unwrap_err();
    assert!(matches!(&error, SpawnError::Program { program, .. } if program == "no-such-program"), "{error}");
    std::fs::write(bench.workspace().join("data"), "").unwrap();
    let data = Plan::new(Program::Command { program: "/workspace/data".into(), arguments: Vec::new() });
    assert!(matches!(bench.spawn(data).await.unwrap_err(), SpawnError::Program { .. }));
    let mut nowhere = shell("true");
    nowhere.directory = "missing".into();
    assert!(matches!(bench.spawn(nowhere).await.unwrap_err(), SpawnError::Directory { .. }));
    let mut outside = shell("true");
    outside.directory = "../other".into();
    assert!(matches!(bench.spawn(outside).await.unwrap_err(), SpawnError::Plan(PlanError::Directory(_))));
    let mut socket = shell("true");
    let listener = UnixListener::bind(bench.data.path().join("s")).unwrap();
    socket.system.push(bench.data.path().join("s"));
    assert!(bench.spawn(socket).await.is_err());
    drop(listener);
    // And the stub still serves.
    assert!(bench.succeeds("true").await);
}

#[tokio::test]
async fn a_demand_that_is_not_met_is_an_error() {
    let data = tempfile::tempdir().unwrap();
    let demand = Demand { landlock: 200, ..Demand::default() };
    let lacking =
        caisson_confine::Confiner::open(common::stub(), demand, HostId::default(), data.path()).await.unwrap_err();
    assert!(lacking.what.contains("`200`"), "{lacking}");
    let gone = data.path().join("gone");
    caisson_confine::Confiner::open(common::stub(), Demand::default(), HostId::default(), &gone).await.unwrap_err();
}

#[test]
fn a_stub_that_others_could_have_put_there_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("caisson-confine");
    assert!(matches!(caisson_confine::Stub::open(&path), Err(caisson_confine::NoStub::Open { .. })));
    let write = |text: &str, mode| {
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write("#!/bin/sh\necho else\n", 0o777);
    assert!(matches!(caisson_confine::Stub::open(&path), Err(caisson_confine::NoStub::Untrusted { .. })));
    write("", 0o644);
    assert!(matches!(caisson_confine::Stub::open(&path), Err(caisson_confine::NoStub::Untrusted { .. })));
    std::fs::remove_file(&path).unwrap();
    std::fs::copy("/usr/bin/true", &path).unwrap();
    match caisson_confine::Stub::open(&path) {
        Err(caisson_confine::NoStub::Other { answer, .. }) => assert!(answer.contains("true"), "{answer}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn input_that_is_not_read_does_no_harm() {
    let bench = Bench::new().await;
    let mut plan = shell("exec <&-; exec >&-; sleep 0; exit 4");
    plan.stdin = Stdin::Piped;
    let ran = bench.spawn(plan).await.unwrap().capture(vec![b'x'; 1 << 22], LONG).await;
    assert_eq!(ran.ending, Ending::Exited(4));
    // Without a pipe there is nothing to read.
    assert_eq!(out(&bench.sh("cat; echo end").await), "end\n");
    let mut none = String::new();
    std::fs::File::open("/dev/null").unwrap().read_to_string(&mut none).unwrap();
}

#[tokio::test]
async fn a_workspace_of_somebody_else_is_refused() {
    if !rustix::process::geteuid().is_root() {
        // An ordinary gateway cannot give a directory away.
        return;
    }
    let bench = Bench::new().await;
    std::os::unix::fs::chown(bench.workspace(), Some(1234), None).unwrap();
    let error = bench.spawn(shell("true")).await.unwrap_err();
    assert!(matches!(&error, SpawnError::SetUp { detail, .. } if detail.contains("1234:0")), "{error}");
    std::os::unix::fs::chown(bench.workspace(), Some(0), None).unwrap();
    assert!(bench.succeeds("true").await);
}
