//! What a guest of the tests can import: the component's side of it, and its flat functions.

/// One import.
pub struct Import {
    /// The component's side.
    pub instances: &'static str,
    /// Name in the guest, instance, function, and flat type of each function.
    pub functions: &'static [(&'static str, &'static str, &'static str, &'static str)],
}

impl Import {
    /// Definitions of the flat functions.
    pub fn lowered(&self) -> String {
        let one = |(name, instance, function, _): &(&str, &str, &str, &str)| {
            format!(
                "(core func ${name} (canon lower (func ${instance} \"{function}\") (memory $mem) (realloc $realloc)))"
            )
        };
        self.functions.iter().map(one).collect()
    }

    /// Imports of the core module.
    pub fn imported(&self) -> String {
        self.functions
            .iter()
            .map(|(name, .., flat)| format!("(import \"host\" \"{name}\" (func ${name} {flat}))"))
            .collect()
    }

    /// What the core module is instantiated with.
    pub fn handed(&self) -> String {
        self.functions.iter().map(|(name, ..)| format!("(export \"{name}\" (func ${name}))")).collect()
    }
}

/// The import of that name.
pub fn import(name: &str) -> Import {
    match name {
        "random" => RANDOM,
        "poll" => POLL,
        "exit" => EXIT,
        "stderr" => STDERR,
        "fields" => FIELDS,
        "files" => FILES,
        "changes" => CHANGES,
        other => panic!("`{other}` is no import that support/imports.rs knows"),
    }
}

const RANDOM: Import = Import {
    instances: r#"
(import "wasi:random/random@0.2.12" (instance $random (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
(import "wasi:random/insecure-seed@0.2.12" (instance $seed (export "insecure-seed" (func (result (tuple u64 u64))))))"#,
    functions: &[
        ("random-bytes", "random", "get-random-bytes", "(param i64 i32)"),
        ("seed", "seed", "insecure-seed", "(param i32)"),
    ],
};

const POLL: Import = Import {
    instances: r#"
(import "wasi:io/poll@0.2.12" (instance $poll
  (export "pollable" (type $p (sub resource)))
  (export "[method]pollable.block" (func (param "self" (borrow $p))))))
(alias export $poll "pollable" (type $pollable))
(import "wasi:clocks/monotonic-clock@0.2.12" (instance $clock
  (alias outer 1 $pollable (type $outer)) (export "pollable" (type $p (eq $outer)))
  (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))"#,
    functions: &[
        ("block", "poll", "[method]pollable.block", "(param i32)"),
        ("subscribe", "clock", "subscribe-duration", "(param i64) (result i32)"),
    ],
};

const EXIT: Import = Import {
    instances: r#"(import "wasi:cli/exit@0.2.12" (instance $exits (export "exit" (func (param "status" (result))))))"#,
    functions: &[("exit", "exits", "exit", "(param i32)")],
};

const STDERR: Import = Import {
    instances: r#"
(import "wasi:io/error@0.2.12" (instance $io-error (export "error" (type (sub resource)))))
(alias export $io-error "error" (type $io-error-type))
(import "wasi:io/streams@0.2.12" (instance $streams
  (export "output-stream" (type $out (sub resource)))
  (alias outer 1 $io-error-type (type $e0)) (export "error" (type $e (eq $e0)))
  (type $s0 (variant (case "last-operation-failed" (own $e)) (case "closed")))
  (export "stream-error" (type $s (eq $s0)))
  (export "[method]output-stream.blocking-write-and-flush"
    (func (param "self" (borrow $out)) (param "contents" (list u8)) (result (result (error $s)))))))
(alias export $streams "output-stream" (type $output-stream))
(import "wasi:cli/stderr@0.2.12" (instance $stderr
  (alias outer 1 $output-stream (type $o)) (export "output-stream" (type $out (eq $o)))
  (export "get-stderr" (func (result (own $out))))))"#,
    functions: &[
        ("stderr", "stderr", "get-stderr", "(result i32)"),
        ("print", "streams", "[method]output-stream.blocking-write-and-flush", "(param i32 i32 i32 i32)"),
    ],
};

const FIELDS: Import = Import {
    instances: r#"
(import "wasi:http/types@0.2.12" (instance $http
  (export "fields" (type $f (sub resource)))
  (export "[constructor]fields" (func (result (own $f))))))"#,
    functions: &[("fields", "http", "[constructor]fields", "(result i32)")],
};

const FILES: Import = Import {
    instances: r#"
(import "wasi:filesystem/types@0.2.12" (instance $files
  (export "descriptor" (type $d (sub resource)))
  (export "directory-entry-stream" (type $listing (sub resource)))
  (type $path-flags0 (flags "symlink-follow")) (export "path-flags" (type $path-flags (eq $path-flags0)))
  (type $open0 (flags "create" "directory" "exclusive" "truncate")) (export "open-flags" (type $open (eq $open0)))
  (type $flags0 (flags "read" "write" "file-integrity-sync" "data-integrity-sync" "requested-write-sync" "mutate-directory"))
  (export "descriptor-flags" (type $flags (eq $flags0)))
  (type $code0 (enum "access" "would-block" "already" "bad-descriptor" "busy" "deadlock" "quota" "exist" "file-too-large"
    "illegal-byte-sequence" "in-progress" "interrupted" "invalid" "io" "is-directory" "loop" "too-many-links"
    "message-size" "name-too-long" "no-device" "no-entry" "no-lock" "insufficient-memory" "insufficient-space"
    "not-directory" "not-empty" "not-recoverable" "unsupported" "no-tty" "no-such-device" "overflow" "not-permitted"
    "pipe" "read-only" "invalid-seek" "text-file-busy" "cross-device"))
  (export "error-code" (type $code (eq $code0)))
  (export "[method]descriptor.open-at" (func (param "self" (borrow $d)) (param "path-flags" $path-flags) (param "path" string)
    (param "open-flags" $open) (param "flags" $flags) (result (result (own $d) (error $code)))))
  (export "[method]descriptor.read" (func (param "self" (borrow $d)) (param "length" u64) (param "offset" u64)
    (result (result (tuple (list u8) bool) (error $code)))))
  (export "[method]descriptor.read-directory" (func (param "self" (borrow $d)) (result (result (own $listing) (error $code)))))))
(alias export $files "descriptor" (type $descriptor))
(import "wasi:filesystem/preopens@0.2.12" (instance $preopens
  (alias outer 1 $descriptor (type $outer)) (export "descriptor" (type $d (eq $outer)))
  (export "get-directories" (func (result (list (tuple (own $d) string)))))))"#,
    functions: &[
        ("directories", "preopens", "get-directories", "(param i32)"),
        ("open", "files", "[method]descriptor.open-at", "(param i32 i32 i32 i32 i32 i32 i32)"),
        ("read", "files", "[method]descriptor.read", "(param i32 i64 i64 i32)"),
        ("listing", "files", "[method]descriptor.read-directory", "(param i32 i32)"),
    ],
};

/// The failure that every import of `caisson:host` answers with; an instance's own copy of it.
macro_rules! failure {
    () => {
        r#"(type $c0 (enum "not-granted" "denied" "needs-approval" "invalid" "not-found" "conflict" "quota" "rate-limited" "cancelled" "unavailable" "failed"))
           (export "code" (type $c (eq $c0)))
           (type $f0 (record (field "code" $c) (field "message" string) (field "retry-after-ms" (option u32)) (field "details" (option string))))
           (export "failure" (type $f (eq $f0)))"#
    };
}

const CHANGES: Import = Import {
    instances: concat!(
        r#"(import "caisson:host/exec@0.1.0" (instance $exec "#,
        failure!(),
        r#"(type $variable0 (record (field "name" string) (field "value" string))) (export "variable" (type $variable (eq $variable0)))
  (type $options0 (record (field "directory" (option string)) (field "env" (list $variable)) (field "stdin" (option (list u8))) (field "timeout-ms" (option u32))))
  (export "options" (type $options (eq $options0)))
  (type $command0 (variant (case "shell" string) (case "program" (list string)))) (export "command" (type $command (eq $command0)))
  (type $ending0 (variant (case "exited" s32) (case "signalled" s32) (case "timed-out") (case "out-of-memory")))
  (export "ending" (type $ending (eq $ending0)))
  (type $captured0 (record (field "kept" (list u8)) (field "dropped-bytes" u64))) (export "captured" (type $captured (eq $captured0)))
  (type $finished0 (record (field "ending" $ending) (field "stdout" $captured) (field "stderr" $captured)))
  (export "finished" (type $finished (eq $finished0)))
  (export "process" (type $process (sub resource)))
  (export "run" (func (param "command" $command) (param "options" $options) (result (result $finished (error $f)))))
  (export "[static]process.start" (func (param "command" $command) (param "options" $options) (result (result (own $process) (error $f)))))))
(import "caisson:host/schedule@0.1.0" (instance $schedule "#,
        failure!(),
        r#"(type $entry0 (record (field "id" string) (field "name" string) (field "cron" string) (field "time-zone" string)
    (field "message" string) (field "enabled" bool) (field "next-ms" (option f64))))
  (export "entry" (type $entry (eq $entry0)))
  (export "create" (func (param "name" string) (param "cron" string) (param "time-zone" string) (param "message" string) (result (result $entry (error $f)))))
  (export "set-enabled" (func (param "id" string) (param "enabled" bool) (result (result $entry (error $f)))))
  (export "remove" (func (param "id" string) (result (result (error $f)))))))
(import "caisson:host/runtime@0.1.0" (instance $runtime "#,
        failure!(),
        r#"(export "request" (func (param "kind" string) (param "body" string) (result (result string (error $f)))))))
(import "caisson:host/pages@0.1.0" (instance $pages "#,
        failure!(),
        r#"(export "publish" (func (param "title" string) (param "html" string) (param "ttl-seconds" u32) (result (result string (error $f)))))))
(import "caisson:host/tools@0.1.0" (instance $others "#,
        failure!(),
        r#"(alias outer 1 $output (type $o0)) (export "output" (type $o (eq $o0)))
  (export "invoke" (func (param "name" string) (param "arguments" string) (result (result $o (error $f)))))))
(import "caisson:host/documents@0.1.0" (instance $documents "#,
        failure!(),
        r#"(export "collection" (type $collection (sub resource)))
  (type $scope0 (enum "tenant" "agent" "user" "session")) (export "scope" (type $scope (eq $scope0)))
  (export "[static]collection.open" (func (param "name" string) (param "scope" $scope) (result (result (own $collection) (error $f)))))))"#
    ),
    functions: &[
        ("run", "exec", "run", "(param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)"),
        ("start", "exec", "[static]process.start", "(param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)"),
        ("create", "schedule", "create", "(param i32 i32 i32 i32 i32 i32 i32 i32 i32)"),
        ("enable", "schedule", "set-enabled", "(param i32 i32 i32 i32)"),
        ("remove", "schedule", "remove", "(param i32 i32 i32)"),
        ("request", "runtime", "request", "(param i32 i32 i32 i32 i32)"),
        ("publish", "pages", "publish", "(param i32 i32 i32 i32 i32 i32)"),
        ("invoke", "others", "invoke", "(param i32 i32 i32 i32 i32)"),
        ("collection", "documents", "[static]collection.open", "(param i32 i32 i32 i32)"),
    ],
};
