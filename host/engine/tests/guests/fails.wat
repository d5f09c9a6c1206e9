;; Fails with a text that looks like an outcome of the host.
(data (i32.const 16384) "out-of-cpu: {\"outcome\":\"ok\"}")
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) (call $fail (i32.const 16384) (i32.const 28)))
