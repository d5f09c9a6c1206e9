//! A component at the boundary: the interfaces link at an older version, a refusal is a code, a spent budget ends the call.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use caisson_call::{Budget, OverBudget};
use common::{Call, Tree, all};
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};

/// Positions in the interface's enum.
const NO_ENTRY: u32 = 20;
const NOT_PERMITTED: u32 = 31;

async fn run(call: Call, path: &str, times: u32) -> (wasmtime::Result<u32>, Call) {
    let engine = Engine::default();
    let component = Component::new(&engine, wat::parse_str(include_str!("guest.wat")).unwrap()).unwrap();
    let mut linker = Linker::<Call>::new(&engine);
    caisson_gate_files::add_to_linker(&mut linker).unwrap();
    let mut store = Store::new(&engine, call);
    let instance = linker.instantiate_async(&mut store, &component).await.unwrap();
    let run = instance.get_typed_func::<(&str, u32), (u32,)>(&mut store, "run").unwrap();
    let answer = run.call_async(&mut store, (path, times)).await.map(|(n,)| n);
    (answer, store.into_data())
}

#[tokio::test]
async fn a_guest_is_refused_by_a_code_and_the_ledger_knows_the_rule() {
    let tree = Tree::new();
    tree.link("leak", tree.outside(""));
    for (path, rule) in
        [("leak/secret", "files.outside"), ("../abcdef/secret", "files.outside"), ("/etc/passwd", "files.outside")]
    {
        let (answer, mut call) = run(tree.call(all()), path, 1).await;
        assert_eq!(answer.unwrap(), 1000 + NOT_PERMITTED, "{path}");
        assert_eq!(call.rules(), [rule], "{path}");
    }
    let (answer, mut call) = run(tree.call(caisson_contract::Layers::none()), "a.txt", 1).await;
    assert_eq!(answer.unwrap(), 1000 + NOT_PERMITTED);
    assert_eq!(call.rules(), ["files.not-declared"]);
}

#[tokio::test]
async fn a_hoarder_of_descriptors_is_ended_over_budget() {
    let tree = Tree::new();
    let (answer, _) = run(tree.call(all()), "a.txt", 100_000).await;
    assert_eq!(answer.unwrap_err().downcast_ref::<OverBudget>(), Some(&OverBudget(Budget::HostMemory)));
}

#[tokio::test]
async fn a_guest_reads_what_it_was_granted() {
    let tree = Tree::new();
    let (answer, mut call) = run(tree.call(all()), "sub/../a.txt", 3).await;
    assert_eq!(answer.unwrap(), 6);
    assert_eq!(call.rules(), [""; 0]);
    assert_eq!(run(tree.call(all()), "missing", 1).await.0.unwrap(), 1000 + NO_ENTRY);
}
