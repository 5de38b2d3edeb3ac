target triple = "spir64-unknown-unknown"

define spir_func i32 @used(ptr addrspace(1) %a0, i1 %a1, i32 %a2) {
  %r = call spir_func i32 @_Z27__spirv_PredicatedLoadINTELPU3AS1ibi(ptr addrspace(1) %a0, i1 %a1, i32 %a2)
  ret i32 %r
}

declare spir_func i32 @_Z27__spirv_PredicatedLoadINTELPU3AS1ibi(ptr addrspace(1), i1, i32)
