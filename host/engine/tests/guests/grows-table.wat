;; Grows a table until it is refused.
(table $t 0 funcref)
(func (export "call-tool") (param i32 i32 i32 i32) (result i32)
  (loop $again (br_if $again (i32.ne (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1))))
  unreachable)
