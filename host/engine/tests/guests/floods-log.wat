;; imports: stderr
;; Prints without end.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) (local $err i32)
  (local.set $err (call $stderr))
  (loop $again (call $print (local.get $err) (i32.const 16384) (i32.const 4096) (i32.const 0)) (br $again))
  unreachable)
