;; Opens a file of its first directory `times` times without letting go, then reads it once.
;; Answers the bytes read, 1000 + the error of the open, or 2000 + the error of the read.
(component
  (import "wasi:filesystem/types@0.2.0" (instance $types
    (export "descriptor" (type $descriptor (sub resource)))
    (type $path-flags0 (flags "symlink-follow"))
    (export "path-flags" (type $path-flags (eq $path-flags0)))
    (type $open-flags0 (flags "create" "directory" "exclusive" "truncate"))
    (export "open-flags" (type $open-flags (eq $open-flags0)))
    (type $flags0 (flags "read" "write" "file-integrity-sync" "data-integrity-sync" "requested-write-sync" "mutate-directory"))
    (export "descriptor-flags" (type $flags (eq $flags0)))
    (type $code0 (enum
      "access" "would-block" "already" "bad-descriptor" "busy" "deadlock" "quota" "exist" "file-too-large"
      "illegal-byte-sequence" "in-progress" "interrupted" "invalid" "io" "is-directory" "loop" "too-many-links"
      "message-size" "name-too-long" "no-device" "no-entry" "no-lock" "insufficient-memory" "insufficient-space"
      "not-directory" "not-empty" "not-recoverable" "unsupported" "no-tty" "no-such-device" "overflow" "not-permitted"
      "pipe" "read-only" "invalid-seek" "text-file-busy" "cross-device"))
    (export "error-code" (type $code (eq $code0)))
    (export "[method]descriptor.open-at" (func
      (param "self" (borrow $descriptor)) (param "path-flags" $path-flags) (param "path" string)
      (param "open-flags" $open-flags) (param "flags" $flags) (result (result (own $descriptor) (error $code)))))
    (export "[method]descriptor.read" (func
      (param "self" (borrow $descriptor)) (param "length" u64) (param "offset" u64)
      (result (result (tuple (list u8) bool) (error $code)))))))
  (alias export $types "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
    (alias outer 1 $descriptor (type $outer))
    (export "descriptor" (type $descriptor (eq $outer)))
    (export "get-directories" (func (result (list (tuple (own $descriptor) string)))))))

  (core module $memory
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 4096))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      global.get $next
      (global.set $next (i32.add (global.get $next) (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -8))))))
  (core instance $memory (instantiate $memory))
  (alias core export $memory "memory" (core memory $mem))
  (alias core export $memory "realloc" (core func $realloc))
  (core func $directories (canon lower (func $preopens "get-directories") (memory $mem) (realloc $realloc)))
  (core func $open (canon lower (func $types "[method]descriptor.open-at") (memory $mem) (realloc $realloc)))
  (core func $read (canon lower (func $types "[method]descriptor.read") (memory $mem) (realloc $realloc)))

  (core module $main
    (import "m" "memory" (memory 1))
    (import "h" "directories" (func $directories (param i32)))
    (import "h" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
    (import "h" "read" (func $read (param i32 i64 i64 i32)))
    (func (export "run") (param $path i32) (param $len i32) (param $times i32) (result i32)
      (local $dir i32)
      (call $directories (i32.const 0))
      (local.set $dir (i32.load (i32.load (i32.const 0))))
      (loop $again
        (call $open (local.get $dir) (i32.const 1) (local.get $path) (local.get $len) (i32.const 0) (i32.const 1) (i32.const 16))
        (if (i32.load8_u (i32.const 16)) (then (return (i32.add (i32.const 1000) (i32.load8_u (i32.const 20))))))
        (local.set $times (i32.sub (local.get $times) (i32.const 1)))
        (br_if $again (i32.gt_s (local.get $times) (i32.const 0))))
      (call $read (i32.load (i32.const 20)) (i64.const 100) (i64.const 0) (i32.const 32))
      (if (i32.load8_u (i32.const 32)) (then (return (i32.add (i32.const 2000) (i32.load8_u (i32.const 36))))))
      (i32.load (i32.const 40))))
  (core instance $main (instantiate $main
    (with "m" (instance $memory))
    (with "h" (instance
      (export "directories" (func $directories)) (export "open" (func $open)) (export "read" (func $read))))))
  (func (export "run") (param "path" string) (param "times" u32) (result u32)
    (canon lift (core func $main "run") (memory $mem) (realloc $realloc))))
