//! What a program in a container can do, against a real engine.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::os::unix::fs::MetadataExt;

use caisson_confine::{Ending, Plan, Program, Stdin};
use common::{Bench, LONG, done};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn the_workspace_is_there_and_what_is_made_in_it_is_the_gateways() {
    let Some(bench) = Bench::new() else { return };
    let workspace = bench.workspace("tenant");
    std::fs::create_dir(workspace.join("sub")).unwrap();
    std::fs::write(workspace.join("sub/given"), "given").unwrap();
    let plan = Plan { directory: "sub".into(), ..bench.shell("pwd; cat given; echo made > made; echo more >> given") };
    let ran = bench.run(plan).await;
    assert_eq!((ran.ending, ran.out.as_str()), (Ending::Exited(0), "/workspace/sub\ngiven"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(workspace.join("sub/given")).unwrap(), "givenmore\n");
    let made = workspace.join("sub/made").metadata().unwrap();
    let own = workspace.metadata().unwrap();
    assert_eq!((made.uid(), made.gid()), (own.uid(), own.gid()));
    assert_eq!(std::fs::read_to_string(workspace.join("sub/made")).unwrap(), "made\n");
    // Programs of the workspace's own are run.
    assert!(bench.succeeds("cp /bin/busybox /workspace/true && /workspace/true").await);
}

#[tokio::test]
async fn a_workspace_of_another_user_stays_that_users() {
    let Some(bench) = Bench::new() else { return };
    let workspace = bench.workspace("tenant");
    std::os::unix::fs::chown(&workspace, Some(1234), Some(5678)).unwrap();
    assert_eq!(bench.out("echo made > made; id -u").await, "65534\n");
    let made = workspace.join("made").metadata().unwrap();
    assert_eq!((made.uid(), made.gid()), (1234, 5678));
}

#[tokio::test]
async fn ends_are_told_apart() {
    let Some(bench) = Bench::new() else { return };
    for (text, ending) in [
        ("exit 0", Ending::Exited(0)),
        ("exit 137", Ending::Exited(137)),
        ("kill -9 $$", Ending::Signalled(9)),
        ("kill -TERM $$", Ending::Signalled(15)),
        ("no-such-program", Ending::Exited(127)),
    ] {
        assert_eq!(bench.sh(text).await.ending, ending, "{text}");
    }
}

#[tokio::test]
async fn words_and_variables_arrive_as_they_are() {
    let Some(bench) = Bench::new() else { return };
    let words = ["a b", "", "$HOME", "'", "\n", "ü", "-n"].map(str::to_owned);
    let arguments = [vec!["[%s]".to_owned()], words.to_vec()].concat();
    let program = Program::Command { program: "printf".into(), arguments };
    let mut plan = Plan { program, ..bench.shell("") };
    assert_eq!(bench.run(plan.clone()).await.out, "[a b][][$HOME]['][\n][ü][-n]");
    plan.environment.insert("GIVEN".into(), "a=b\n$c".into());
    plan.program = Program::Shell("printf %s \"$GIVEN\"".into());
    assert_eq!(bench.run(plan).await.out, "a=b\n$c");
}

#[tokio::test]
async fn input_is_fed_and_ends_and_no_input_is_none() {
    let Some(bench) = Bench::new() else { return };
    assert_eq!(bench.out("cat; readlink /proc/self/fd/0").await, "/dev/null\n");
    let mut running = bench.spawn(Plan { stdin: Stdin::Piped, ..bench.shell("wc -c") }).await.unwrap();
    let mut stdin = running.take_stdin().unwrap();
    // More than any pipe holds.
    let feed = tokio::spawn(async move { stdin.write_all(&vec![b'x'; 1 << 20]).await });
    assert_eq!(done(running, LONG).await.out, "1048576\n");
    feed.await.unwrap().unwrap();
    // A program need not read what it is given.
    let mut running = bench.spawn(Plan { stdin: Stdin::Piped, ..bench.shell("exec 0<&-; exit 3") }).await.unwrap();
    let mut stdin = running.take_stdin().unwrap();
    assert_eq!(done(running, LONG).await.ending, Ending::Exited(3));
    stdin.write_all(b"x").await.unwrap_err();
}

#[tokio::test]
async fn a_program_waits_for_who_reads_it() {
    let Some(bench) = Bench::new() else { return };
    let text = "yes | head -c 1000000; echo done >&2";
    let mut running = bench.spawn(bench.shell(text)).await.unwrap();
    let (mut stdout, mut stderr) = (running.take_stdout().unwrap(), running.take_stderr().unwrap());
    let mut first = [0; 2];
    stdout.read_exact(&mut first).await.unwrap();
    // A pipe holds far less than what is to come, so this is not said before the rest is read.
    assert!(stderr.try_read(&mut [0; 8]).is_err());
    let (mut rest, mut said) = (Vec::new(), String::new());
    stdout.read_to_end(&mut rest).await.unwrap();
    stderr.read_to_string(&mut said).await.unwrap();
    assert_eq!((rest.len(), said.as_str()), (999_998, "done\n"));
    assert_eq!(running.finish(LONG).await, Ending::Exited(0));
}

#[tokio::test]
async fn many_run_at_once_and_each_ends_alone() {
    let Some(bench) = Bench::new() else { return };
    let waits = |number: u32| bench.shell(&format!("until [ -e go{number} ]; do sleep 0.02; done; echo {number}"));
    let (first, second) = tokio::join!(bench.spawn(waits(1)), bench.spawn(waits(2)));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(bench.engine.containers().len(), 1, "asked for at once, made once");
    bench.sh("touch go2").await;
    assert_eq!(done(second, LONG).await.out, "2\n");
    bench.sh("touch go1").await;
    let first = done(first, LONG).await;
    assert_eq!((first.ending, first.out.as_str()), (Ending::Exited(0), "1\n"));
}
