; Functions named after instructions of SPIR-V, as SYCL has them.
target triple = "spir64-unknown-unknown"

define spir_kernel void @kernel(ptr addrspace(1) %out, float %f, i64 %i) {
  %g = call spir_func i64 @_Z33__spirv_BuiltInGlobalInvocationIdi(i32 0)
  %s = call spir_func float @_Z16__spirv_ocl_exp2f(float %f)
  %n = call spir_func zeroext i1 @_Z13__spirv_IsNanf(float %s)
  %r = call spir_func float @_Z17__spirv_GroupFAddiif(i32 2, i32 0, float %s)
  %c = call spir_func i32 @_Z30__spirv_ConvertFToS_Rint_rtzf(float %r)
  %a = call spir_func i32 @_Z18__spirv_AtomicIAddPU3AS1iiii(ptr addrspace(1) %out, i32 1, i32 0, i32 %c)
  call spir_func void @_Z22__spirv_ControlBarrieriii(i32 2, i32 2, i32 272)
  ret void
}

declare spir_func i64 @_Z33__spirv_BuiltInGlobalInvocationIdi(i32)
declare spir_func float @_Z16__spirv_ocl_exp2f(float)
declare spir_func zeroext i1 @_Z13__spirv_IsNanf(float)
declare spir_func float @_Z17__spirv_GroupFAddiif(i32, i32, float)
declare spir_func i32 @_Z30__spirv_ConvertFToS_Rint_rtzf(float)
declare spir_func i32 @_Z18__spirv_AtomicIAddPU3AS1iiii(ptr addrspace(1), i32, i32, i32)
declare spir_func void @_Z22__spirv_ControlBarrieriii(i32, i32, i32)
