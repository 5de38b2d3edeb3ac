target triple = "spir64-unknown-unknown"

define spir_func i32 @used(i32 %a0, i32 %a1, i32 %a2) {
  %r = call spir_func i32 @_Z28__spirv_BitwiseFunctionINTELiiii(i32 %a0, i32 %a1, i32 %a2, i32 42)
  ret i32 %r
}

declare spir_func i32 @_Z28__spirv_BitwiseFunctionINTELiiii(i32, i32, i32, i32)
