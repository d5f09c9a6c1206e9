;; Never gives the host the memory that it asks for to hand the arguments over.
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (loop $again (br $again)) unreachable)
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) unreachable)
