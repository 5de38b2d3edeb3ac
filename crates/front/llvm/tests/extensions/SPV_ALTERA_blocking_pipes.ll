; options: extensions=-SPV_INTEL_blocking_pipes
target triple = "spir64-unknown-unknown"

define spir_func void @used(target("spirv.Pipe", 0) %a0, ptr addrspace(4) %a1) {
  call spir_func void @_Z29__spirv_ReadPipeBlockingINTELIiEv8ocl_pipePiii(target("spirv.Pipe", 0) %a0, ptr addrspace(4) %a1, i32 4, i32 4)
  ret void
}

declare spir_func void @_Z29__spirv_ReadPipeBlockingINTELIiEv8ocl_pipePiii(target("spirv.Pipe", 0), ptr addrspace(4), i32, i32)
