target triple = "spir64-unknown-unknown"

define spir_func i32 @used(i1 %c, i32 %a) {
  %f = select i1 %c, ptr @one, ptr @two
  %b = call spir_func i32 %f(i32 %a)
  ret i32 %b
}

define internal spir_func i32 @one(i32 %a) {
  ret i32 %a
}

define internal spir_func i32 @two(i32 %a) {
  ret i32 0
}
