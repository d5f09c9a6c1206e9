;; imports: random
;; Draws 64 MiB of random bytes, again and again.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32)
  (loop $again (call $random-bytes (i64.const 67108864) (i32.const 0)) (br $again))
  unreachable)
