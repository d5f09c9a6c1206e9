;; Calls itself without end.
(func $deeper (param i64) (result i64)
  (i64.add (call $deeper (i64.add (local.get 0) (i64.const 1))) (local.get 0)))
(func (export "call-tool") (param i32 i32 i32 i32) (result i32)
  (drop (call $deeper (i64.const 0)))
  unreachable)
