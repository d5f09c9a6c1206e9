;; Computes without end.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) (local $n i64)
  (loop $again
    (local.set $n (i64.add (i64.mul (local.get $n) (i64.const 6364136223846793005)) (i64.const 1)))
    (br $again))
  unreachable)
