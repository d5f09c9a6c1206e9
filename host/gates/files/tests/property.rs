//! No path whatever yields a descriptor of something outside.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Call, READ, SECRET, Tree, WRITE, again, all, plain};
use proptest::prelude::*;
use std::os::fd::AsRawFd;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::bindings::filesystem::types::{HostDescriptor, OpenFlags, PathFlags};

const SEGMENTS: [&str; 28] = [
    "",
    ".",
    "..",
    "...",
    "a.txt",
    "sub",
    "b.txt",
    "leak",
    "up",
    "inner",
    "round",
    "abs",
    "root",
    "proc",
    "dangling",
    "dangling-out",
    "hard",
    "abc",
    "abcdef",
    "secret",
    "folder",
    "new",
    "%2e%2e",
    "\u{ff0e}\u{ff0e}",
    "..\\",
    "a\0",
    "tmp",
    "etc",
];

fn tree() -> Tree {
    let tree = Tree::new();
    tree.link("leak", tree.outside(""));
    tree.link("up", "..");
    tree.link("sub/up", "../..");
    tree.link("sub/inner", "../sub");
    tree.link("inner", "sub/inner/");
    tree.link("round", "round");
    tree.link("abs", tree.inside("a.txt"));
    tree.link("root", "/");
    tree.link("proc", "/proc/self/root");
    tree.link("dangling", "new");
    tree.link("dangling-out", "../abcdef/new");
    tree.link("sub/leak", "../../abcdef/folder");
    std::fs::hard_link(tree.outside("secret"), tree.inside("hard")).unwrap();
    tree
}

fn path() -> impl Strategy<Value = String> {
    (any::<bool>(), prop::collection::vec(prop::sample::select(&SEGMENTS[..]), 1..7), any::<bool>()).prop_map(
        |(absolute, segments, slash)| {
            let lead = if absolute && segments.len() % 3 == 0 { "/" } else { "" };
            format!("{lead}{}{}", segments.join("/"), if slash { "/" } else { "" })
        },
    )
}

async fn every_way(call: &mut Call, tree: &Tree, path: &str) {
    let root = call.root();
    let inside = tree.inside("").canonicalize().unwrap();
    for follow in [PathFlags::SYMLINK_FOLLOW, PathFlags::empty()] {
        for (open, flags) in [
            (OpenFlags::empty(), READ),
            (OpenFlags::DIRECTORY, READ),
            (OpenFlags::empty(), WRITE),
            (OpenFlags::CREATE, READ | WRITE),
            (OpenFlags::CREATE | OpenFlags::TRUNCATE, WRITE),
        ] {
            let opened = plain(files(call).open_at(again(&root), follow, path.to_owned(), open, flags).await);
            let Ok(fd) = opened else { continue };
            let raw = match call.table.get(&fd).unwrap() {
                Descriptor::File(file) => file.file.as_raw_fd(),
                Descriptor::Dir(dir) => dir.dir.as_raw_fd(),
            };
            let real = std::fs::read_link(format!("/proc/self/fd/{raw}")).unwrap();
            assert!(real.starts_with(&inside), "{path:?} is {real:?}");
            if let Ok((bytes, _)) = plain(files(call).read(again(&fd), 100, 0).await) {
                assert_ne!(bytes, SECRET, "{path:?}");
            }
        }
        let _ = plain(files(call).stat_at(again(&root), follow, path.to_owned()).await);
    }
    let _ = plain(files(call).create_directory_at(again(&root), path.to_owned()).await);
    let _ = plain(files(call).rename_at(again(&root), "a.txt".into(), again(&root), path.to_owned()).await);
    let _ = plain(files(call).rename_at(again(&root), path.to_owned(), again(&root), "sub/taken".into()).await);
    let _ = plain(files(call).unlink_file_at(again(&root), path.to_owned()).await);
    let _ = plain(files(call).remove_directory_at(again(&root), path.to_owned()).await);
    let _ = call.ctx.open_for_host(path);
    tree.assert_outside_untouched();
}

fn files(call: &mut Call) -> caisson_gate_files::FilesView<'_> {
    caisson_gate_files::HasFiles::files(call)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_path_leads_out(path in path()) {
        let tree = tree();
        let mut call = tree.call(all());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(every_way(&mut call, &tree, &path));
    }
}
