;; imports: random
;; Calls a host function that costs no budget, without end.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32)
  (loop $again (call $seed (i32.const 16384)) (br $again))
  unreachable)
