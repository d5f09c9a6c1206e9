;; Answers with 128 MiB.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32)
  (drop (memory.grow (i32.const 2048)))
  (call $text (i32.const 65536) (i32.const 134217728)))
