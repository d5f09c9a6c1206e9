//! Another process of the same workspace swaps names while the gate looks. Each test goes on until it has seen both sides
//! of the swap often enough, so that it cannot pass without having raced.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use caisson_contract::Access;
use common::{Call, READ, SECRET, Tree, again, all, layers, plain};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, HostDescriptor, OpenFlags};

/// Swaps two names until dropped.
struct Racer {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Racer {
    fn swap(a: PathBuf, b: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                // Fails while the test has one of them moved away.
                let _ = renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE);
                std::thread::yield_now();
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

const ENOUGH: usize = 300;
const GIVE_UP: usize = 3_000_000;

fn unlimited(tree: &Tree, layers: caisson_contract::Layers) -> Call {
    let limits = caisson_call::Limits { of: [u64::MAX; caisson_call::Budget::ALL.len()], ..Default::default() };
    tree.call_with(layers, limits)
}

#[tokio::test]
async fn a_folder_swapped_for_a_link_never_leads_out() {
    let tree = Tree::new();
    std::fs::create_dir(tree.inside("swap")).unwrap();
    std::fs::write(tree.inside("swap/secret"), b"inside").unwrap();
    tree.link("other", tree.outside(""));
    let mut call = unlimited(&tree, all());
    let root = call.root();
    let racer = Racer::swap(tree.inside("swap"), tree.inside("other"));
    let (mut inside, mut refused) = (0, 0);
    for n in 0..GIVE_UP {
        if inside >= ENOUGH && refused >= ENOUGH {
            break;
        }
        match call.open_in(&root, "swap/secret", OpenFlags::empty(), READ).await {
            Ok(fd) => {
                let (bytes, _) = plain(HostDescriptor::read(&mut files(&mut call), again(&fd), 100, 0).await).unwrap();
                HostDescriptor::drop(&mut files(&mut call), fd).unwrap();
                assert_ne!(bytes, SECRET);
                inside += 1;
            }
            Err(error) => {
                assert!(
                    matches!(error, ErrorCode::NotPermitted | ErrorCode::NoEntry | ErrorCode::WouldBlock),
                    "{error}"
                );
                refused += 1;
            }
        }
        let name = format!("swap/new{}", n % 7);
        let _ = plain(files(&mut call).create_directory_at(again(&root), name.clone()).await);
        let _ = plain(files(&mut call).remove_directory_at(again(&root), name.clone()).await);
        if let Ok(fd) = call.open_in(&root, &name, OpenFlags::CREATE, common::WRITE).await {
            HostDescriptor::drop(&mut files(&mut call), fd).unwrap();
        }
        let _ = plain(files(&mut call).unlink_file_at(again(&root), name).await);
    }
    drop(racer);
    assert!(inside >= ENOUGH && refused >= ENOUGH, "{inside} inside, {refused} refused");
    tree.assert_outside_untouched();
}

#[tokio::test]
async fn a_link_swapped_under_globs_never_shows_what_is_not_granted() {
    let tree = Tree::new();
    std::fs::create_dir(tree.inside("private")).unwrap();
    std::fs::write(tree.inside("private/key"), b"private").unwrap();
    std::fs::create_dir_all(tree.inside("sub/real")).unwrap();
    std::fs::write(tree.inside("sub/real/key"), b"granted").unwrap();
    tree.link("sub/one", "real");
    tree.link("sub/two", "../private");
    let mut call = unlimited(&tree, layers(Access::ReadWrite, Some(&["sub/**"])));
    let root = call.root();
    let racer = Racer::swap(tree.inside("sub/one"), tree.inside("sub/two"));
    let (mut granted, mut refused) = (0, 0);
    for _ in 0..GIVE_UP {
        if granted >= ENOUGH && refused >= ENOUGH {
            break;
        }
        match call.open_in(&root, "sub/one/key", OpenFlags::empty(), READ).await {
            Ok(fd) => {
                let (bytes, _) = plain(HostDescriptor::read(&mut files(&mut call), again(&fd), 100, 0).await).unwrap();
                HostDescriptor::drop(&mut files(&mut call), fd).unwrap();
                assert_eq!(bytes, b"granted");
                granted += 1;
            }
            Err(_) => refused += 1,
        }
        if let Ok(fd) = call.open_in(&root, "sub/one/made", OpenFlags::CREATE, common::WRITE).await {
            HostDescriptor::drop(&mut files(&mut call), fd).unwrap();
        }
    }
    drop(racer);
    assert!(granted >= ENOUGH && refused >= ENOUGH, "{granted} granted, {refused} refused");
    assert!(!tree.inside("private/made").exists());
}

#[tokio::test]
async fn a_file_swapped_for_a_folder_is_not_moved_whole() {
    let tree = Tree::new();
    std::fs::write(tree.inside("sub/x"), b"file").unwrap();
    std::fs::create_dir(tree.inside("folder")).unwrap();
    std::fs::write(tree.inside("folder/deep"), b"deep").unwrap();
    let mut call = unlimited(&tree, layers(Access::ReadWrite, Some(&["sub/*"])));
    let root = call.root();
    let racer = Racer::swap(tree.inside("sub/x"), tree.inside("folder"));
    let (mut moved, mut refused) = (0, 0);
    for _ in 0..GIVE_UP {
        if moved >= ENOUGH && refused >= ENOUGH {
            break;
        }
        match plain(files(&mut call).rename_at(again(&root), "sub/x".into(), again(&root), "sub/y".into()).await) {
            Ok(()) => {
                assert!(tree.inside("sub/y").is_file());
                std::fs::rename(tree.inside("sub/y"), tree.inside("sub/x")).unwrap();
                moved += 1;
            }
            Err(_) => refused += 1,
        }
    }
    drop(racer);
    assert!(moved >= ENOUGH && refused >= ENOUGH, "{moved} moved, {refused} refused");
}

fn files(call: &mut Call) -> caisson_gate_files::FilesView<'_> {
    caisson_gate_files::HasFiles::files(call)
}
