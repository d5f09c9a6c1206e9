//! Makes a whole component of a few lines of core WebAssembly.
//!
//! A guest's text is the body of a core module that exports `call-tool` with the canonical ABI's flat parameters (name, its
//! length, arguments, their length) and answers the address of a `result<output, error>`. A first line `;; imports: a b` names
//! what it calls of [`imports`](super::imports). It finds `$text`, `$file` and `$fail`, which make an answer of a text, memory 0
//! with a megabyte, whose bytes from 16384 to 32768 are its own, and `$realloc`.

use super::imports::import;
use std::fmt::Write;

const TYPES: &str = r#"
(import "caisson:plugin/plugin-types@0.1.0" (instance $plugin-types
  (type $effect0 (enum "read-only" "mutating"))
  (export "effect" (type $effect (eq $effect0)))
  (type $tool0 (record (field "name" string) (field "title" (option string)) (field "description" string)
    (field "parameters" string) (field "returns" (option string)) (field "effect" $effect) (field "deferred" bool)
    (field "idempotent" bool) (field "cache-seconds" (option u32)) (field "groups" (list string)) (field "extra" (option string))))
  (export "tool" (type $tool (eq $tool0)))
  (type $media0 (record (field "mime-type" string) (field "data" (list u8))))
  (export "media" (type $media (eq $media0)))
  (type $reference0 (record (field "path" string) (field "mime-type" (option string)) (field "caption" (option string))))
  (export "file-reference" (type $reference (eq $reference0)))
  (type $content0 (variant (case "text" string) (case "image" $media) (case "audio" $media) (case "file" $reference) (case "kept" string)))
  (export "content" (type $content (eq $content0)))
  (type $output0 (record (field "for-model" (list $content)) (field "for-user" (option string)) (field "structured" (option string))
    (field "silent" bool) (field "extra" (option string))))
  (export "output" (type $output (eq $output0)))
  (type $reason0 (enum "invalid-arguments" "not-found" "unavailable" "failed"))
  (export "reason" (type $reason (eq $reason0)))
  (type $error0 (record (field "reason" $reason) (field "message" string) (field "retry-after-ms" (option u32)) (field "details" (option string))))
  (export "error" (type $error (eq $error0)))))
(alias export $plugin-types "tool" (type $tool))
(alias export $plugin-types "output" (type $output))
(alias export $plugin-types "error" (type $error))
"#;

/// Memory of its own, so that what is imported can be lowered before the guest is instantiated.
const LIBRARY: &str = r#"
(core module $library
  (memory (export "memory") 16)
  (global $next (mut i32) (i32.const 32768))
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (block $fits
      (br_if $fits (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
      (br_if $fits (i32.ne (i32.const -1) (memory.grow (i32.add (i32.const 1) (i32.shr_u
        (i32.sub (global.get $next) (i32.mul (memory.size) (i32.const 65536))) (i32.const 16))))))
      unreachable)
    (local.get $at)))
(core instance $library (instantiate $library))
(alias core export $library "memory" (core memory $mem))
(alias core export $library "realloc" (core func $realloc))
"#;

const ANSWERS: &str = r#"
  (func $output (result i32)
    (memory.fill (i32.const 8192) (i32.const 0) (i32.const 128))
    (i32.store (i32.const 8196) (i32.const 8256))
    (i32.store (i32.const 8200) (i32.const 1))
    (i32.const 8192))
  (func $text (param $at i32) (param $length i32) (result i32)
    (call $output)
    (i32.store (i32.const 8260) (local.get $at))
    (i32.store (i32.const 8264) (local.get $length)))
  (func $file (param $at i32) (param $length i32) (result i32)
    (call $text (local.get $at) (local.get $length))
    (i32.store8 (i32.const 8256) (i32.const 3)))
  (func $fail (param $at i32) (param $length i32) (result i32)
    (call $text (local.get $at) (local.get $length))
    (i32.store8 (i32.const 8192) (i32.const 1))
    (i32.store8 (i32.const 8196) (i32.const 3))
    (i32.store (i32.const 8200) (local.get $at))
    (i32.store (i32.const 8204) (local.get $length)))
"#;

/// Where `list-tools` answers from, and where its one record lies.
const LIST: u32 = 1024;
const RECORD: u32 = LIST + 16;
const STRINGS: u32 = RECORD + 80;

/// The bytes of a component whose core module has this body.
pub fn component(body: &str) -> Vec<u8> {
    wat::parse_str(text(body)).unwrap_or_else(|error| panic!("{error}"))
}

fn text(body: &str) -> String {
    let named = body.lines().find_map(|line| line.strip_prefix(";; imports:")).unwrap_or_default();
    let imports: Vec<_> = named.split_whitespace().map(import).collect();
    let of = |part: fn(&super::imports::Import) -> String| imports.iter().map(part).collect::<Vec<_>>().join("\n");
    let exports = |name: &str| body.contains(&format!("(export \"{name}\")"));
    let mut text = format!("(component {TYPES}\n{}\n{LIBRARY}\n{}\n", of(|i| i.instances.into()), of(|i| i.lowered()));
    let _ = write!(
        text,
        "(core module $main
           (import \"library\" \"memory\" (memory 1)) (import \"library\" \"realloc\" (func $realloc (param i32 i32 i32 i32) (result i32)))
           {}\n{ANSWERS}\n{}\n{body})
         (core instance $main (instantiate $main (with \"library\" (instance $library)) (with \"host\" (instance {}))))",
        of(|i| i.imported()),
        if exports("list-tools") { String::new() } else { list_tools() },
        of(|i| i.handed()),
    );
    if exports("cabi_realloc") {
        text.push_str("(alias core export $main \"cabi_realloc\" (core func $lift-realloc))");
    } else {
        text.push_str("(alias core export $library \"realloc\" (core func $lift-realloc))");
    }
    let post = if exports("post-return") { "(post-return (core func $main \"post-return\"))" } else { "" };
    let _ = write!(
        text,
        "(func $list (result (result (list $tool) (error $error)))
           (canon lift (core func $main \"list-tools\") (memory $mem) (realloc $lift-realloc)))
         (func $call (param \"name\" string) (param \"arguments\" string) (result (result $output (error $error)))
           (canon lift (core func $main \"call-tool\") (memory $mem) (realloc $lift-realloc) {post}))
         (instance $tools (export \"list-tools\" (func $list)) (export \"call-tool\" (func $call)))
         (export \"caisson:plugin/tools@0.1.0\" (instance $tools)))"
    );
    text
}

/// One tool, as it lies in memory.
fn list_tools() -> String {
    let strings = ["guest", "a guest", r#"{"type":"object"}"#];
    let mut record = [0_u32; 20];
    let mut at = STRINGS;
    for (string, field) in strings.iter().zip([0, 5, 7]) {
        let length = u32::try_from(string.len()).unwrap_or_default();
        (record[field], record[field + 1]) = (at, length);
        at += length;
    }
    let words = [0, RECORD, 1, 0].into_iter().chain(record);
    let bytes = words.flat_map(u32::to_le_bytes).chain(strings.concat().into_bytes());
    let escaped: String = bytes.map(|byte| format!("\\{byte:02x}")).collect();
    format!("(data (i32.const {LIST}) \"{escaped}\") (func (export \"list-tools\") (result i32) (i32.const {LIST}))")
}
