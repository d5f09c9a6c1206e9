;; Has more memory at the start than it may have.
(memory $big 1100)
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) unreachable)
