;; Answers with the file that its arguments name.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) (call $file (local.get 2) (local.get 3)))
