target triple = "spir64-unknown-unknown"

define spir_func i32 @used(i32 %a0) {
  %r = call spir_func i32 @llvm.expect.i32(i32 %a0, i32 7)
  ret i32 %r
}

declare spir_func i32 @llvm.expect.i32(i32, i32)
