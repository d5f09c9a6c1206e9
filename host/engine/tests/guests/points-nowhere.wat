;; Answers with a text that lies past the end of its memory.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) (call $text (i32.const -65536) (i32.const 131072)))
