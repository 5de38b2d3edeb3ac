target triple = "spir64-unknown-unknown"

define spir_func void @used(i32 %a) {
  call spir_func void @_Z16__spirv_AbortKHRi(i32 %a)
  unreachable
}

declare spir_func void @_Z16__spirv_AbortKHRi(i32)
