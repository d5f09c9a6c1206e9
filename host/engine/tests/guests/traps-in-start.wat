;; Crashes before it is ready.
(func $start unreachable)
(start $start)
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) unreachable)
