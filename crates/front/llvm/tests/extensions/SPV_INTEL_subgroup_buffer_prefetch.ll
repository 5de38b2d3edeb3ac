target triple = "spir64-unknown-unknown"

define spir_func void @used(ptr addrspace(1) %a0) {
  call spir_func void @_Z34__spirv_SubgroupBlockPrefetchINTELPU3AS1Khjj(ptr addrspace(1) %a0, i32 16, i32 0)
  ret void
}

declare spir_func void @_Z34__spirv_SubgroupBlockPrefetchINTELPU3AS1Khjj(ptr addrspace(1), i32, i32)
