;; imports: random
;; Lists one tool with a name of its own for each time that it is asked.
(func (export "list-tools") (result i32)
  (call $seed (i32.const 16384))
  (i32.store (i32.const 1028) (i32.const 1040))
  (i32.store (i32.const 1032) (i32.const 1))
  (i32.store (i32.const 1040) (i32.const 17000))
  (i32.store (i32.const 1044) (i32.const 1))
  (i32.store8 (i32.const 17000) (i32.add (i32.const 97) (i32.and (i32.load (i32.const 16384)) (i32.const 15))))
  (i32.const 1024))
(func (export "call-tool") (param i32 i32 i32 i32) (result i32) unreachable)
