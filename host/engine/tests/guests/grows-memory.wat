;; Grows memory until it is refused, and then crashes as an allocator does.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32)
  (loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
  unreachable)
