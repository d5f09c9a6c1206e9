//! `explain` answers as the gate would, by opening; and makes nothing.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use caisson_contract::{Access, Capabilities, Effect, FilesRule, LayerSource, Layers};
use caisson_gate_files::{Decision, Explanation, explain, unknown_mount};
use common::{Tree, all, layer, layers};

fn tree() -> Tree {
    let tree = Tree::new();
    tree.link("leak", tree.outside(""));
    tree.link("dangling-link.txt", tree.outside("not-yet"));
    tree.link("dangling-inside.txt", "not-yet");
    std::fs::hard_link(tree.outside("secret"), tree.inside("hardlink-alias.txt")).unwrap();
    tree
}

fn ask(tree: &Tree, input: &str, mode: Access) -> Explanation {
    let answer = explain(&tree.inside(""), &all(), input, mode);
    tree.assert_outside_untouched();
    assert!(!tree.inside("not-yet").exists());
    answer
}

#[test]
fn paths_that_other_gateways_let_through() {
    let tree = tree();
    for (input, read_rule) in [
        ("../../../etc/crontab", "files.outside"),
        ("../../../.ssh/id_rsa", "files.outside"),
        ("/tmp/abcdef/secret", "files.outside"),
        ("../abcdef/secret", "files.outside"),
        ("%2e%2e%2fabcdef/secret", "files.not-found"),
        ("/workspacer/secret", "files.outside"),
        ("/workspace/../abcdef/secret", "files.outside"),
        ("leak/secret", "files.outside"),
        ("leak/secret.txt", "files.outside"),
        ("leak", "files.outside"),
        ("dangling-link.txt", "files.outside"),
        ("hardlink-alias.txt", "files.hard-link"),
        ("$(touch /tmp/canary).txt", "files.not-found"),
        ("file:///etc/passwd", "files.not-found"),
        ("\\\\host\\share", "files.not-found"),
        ("a.txt\0.png", "files.bad-name"),
        ("/proc/self/root/etc/passwd", "files.outside"),
        ("~/.ssh/id_rsa", "files.not-found"),
    ] {
        let read = ask(&tree, input, Access::Read);
        assert_eq!((read.decision, read.rule.as_str()), (Decision::Deny, read_rule), "{input}");
        assert!(read.detail.starts_with("read "), "{}", read.detail);
        // Written, what is missing would be made, if its folder were there.
        let write = ask(&tree, input, Access::ReadWrite);
        let is_name = input.starts_with('\\');
        assert_eq!(write.decision == Decision::Allow, is_name, "{input}: {write:?}");
    }
}

#[test]
fn a_dangling_link_is_not_where_something_would_be_made() {
    let tree = tree();
    let write = ask(&tree, "dangling-inside.txt", Access::ReadWrite);
    assert_eq!((write.decision, write.rule.as_str()), (Decision::Deny, "files.dangling-link"));
    let read = ask(&tree, "dangling-inside.txt", Access::Read);
    assert_eq!((read.decision, read.rule.as_str()), (Decision::Deny, "files.not-found"));
}

#[test]
fn the_layer_and_the_line_that_would_do_are_named() {
    let tree = tree();
    let granted = layer(LayerSource::Granted, Access::Read, Some(&["sub/**"]));
    let layers = Layers::new(vec![layer(LayerSource::Declared, Access::ReadWrite, None), granted], Effect::Mutating);
    let read = explain(&tree.inside(""), &layers, "/workspace/a.txt", Access::Read);
    assert_eq!(read.rule, "files.path-not-granted");
    assert_eq!(read.detail, "read /workspace/a.txt: refused");
    assert_eq!(read.grant, "`a.txt` among the `paths` of \"/workspace\" in the tenant's grant");
    assert_eq!(explain(&tree.inside(""), &layers, "sub/b.txt", Access::ReadWrite).rule, "files.read-only");
    assert_eq!(explain(&tree.inside(""), &Layers::none(), "sub/b.txt", Access::Read).rule, "files.not-declared");
    assert_eq!(explain(&tree.inside("missing"), &all(), "a", Access::Read).decision, Decision::Deny);
}

#[test]
fn what_is_granted_is_said_so() {
    let tree = tree();
    for (input, mode, found) in [
        ("a.txt", Access::Read, "a file"),
        ("/workspace/sub/../a.txt", Access::Read, "a file"),
        ("/workspace", Access::Read, "a directory"),
        ("sub/", Access::Read, "a directory"),
        ("a.txt", Access::ReadWrite, "a file"),
        ("sub", Access::ReadWrite, "a directory"),
        ("$(x).txt", Access::ReadWrite, "it would be made"),
        ("sub/new", Access::ReadWrite, "it would be made"),
    ] {
        let answer = ask(&tree, input, mode);
        assert_eq!((answer.decision, answer.rule.as_str()), (Decision::Allow, "files.granted"), "{input} {answer:?}");
        assert!(answer.detail.ends_with(found), "{input} {answer:?}");
    }
    assert_eq!(std::fs::read(tree.inside("a.txt")).unwrap(), b"inside");
    assert!(!tree.inside("sub/new").exists() && !tree.inside("$(x).txt").exists());
    let narrowed = layers(Access::ReadWrite, Some(&["sub/**"]));
    assert_eq!(explain(&tree.inside(""), &narrowed, "sub/b.txt", Access::ReadWrite).decision, Decision::Allow);
}

#[test]
fn another_mount_is_unknown() {
    let rule = || FilesRule { access: Access::Read, paths: None };
    let mut capabilities = Capabilities::default();
    capabilities.files.insert("/workspace".into(), rule());
    assert_eq!(unknown_mount(&capabilities), None);
    capabilities.files.insert("/data".into(), rule());
    let denial = unknown_mount(&capabilities).unwrap();
    assert_eq!((denial.rule.as_str(), denial.subject.as_str()), ("files.mount-unknown", "mount /data"));
}
