;; imports: files
;; Opens and reads the file that its arguments name; answers its content, or fails with a letter: `a` and the error's number.
(func (export "call-tool") (param i32 i32 i32 i32) (result i32)
  (call $directories (i32.const 0))
  (call $open (i32.load (i32.load (i32.const 0))) (i32.const 1) (local.get 2) (local.get 3) (i32.const 0) (i32.const 1) (i32.const 16))
  (if (i32.load8_u (i32.const 16)) (then
    (i32.store8 (i32.const 16384) (i32.add (i32.const 97) (i32.load8_u (i32.const 20))))
    (return (call $fail (i32.const 16384) (i32.const 1)))))
  (call $read (i32.load (i32.const 20)) (i64.const 100) (i64.const 0) (i32.const 32))
  (call $text (i32.load (i32.const 36)) (i32.load (i32.const 40))))
