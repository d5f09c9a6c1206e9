;; Fills memory without end: each instruction works for long and has no place to be preempted within.
(memory $big 256)
(func (export "call-tool") (param i32 i32 i32 i32) (result i32)
  (loop $again (memory.fill $big (i32.const 0) (i32.const 1) (i32.const 16777216)) (br $again))
  unreachable)
