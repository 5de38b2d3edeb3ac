target triple = "spir64-unknown-unknown"

define spir_func i32 @used(i32 %a2) {
  %r = call spir_func i32 @_Z20__spirv_GroupIMulKHRiii(i32 2, i32 0, i32 %a2)
  ret i32 %r
}

declare spir_func i32 @_Z20__spirv_GroupIMulKHRiii(i32, i32, i32)
