;; Answers a thousand times with one and the same mebibyte: little to hold for the guest, a gibibyte for the host.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) (local $n i32) (local $at i32)
  (drop (memory.grow (i32.const 16)))
  (drop (call $output))
  (local.set $at (i32.const 65536))
  (loop $again
    (i32.store offset=4 (local.get $at) (i32.const 524288))
    (i32.store offset=8 (local.get $at) (i32.const 1048576))
    (local.set $at (i32.add (local.get $at) (i32.const 36)))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000))))
  (i32.store (i32.const 8196) (i32.const 65536))
  (i32.store (i32.const 8200) (i32.const 1000))
  (i32.const 8192))
