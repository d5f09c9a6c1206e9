//! What the files gate lets through: the twins of `deny.rs`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use caisson_call::Budget;
use caisson_contract::{Access, Effect, LayerSource, Layers};
use caisson_gate_files::{FilesView, HasFiles};
use common::{Call, READ, Tree, WRITE, again, all, layer, layers, plain};
use std::io::Read as _;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::StreamError;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorType, ErrorCode, HostDescriptor, HostDirectoryEntryStream, NewTimestamp, OpenFlags,
    PathFlags,
};

fn files(call: &mut Call) -> FilesView<'_> {
    HasFiles::files(call)
}

#[tokio::test]
async fn paths_that_stay_inside_are_read() {
    let tree = Tree::new();
    tree.link("link", "a.txt");
    tree.link("sub/back", "../a.txt");
    tree.link("folder", "sub");
    tree.link("chain", "sub/back");
    let mut call = tree.call(all());
    for (path, bytes) in [
        ("a.txt", "inside"),
        ("./a.txt", "inside"),
        ("sub/../a.txt", "inside"),
        ("sub/./../sub/../a.txt", "inside"),
        ("sub//b.txt", "inside too"),
        ("link", "inside"),
        ("sub/back", "inside"),
        ("folder/b.txt", "inside too"),
        ("folder/../a.txt", "inside"),
        ("chain", "inside"),
    ] {
        assert_eq!(call.read(path).await.unwrap(), bytes.as_bytes(), "{path}");
    }
    assert_eq!(call.rules(), [""; 0]);
}

#[tokio::test]
async fn odd_names_are_names() {
    let tree = Tree::new();
    let mut call = tree.call(all());
    let long = "y".repeat(255);
    for name in [
        "$(x).txt",
        "%2e%2e",
        "%2e%2e%2fpasswd",
        "...",
        "..a",
        "a..",
        " ",
        "-rf",
        "~",
        "a\\..\\b",
        "new\nline",
        "\u{202e}gnp.exe",
        "\u{ff0e}\u{ff0e}",
        "日本語.txt",
        "CON",
        "*",
        "secret (deleted)",
        &long,
    ] {
        call.write(name, name.as_bytes()).await.unwrap();
        assert_eq!(call.read(name).await.unwrap(), name.as_bytes(), "{name:?}");
        assert_eq!(std::fs::read(tree.inside(name)).unwrap(), name.as_bytes(), "{name:?}");
    }
    assert_eq!(call.rules(), [""; 0]);
    tree.assert_outside_untouched();
}

#[tokio::test]
async fn a_file_is_made_emptied_appended_and_sized() {
    let tree = Tree::new();
    let mut call = tree.call(all());
    call.write("new.txt", b"0123456789").await.unwrap();
    call.write("new.txt", b"01234").await.unwrap();
    let fd = call.open("new.txt", OpenFlags::empty(), READ | WRITE).await.unwrap();
    let writer = plain(files(&mut call).append_via_stream(again(&fd))).unwrap();
    call.table.get_mut(&writer).unwrap().write("5".into()).unwrap();
    let writer = plain(files(&mut call).write_via_stream(again(&fd), 1)).unwrap();
    call.table.get_mut(&writer).unwrap().write("ab".into()).unwrap();
    call.table.get_mut(&writer).unwrap().write("c".into()).unwrap();
    let reader = plain(files(&mut call).read_via_stream(again(&fd), 0)).unwrap();
    let reader = call.table.get_mut(&reader).unwrap();
    assert_eq!(reader.read(4).unwrap(), "0abc");
    assert_eq!(reader.read(100).unwrap(), "45");
    assert!(matches!(reader.read(1), Err(StreamError::Closed)));
    plain(files(&mut call).set_size(again(&fd), 2).await).unwrap();
    plain(files(&mut call).sync(again(&fd)).await).unwrap();
    plain(files(&mut call).sync_data(again(&fd)).await).unwrap();
    assert_eq!(std::fs::read(tree.inside("new.txt")).unwrap(), b"0a");
    let exclusive = call.open("other.txt", OpenFlags::CREATE | OpenFlags::EXCLUSIVE, WRITE).await;
    assert!(exclusive.is_ok());
    let again_ = call.open("other.txt", OpenFlags::CREATE | OpenFlags::EXCLUSIVE, WRITE).await;
    assert_eq!(again_.err(), Some(ErrorCode::Exist));
}

#[tokio::test]
async fn folders_are_made_listed_moved_and_removed() {
    let tree = Tree::new();
    let mut call = tree.call(all());
    let root = call.root();
    plain(files(&mut call).create_directory_at(again(&root), "d/".into()).await).unwrap();
    plain(files(&mut call).create_directory_at(again(&root), "d/e".into()).await).unwrap();
    call.write("d/e/f", b"x").await.unwrap();
    assert_eq!(call.list(".").await.unwrap(), ["a.txt", "d", "sub"]);
    plain(files(&mut call).rename_at(again(&root), "d/e".into(), again(&root), "moved".into()).await).unwrap();
    plain(files(&mut call).rename_at(again(&root), "a.txt".into(), again(&root), "moved/a".into()).await).unwrap();
    assert_eq!(call.list("moved").await.unwrap(), ["a", "f"]);
    let full = files(&mut call).remove_directory_at(again(&root), "moved".into()).await;
    assert_eq!(plain(full).err(), Some(ErrorCode::NotEmpty));
    for name in ["moved/a", "moved/f"] {
        plain(files(&mut call).unlink_file_at(again(&root), name.into()).await).unwrap();
    }
    plain(files(&mut call).remove_directory_at(again(&root), "moved/".into()).await).unwrap();
    assert_eq!(call.list(".").await.unwrap(), ["d", "sub"]);
}

#[tokio::test]
async fn a_name_is_removed_or_moved_whatever_it_names() {
    let tree = Tree::new();
    tree.link("leak", tree.outside("secret"));
    std::fs::hard_link(tree.outside("secret"), tree.inside("alias")).unwrap();
    let mut call = tree.call(all());
    let root = call.root();
    plain(files(&mut call).rename_at(again(&root), "leak".into(), again(&root), "sub/leak".into()).await).unwrap();
    plain(files(&mut call).unlink_file_at(again(&root), "sub/leak".into()).await).unwrap();
    plain(files(&mut call).unlink_file_at(again(&root), "alias".into()).await).unwrap();
    assert_eq!(call.list("sub").await.unwrap(), ["b.txt"]);
    tree.assert_outside_untouched();
}

#[tokio::test]
async fn what_a_thing_is_can_be_asked() {
    let tree = Tree::new();
    tree.link("link", "a.txt");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, tree.inside("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let mut call = tree.call(all());
    let root = call.root();
    let mut stat =
        async |flags, path: &str| plain(files(&mut call).stat_at(again(&root), flags, path.into()).await).unwrap();
    let file = stat(PathFlags::empty(), "a.txt").await;
    assert_eq!((file.type_, file.size), (DescriptorType::RegularFile, 6));
    assert_eq!(stat(PathFlags::empty(), ".").await.type_, DescriptorType::Directory);
    assert_eq!(stat(PathFlags::empty(), "link").await.type_, DescriptorType::SymbolicLink);
    assert_eq!(stat(PathFlags::SYMLINK_FOLLOW, "link").await.size, 6);
    stat(PathFlags::empty(), "fifo").await;
    let target = plain(files(&mut call).readlink_at(again(&root), "link".into()).await).unwrap();
    assert_eq!(target, "a.txt");

    let fd = call.open("a.txt", OpenFlags::empty(), READ).await.unwrap();
    let by_fd = plain(files(&mut call).metadata_hash(again(&fd)).await).unwrap();
    let by_path =
        plain(files(&mut call).metadata_hash_at(again(&root), PathFlags::SYMLINK_FOLLOW, "link".into()).await).unwrap();
    assert_eq!((by_fd.lower, by_fd.upper), (by_path.lower, by_path.upper));
    assert_eq!(plain(files(&mut call).get_flags(again(&fd)).await).unwrap(), DescriptorFlags::READ);
    let other = call.open("link", OpenFlags::empty(), READ).await.unwrap();
    assert!(files(&mut call).is_same_object(again(&fd), again(&other)).await.unwrap());
}

#[tokio::test]
async fn times_are_set_on_files_and_folders() {
    use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
    let tree = Tree::new();
    let mut call = tree.call(all());
    let root = call.root();
    let at = || NewTimestamp::Timestamp(Datetime { seconds: 1000, nanoseconds: 0 });
    for path in ["a.txt", "sub"] {
        let set = files(&mut call)
            .set_times_at(again(&root), PathFlags::SYMLINK_FOLLOW, path.into(), NewTimestamp::NoChange, at())
            .await;
        plain(set).unwrap();
        let modified = tree.inside(path).metadata().unwrap().modified().unwrap();
        assert_eq!(modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs(), 1000, "{path}");
    }
    plain(files(&mut call).set_times(again(&root), NewTimestamp::NoChange, at()).await).unwrap();
}

#[tokio::test]
async fn what_all_layers_grant_is_granted() {
    let tree = Tree::new();
    let narrowed = Layers::new(
        vec![
            layer(LayerSource::Declared, Access::ReadWrite, Some(&["sub/**", "new/**"])),
            layer(LayerSource::Granted, Access::ReadWrite, Some(&["**/*.txt", "new/**"])),
        ],
        Effect::Mutating,
    );
    tree.link("to-b", "sub/b.txt");
    let mut call = tree.call(narrowed);
    assert_eq!(call.read("sub/b.txt").await.unwrap(), b"inside too");
    // A link outside the globs that leads to what is granted is a way there.
    assert_eq!(call.read("to-b").await.unwrap(), b"inside too");
    call.write("sub/c.txt", b"c").await.unwrap();
    let root = call.root();
    plain(files(&mut call).create_directory_at(again(&root), "new".into()).await).unwrap();
    plain(files(&mut call).create_directory_at(again(&root), "new/deep".into()).await).unwrap();
    call.write("new/deep/x", b"x").await.unwrap();
    plain(files(&mut call).rename_at(again(&root), "new/deep".into(), again(&root), "new/moved".into()).await).unwrap();
    plain(files(&mut call).rename_at(again(&root), "sub/c.txt".into(), again(&root), "new/c.txt".into()).await)
        .unwrap();
    assert_eq!(call.list(".").await.unwrap(), ["new", "sub"]);
    assert_eq!(call.list("sub").await.unwrap(), ["b.txt"]);
    assert_eq!(call.rules(), [""; 0]);

    let mut reader = tree.call(layers(Access::Read, None));
    assert_eq!(reader.read("a.txt").await.unwrap(), b"inside");
    let mut reader =
        tree.call(Layers::new(vec![layer(LayerSource::Declared, Access::ReadWrite, None)], Effect::ReadOnly));
    assert_eq!(reader.read("a.txt").await.unwrap(), b"inside");
    assert_eq!(reader.list(".").await.unwrap().len(), 4);
}

#[tokio::test]
async fn what_is_let_go_is_given_back() {
    let tree = Tree::new();
    let mut call = tree.call(all());
    let root = call.root();
    let before = call.held();
    for _ in 0..2000 {
        let fd = call.open_in(&root, "a.txt", OpenFlags::empty(), READ).await.unwrap();
        let stream = plain(files(&mut call).read_via_stream(again(&fd), 0)).unwrap();
        let listing = plain(files(&mut call).read_directory(again(&root)).await).unwrap();
        HostDirectoryEntryStream::drop(&mut files(&mut call), listing).unwrap();
        HostDescriptor::drop(&mut files(&mut call), fd).unwrap();
        drop(call.table.delete(stream).unwrap());
    }
    assert_eq!(call.held(), before);
}

#[tokio::test]
async fn a_huge_folder_is_listed_in_pieces() {
    let tree = Tree::new();
    for n in 0..5000 {
        std::fs::write(tree.inside(&format!("sub/file-{n:05}-{}", "x".repeat(40))), b"").unwrap();
    }
    let mut call = tree.call(all());
    assert_eq!(call.list("sub").await.unwrap().len(), 5001);
    // One buffer of names is charged, not five thousand.
    let fd = call.open("sub", OpenFlags::DIRECTORY, READ).await.unwrap();
    let before = call.held();
    let listing = plain(files(&mut call).read_directory(again(&fd)).await).unwrap();
    let first = files(&mut call).read_directory_entry(Resource::new_borrow(listing.rep())).await;
    assert!(plain(first).unwrap().is_some());
    assert!(call.held() - before < 256 << 10);
}

#[tokio::test]
async fn a_read_is_at_most_a_mebibyte() {
    let tree = Tree::new();
    std::fs::write(tree.inside("big"), vec![7; 3 << 20]).unwrap();
    let mut call = tree.call(all());
    let fd = call.open("big", OpenFlags::empty(), READ).await.unwrap();
    let (bytes, end) = plain(files(&mut call).read(again(&fd), u64::MAX, 0).await).unwrap();
    assert_eq!((bytes.len(), end), (1 << 20, false));
    let (bytes, end) = plain(files(&mut call).read(again(&fd), 1, 3 << 20).await).unwrap();
    assert_eq!((bytes.len(), end), (0, true));
    assert_eq!(call.ledger.spent(Budget::FileBytes), 1 << 20);
}

#[tokio::test]
async fn the_host_opens_what_an_output_names() {
    let tree = Tree::new();
    let mut call = tree.call(all());
    for path in ["/workspace/sub/b.txt", "sub/b.txt", "/workspace//sub/../sub/b.txt"] {
        let (mut file, size) = call.ctx.open_for_host(path).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), size), ("inside too", 10), "{path}");
    }
    assert_eq!(call.rules(), [""; 0]);
}

#[test]
fn it_links_once() {
    let engine = wasmtime::Engine::default();
    let mut linker = wasmtime::component::Linker::<Call>::new(&engine);
    caisson_gate_files::add_to_linker(&mut linker).unwrap();
    assert!(caisson_gate_files::add_to_linker(&mut linker).is_err());
}
