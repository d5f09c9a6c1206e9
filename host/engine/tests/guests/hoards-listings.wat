;; imports: files
;; Begins a million listings of its folder.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) (local $n i32) (local $folder i32)
  (call $directories (i32.const 0))
  (local.set $folder (i32.load (i32.load (i32.const 0))))
  (loop $again
    (call $listing (local.get $folder) (i32.const 0))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000000))))
  (call $text (i32.const 0) (i32.const 0)))
