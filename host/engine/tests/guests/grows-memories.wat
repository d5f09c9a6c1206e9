;; Grows two memories, each of which is within the limit.
(memory $second 1)
(func (export "call-tool") (param i32 i32 i32 i32) (result i32)
  (drop (memory.grow (i32.const 600)))
  (drop (memory.grow $second (i32.const 600)))
  unreachable)
