//! What the files gate refuses, each with the rule that it names. Every case has an allowed twin in `allow.rs`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use caisson_call::{Budget, Limits, OverBudget};
use caisson_contract::{Access, Effect, LayerSource, Layers};
use common::{READ, Tree, WRITE, again, all, layer, layers, plain};
use std::os::unix::net::UnixListener;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, HostDescriptor, NewTimestamp, OpenFlags, PathFlags,
};

const CREATE: OpenFlags = OpenFlags::CREATE;

/// Reading, writing, making, removing and looking at `path` all end in `code`, by `rule`; nothing outside is touched.
async fn refused(tree: &Tree, path: &str, rule: &str) {
    let mut call = tree.call(all());
    let root = call.root();
    let name = || path.to_owned();
    let np = Some(ErrorCode::NotPermitted);
    assert_eq!(call.read(path).await.err(), np, "read {path:?}");
    assert_eq!(call.rules(), [rule], "read {path:?}");
    assert_eq!(call.write(path, b"x").await.err(), np, "write {path:?}");
    assert_eq!(call.rules(), [rule], "write {path:?}");
    let stat = call.files_().stat_at(again(&root), PathFlags::SYMLINK_FOLLOW, name()).await;
    assert_eq!(plain(stat).err(), np, "stat {path:?}");
    let times = call
        .files_()
        .set_times_at(again(&root), PathFlags::SYMLINK_FOLLOW, name(), NewTimestamp::Now, NewTimestamp::Now)
        .await;
    assert_eq!(plain(times).err(), np, "set times {path:?}");
    tree.assert_outside_untouched();
}

trait Files {
    fn files_(&mut self) -> caisson_gate_files::FilesView<'_>;
}

impl Files for common::Call {
    fn files_(&mut self) -> caisson_gate_files::FilesView<'_> {
        caisson_gate_files::HasFiles::files(self)
    }
}

#[tokio::test]
async fn no_way_up_or_from_the_root_of_the_host() {
    let tree = Tree::new();
    for path in [
        "..",
        "../",
        "../abcdef/secret",
        "../../../etc/crontab",
        "../../../.ssh/id_rsa",
        "sub/../../abcdef/secret",
        "sub/../..",
        "./.././abcdef/secret",
        "sub/./../../abcdef/secret",
        "../abc/a.txt",
        "/etc/passwd",
        "/",
        "//etc/passwd",
        "/proc/self/root",
        "/proc/self/root/etc/passwd",
        "/workspace/a.txt",
        "/sandboxer/secret",
        "/tmp/abcdef/secret",
    ] {
        refused(&tree, path, "files.outside").await;
    }
}

#[tokio::test]
async fn no_link_leads_out() {
    let tree = Tree::new();
    tree.link("leak", tree.outside(""));
    tree.link("up", "../abcdef");
    tree.link("file", "../abcdef/secret");
    tree.link("sub/deep", "../../abcdef/secret");
    tree.link("chain1", "chain2");
    tree.link("chain2", "sub/deep");
    tree.link("root", "/");
    tree.link("proc", "/proc/self/cwd");
    tree.link("round", "/proc/self/root");
    let absolute_inside = tree.inside("a.txt");
    tree.link("absolute-inside", absolute_inside);
    for path in [
        "leak/secret",
        "leak/missing",
        "leak",
        "up/secret",
        "up/folder/new",
        "file",
        "sub/deep",
        "chain1",
        "root/etc/passwd",
        "proc",
        "round/etc/passwd",
        "absolute-inside",
        "sub/../leak/secret",
    ] {
        refused(&tree, path, "files.outside").await;
    }
}

#[tokio::test]
async fn a_dangling_link_makes_nothing_where_it_points() {
    let tree = Tree::new();
    tree.link("to-outside", tree.outside("new"));
    tree.link("up-and-out", "../abcdef/new");
    tree.link("inside", "not-yet.txt");
    let mut call = tree.call(all());
    for (path, rule) in
        [("to-outside", "files.outside"), ("up-and-out", "files.outside"), ("inside", "files.dangling-link")]
    {
        assert_eq!(call.write(path, b"x").await.err(), Some(ErrorCode::NotPermitted), "{path}");
        assert_eq!(call.rules(), [rule], "{path}");
        let exclusive = call.open(path, CREATE | OpenFlags::EXCLUSIVE, WRITE).await;
        assert_eq!(exclusive.err(), Some(ErrorCode::Exist), "{path}");
    }
    assert!(!tree.inside("not-yet.txt").exists());
    tree.assert_outside_untouched();
}

#[tokio::test]
async fn a_file_with_a_second_name_is_nobodys_to_read() {
    let tree = Tree::new();
    std::fs::hard_link(tree.outside("secret"), tree.inside("alias.txt")).unwrap();
    tree.link("to-alias", "alias.txt");
    refused(&tree, "alias.txt", "files.hard-link").await;
    refused(&tree, "to-alias", "files.hard-link").await;
    // Nor is it emptied on the way.
    let mut call = tree.call(all());
    assert!(call.open("alias.txt", OpenFlags::TRUNCATE, WRITE).await.is_err());
    tree.assert_outside_untouched();
}

#[tokio::test]
async fn fifos_sockets_and_devices_are_refused_without_waiting() {
    let tree = Tree::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, tree.inside("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = UnixListener::bind(tree.inside("socket")).unwrap();
    let mut names = vec!["fifo", "socket"];
    let null = rustix::fs::makedev(1, 3);
    // Only root may make a device.
    if rustix::fs::mknodat(rustix::fs::CWD, tree.inside("null"), rustix::fs::FileType::CharacterDevice, mode, null)
        .is_ok()
    {
        names.push("null");
    }
    let mut call = tree.call(all());
    for name in names {
        for flags in [READ, WRITE, READ | WRITE] {
            let opened = call.open(name, OpenFlags::empty(), flags).await;
            assert_eq!(opened.err(), Some(ErrorCode::NotPermitted), "{name}");
            assert_eq!(call.rules(), ["files.special-file"], "{name} {flags:?}");
        }
    }
}

/// Runs `test` while something is mounted at `at`; false where this user may not mount.
async fn mounted<T>(arguments: &[&std::ffi::OsStr], at: &std::path::Path, test: impl Future<Output = T>) -> Option<T> {
    let quiet = std::process::Stdio::null;
    let mount = std::process::Command::new("mount").args(arguments).arg(at).stderr(quiet()).status();
    if !mount.is_ok_and(|status| status.success()) {
        eprintln!("left out: mounting needs root");
        return None;
    }
    let result = test.await;
    // Lazily: descriptors of the test may still be open.
    assert!(std::process::Command::new("umount").arg("-l").arg(at).status().unwrap().success());
    Some(result)
}

#[tokio::test]
async fn another_file_system_mounted_inside_is_outside() {
    let tree = Tree::new();
    std::fs::create_dir(tree.inside("mounted")).unwrap();
    let mut call = tree.call(all());
    let outside = tree.outside("");
    let arguments = ["--bind".as_ref(), outside.as_os_str()];
    let Some(read) = mounted(&arguments, &tree.inside("mounted"), call.read("mounted/secret")).await else { return };
    assert_eq!(read.err(), Some(ErrorCode::NotPermitted));
    assert_eq!(call.rules(), ["files.outside"]);
}

#[tokio::test]
async fn a_full_disk_is_told_and_nothing_is_lost() {
    use wasmtime_wasi::p2::StreamError;
    use wasmtime_wasi::p2::bindings::filesystem::types::Host as _;
    let tree = Tree::new();
    let workspace = tree.inside("");
    let arguments = ["-t", "tmpfs", "-o", "size=64k", "none"].map(std::ffi::OsStr::new);
    let test = async {
        let mut call = tree.call(all());
        call.write("kept", b"kept").await.unwrap();
        let fd = call.open("big", CREATE, WRITE).await.unwrap();
        let writer = plain(call.files_().write_via_stream(again(&fd), 0)).unwrap();
        let StreamError::LastOperationFailed(error) =
            call.table.get_mut(&writer).unwrap().write(vec![1; 1 << 20].into()).unwrap_err()
        else {
            return None;
        };
        let error = call.table.push(error).unwrap();
        let code = call.files_().filesystem_error_code(error).unwrap();
        assert_eq!(plain(call.files_().write(again(&fd), vec![1; 4096], 1 << 20).await).err(), code);
        assert_eq!(call.read("kept").await.unwrap(), b"kept");
        code
    };
    let Some(code) = mounted(&arguments, &workspace, test).await else { return };
    assert_eq!(code, Some(ErrorCode::InsufficientSpace));
}

#[tokio::test]
async fn a_descriptor_of_a_folder_is_no_way_out_of_it() {
    let tree = Tree::new();
    tree.link("sub/up", "../a.txt");
    let mut call = tree.call(all());
    let sub = call.open("sub", OpenFlags::DIRECTORY, READ).await.unwrap();
    for path in ["../a.txt", "..", "up", "/workspace/a.txt"] {
        assert_eq!(
            call.open_in(&sub, path, OpenFlags::empty(), READ).await.err(),
            Some(ErrorCode::NotPermitted),
            "{path}"
        );
        assert_eq!(call.rules(), ["files.outside"], "{path}");
    }
    // The folder is carried out of the workspace; its descriptor leads nowhere.
    std::fs::rename(tree.inside("sub"), tree.outside("folder/sub")).unwrap();
    assert_eq!(call.open_in(&sub, "b.txt", OpenFlags::empty(), READ).await.err(), Some(ErrorCode::NotPermitted));
    assert_eq!(call.open_in(&sub, "new.txt", CREATE, WRITE).await.err(), Some(ErrorCode::NotPermitted));
    assert!(plain(call.files_().read_directory(again(&sub)).await).is_err());
    assert!(!tree.outside("folder/sub/new.txt").exists());
}

#[tokio::test]
async fn links_are_never_made() {
    let tree = Tree::new();
    let mut call = tree.call(all());
    let root = call.root();
    for target in ["a.txt", "../abcdef/secret", "/etc/passwd"] {
        let made = call.files_().symlink_at(again(&root), target.into(), "new".into()).await;
        assert_eq!(plain(made).err(), Some(ErrorCode::NotPermitted));
        assert_eq!(call.rules(), ["files.no-links"]);
    }
    let made =
        call.files_().link_at(again(&root), PathFlags::empty(), "a.txt".into(), again(&root), "new".into()).await;
    assert_eq!(plain(made).err(), Some(ErrorCode::NotPermitted));
    assert!(std::fs::symlink_metadata(tree.inside("new")).is_err());
}

#[tokio::test]
async fn changes_stay_beneath_the_workspace() {
    let tree = Tree::new();
    tree.link("leak", tree.outside(""));
    tree.link("up", "../abcdef");
    let mut call = tree.call(all());
    let root = call.root();
    for path in ["../new", "leak/new", "up/new", "/new", "sub/../../new", "up/folder"] {
        let p = || path.to_owned();
        let results = [
            plain(call.files_().create_directory_at(again(&root), p()).await),
            plain(call.files_().remove_directory_at(again(&root), p()).await),
            plain(call.files_().unlink_file_at(again(&root), p()).await),
            plain(call.files_().rename_at(again(&root), "a.txt".into(), again(&root), p()).await),
            plain(call.files_().rename_at(again(&root), p(), again(&root), "mine".into()).await),
        ];
        for (n, result) in results.into_iter().enumerate() {
            assert_eq!(result.err(), Some(ErrorCode::NotPermitted), "{path} operation {n}");
        }
        assert!(call.rules().iter().all(|rule| rule == "files.outside"), "{path}");
    }
    for path in ["sub/..", "..", ".", "sub/."] {
        for result in [
            plain(call.files_().remove_directory_at(again(&root), path.into()).await),
            plain(call.files_().rename_at(again(&root), path.into(), again(&root), "mine".into()).await),
        ] {
            assert_eq!(result.err(), Some(ErrorCode::Invalid), "{path}");
        }
    }
    assert!(tree.inside("a.txt").exists() && tree.inside("sub/b.txt").exists());
    tree.assert_outside_untouched();
}

#[tokio::test]
async fn every_layer_has_its_say_and_the_effect_too() {
    let tree = Tree::new();
    let declared = || layer(LayerSource::Declared, Access::ReadWrite, None);
    let none = |source| caisson_contract::Layer { source, capabilities: std::sync::Arc::default() };
    let cases = [
        (Layers::none(), "files.not-declared", "files.not-declared"),
        (
            Layers::new(vec![declared(), none(LayerSource::Granted)], Effect::Mutating),
            "files.not-granted",
            "files.not-granted",
        ),
        (
            Layers::new(vec![declared(), none(LayerSource::Ceiling)], Effect::Mutating),
            "files.not-allowed-by-operator",
            "files.not-allowed-by-operator",
        ),
        (layers(Access::Read, None), "", "files.read-only"),
        (layers(Access::ReadWrite, Some(&["sub/**"])), "files.path-not-declared", "files.path-not-declared"),
        (
            Layers::new(
                vec![declared(), layer(LayerSource::Granted, Access::ReadWrite, Some(&["sub/**"]))],
                Effect::Mutating,
            ),
            "files.path-not-granted",
            "files.path-not-granted",
        ),
        (Layers::new(vec![declared()], Effect::ReadOnly), "", "files.effect-read-only"),
        (layers(Access::ReadWrite, Some(&[])), "files.path-not-declared", "files.path-not-declared"),
    ];
    for (layers, read_rule, write_rule) in cases {
        let mut call = tree.call(layers);
        let read = call.read("a.txt").await;
        assert_eq!(call.rules().join(","), read_rule);
        assert_eq!(read.is_ok(), read_rule.is_empty());
        for path in ["a.txt", "new.txt"] {
            assert_eq!(call.write(path, b"changed").await.err(), Some(ErrorCode::NotPermitted));
            let denials = call.denials();
            assert_eq!(denials.first().unwrap().rule, write_rule);
            assert!(!denials.first().unwrap().grant.is_empty(), "{write_rule}");
            assert_eq!(denials.first().unwrap().subject, format!("write /workspace/{path}"));
        }
        assert_eq!(std::fs::read(tree.inside("a.txt")).unwrap(), b"inside");
        assert!(!tree.inside("new.txt").exists());
    }
}

#[tokio::test]
async fn a_call_without_the_mount_makes_no_workspace() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("never");
    let ledger = std::sync::Arc::new(caisson_call::Ledger::new(Limits::default()));
    let blocking = std::sync::Arc::new(tokio::sync::Semaphore::new(1));
    let workspace = caisson_gate_files::Workspace::at(&path);
    let ctx = caisson_gate_files::FilesCtx::new(Layers::none(), std::sync::Arc::clone(&ledger), workspace, blocking);
    let mut call = common::Call { ctx, table: wasmtime::component::ResourceTable::new(), ledger };
    assert_eq!(call.list(".").await.err(), Some(ErrorCode::NotPermitted));
    assert_eq!(call.rules(), ["files.not-declared"]);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_file_opened_to_read_cannot_be_written() {
    let tree = Tree::new();
    for layers in [all(), layers(Access::Read, None)] {
        let mut call = tree.call(layers);
        let fd = call.open("a.txt", OpenFlags::empty(), READ).await.unwrap();
        assert!(plain(call.files_().write(again(&fd), b"x".to_vec(), 0).await).is_err());
        assert!(plain(call.files_().write_via_stream(again(&fd), 0)).is_err());
        assert!(plain(call.files_().append_via_stream(again(&fd))).is_err());
        assert!(plain(call.files_().set_size(again(&fd), 0).await).is_err());
        let times = call.files_().set_times(again(&fd), NewTimestamp::Now, NewTimestamp::Now).await;
        assert!(plain(times).is_err());
        assert_eq!(std::fs::read(tree.inside("a.txt")).unwrap(), b"inside");
    }
}

#[tokio::test]
async fn a_link_is_judged_by_where_it_leads() {
    let tree = Tree::new();
    std::fs::create_dir(tree.inside("private")).unwrap();
    std::fs::write(tree.inside("private/key"), b"key").unwrap();
    tree.link("sub/to-key", "../private/key");
    tree.link("sub/to-private", "../private");
    let mut call = tree.call(layers(Access::ReadWrite, Some(&["sub/**"])));
    for path in ["private/key", "sub/to-key", "sub/to-private/key", "sub/../private/key", "./private/./key"] {
        assert_eq!(call.read(path).await.err(), Some(ErrorCode::NotPermitted), "{path}");
        assert_eq!(call.rules(), ["files.path-not-declared"], "{path}");
        assert_eq!(call.write(path, b"x").await.err(), Some(ErrorCode::NotPermitted), "{path}");
        assert_eq!(call.rules(), ["files.path-not-declared"], "{path}");
    }
    assert_eq!(call.write("sub/to-private/new", b"x").await.err(), Some(ErrorCode::NotPermitted));
    assert!(!tree.inside("private/new").exists());
    // A listing shows what is granted and the way there, and no other name.
    assert_eq!(call.list(".").await.unwrap(), ["sub"]);
    assert_eq!(call.list("private").await.err(), Some(ErrorCode::NotPermitted));
}

#[tokio::test]
async fn moving_asks_for_both_sides_and_for_all_of_a_folder() {
    let tree = Tree::new();
    std::fs::create_dir_all(tree.inside("sub/dir")).unwrap();
    std::fs::create_dir_all(tree.inside("other")).unwrap();
    std::fs::write(tree.inside("sub/dir/x.md"), b"x").unwrap();
    let cases: [(&[&str], &str, &str); 6] = [
        (&["sub/**"], "sub/b.txt", "b.txt"),
        (&["sub/**"], "a.txt", "sub/a.txt"),
        (&["sub/**"], "other", "sub/other"),
        (&["sub/**"], "sub", "sub2"),
        // The folder's own name is granted, but not all that is in it.
        (&["sub/*"], "sub/dir", "sub/dir2"),
        (&["sub/**", "new"], "sub/dir", "new"),
    ];
    for (paths, from, to) in cases {
        let mut call = tree.call(layers(Access::ReadWrite, Some(paths)));
        let root = call.root();
        let moved = call.files_().rename_at(again(&root), from.into(), again(&root), to.into()).await;
        assert_eq!(plain(moved).err(), Some(ErrorCode::NotPermitted), "{from} to {to}");
        assert_eq!(call.rules(), ["files.path-not-declared"], "{from} to {to}");
        assert!(tree.inside(from).exists() && !tree.inside(to).exists(), "{from} to {to}");
    }
}

#[tokio::test]
async fn names_that_cannot_be_are_told_apart_from_refusals() {
    let tree = Tree::new();
    let mut call = tree.call(all());
    let long = "x".repeat(300);
    let deep = "x/".repeat(3000);
    for (path, code) in [
        ("", ErrorCode::NoEntry),
        ("missing", ErrorCode::NoEntry),
        ("missing/../a.txt", ErrorCode::NoEntry),
        ("%2e%2e%2fabcdef/secret", ErrorCode::NoEntry),
        ("..\\abcdef\\secret", ErrorCode::NoEntry),
        ("file:///etc/passwd", ErrorCode::NoEntry),
        ("~/x", ErrorCode::NoEntry),
        ("\u{ff0e}\u{ff0e}/abcdef/secret", ErrorCode::NoEntry),
        ("A.TXT", ErrorCode::NoEntry),
        ("a.txt/", ErrorCode::NotDirectory),
        ("a.txt/..", ErrorCode::NotDirectory),
        ("a\0b", ErrorCode::Invalid),
        (&long, ErrorCode::NameTooLong),
        (&deep, ErrorCode::NameTooLong),
    ] {
        assert_eq!(call.read(path).await.err(), Some(code), "{path:?}");
    }
    assert_eq!(call.rules(), [""; 0], "what is not there is not denied");
    assert_eq!(call.write("new/", b"x").await.err(), Some(ErrorCode::IsDirectory));
    assert_eq!(call.write("missing/new", b"x").await.err(), Some(ErrorCode::NoEntry));
    assert_eq!(call.write("sub", b"x").await.err(), Some(ErrorCode::IsDirectory));
    tree.link("loop", "loop");
    assert_eq!(call.read("loop").await.err(), Some(ErrorCode::Loop));
}

/// Trap by `budget`, which is what ends the call with `over-budget`.
fn spent<T>(result: wasmtime_wasi::p2::FsResult<T>, budget: Budget) {
    let error = result.err().unwrap().downcast().unwrap_err();
    assert_eq!(error.downcast_ref::<OverBudget>(), Some(&OverBudget(budget)));
}

#[tokio::test]
async fn what_is_spent_ends_the_call() {
    let tree = Tree::new();
    let limit = |budget, amount| {
        let mut limits = Limits::default();
        limits.set(budget, amount);
        tree.call_with(all(), limits)
    };

    let mut call = limit(Budget::FileOperations, 2);
    call.read("a.txt").await.unwrap();
    call.read("missing").await.unwrap_err();
    let root = call.root();
    spent(call.files_().stat_at(again(&root), PathFlags::empty(), "a.txt".into()).await, Budget::FileOperations);

    let mut call = limit(Budget::FileBytes, 8);
    let fd = call.open("a.txt", OpenFlags::empty(), READ | WRITE).await.unwrap();
    plain(call.files_().read(again(&fd), 6, 0).await).unwrap();
    spent(call.files_().read(again(&fd), 6, 0).await, Budget::FileBytes);
    spent(call.files_().write(again(&fd), b"123".to_vec(), 0).await, Budget::FileBytes);
    assert_eq!(std::fs::read(tree.inside("a.txt")).unwrap(), b"inside");

    let mut call = limit(Budget::HostMemory, 1 << 20);
    let root = call.root();
    for n in 0.. {
        let opened = call
            .files_()
            .open_at(again(&root), PathFlags::empty(), "a.txt".into(), OpenFlags::empty(), DescriptorFlags::READ)
            .await;
        if opened.is_err() {
            assert!(n > 10, "a budget of a megabyte is worth more than {n} descriptors");
            spent(opened, Budget::HostMemory);
            break;
        }
    }
}

#[tokio::test]
async fn a_stream_is_charged_byte_for_byte_and_a_full_disk_has_its_code() {
    use wasmtime_wasi::p2::StreamError;
    use wasmtime_wasi::p2::bindings::filesystem::types::Host as _;
    let tree = Tree::new();
    let mut limits = Limits::default();
    limits.set(Budget::FileBytes, 8);
    let mut call = tree.call_with(all(), limits);
    let fd = call.open("a.txt", OpenFlags::empty(), READ | WRITE).await.unwrap();
    let reader = plain(call.files_().read_via_stream(again(&fd), 0)).unwrap();
    assert_eq!(call.table.get_mut(&reader).unwrap().read(6).unwrap(), "inside");
    let writer = plain(call.files_().append_via_stream(again(&fd))).unwrap();
    match call.table.get_mut(&writer).unwrap().write("123".into()) {
        Err(StreamError::Trap(error)) => assert!(error.downcast_ref::<OverBudget>().is_some()),
        other => assert!(other.is_err(), "written past the budget"),
    }
    let full = std::io::Error::from(rustix::io::Errno::NOSPC);
    let error = call.table.push(wasmtime::Error::from(full)).unwrap();
    assert_eq!(call.files_().filesystem_error_code(error).unwrap(), Some(ErrorCode::InsufficientSpace));
}

#[tokio::test]
async fn a_file_that_an_output_names_goes_through_the_same_gate() {
    let tree = Tree::new();
    tree.link("leak", tree.outside(""));
    for (path, rule) in [
        ("/workspace/leak/secret", "files.outside"),
        ("/etc/passwd", "files.outside"),
        ("/workspace/../abcdef/secret", "files.outside"),
        ("/workspaces/a.txt", "files.outside"),
        ("/workspace/missing", "files.not-found"),
        ("/workspace/sub", "files.not-a-file"),
        ("/workspace", "files.not-a-file"),
    ] {
        let mut call = tree.call(all());
        assert_eq!(call.ctx.open_for_host(path).err().unwrap().rule, rule, "{path}");
        assert_eq!(call.rules(), [rule], "{path}");
    }
    let mut call = tree.call(layers(Access::Read, Some(&["sub/**"])));
    assert_eq!(call.ctx.open_for_host("/workspace/a.txt").err().unwrap().rule, "files.path-not-declared");
}
