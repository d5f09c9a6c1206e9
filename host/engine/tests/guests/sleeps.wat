;; imports: poll
;; Sleeps for an hour.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32)
  (call $block (call $subscribe (i64.const 3600000000000)))
  unreachable)
