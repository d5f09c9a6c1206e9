;; Answers with its arguments.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) (call $text (local.get 2) (local.get 3)))
