;; Never gets ready.
(func $start (loop $again (br $again)))
(start $start)
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) unreachable)
