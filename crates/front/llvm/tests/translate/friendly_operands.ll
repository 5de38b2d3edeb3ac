; Functions that stand for instructions with operands that are numbers, results that are stored, and
; types that only SPIR-V has.
target triple = "spir64-unknown-unknown"

%pair = type { i32, i32 }

define spir_kernel void @kernel(target("spirv.Image", float, 1, 0, 0, 0, 0, 0, 0) %image, target("spirv.Sampler") %s, ptr addrspace(1) %p, i32 %x) {
  %carry = alloca %pair, align 4
  %sampled = call spir_func target("spirv.SampledImage", float, 1, 0, 0, 0, 0, 0, 0) @_Z20__spirv_SampledImage(target("spirv.Image", float, 1, 0, 0, 0, 0, 0, 0) %image, target("spirv.Sampler") %s)
  %texel = call spir_func <4 x float> @_Z38__spirv_ImageSampleExplicitLod_Rfloat4(target("spirv.SampledImage", float, 1, 0, 0, 0, 0, 0, 0) %sampled, <2 x float> zeroinitializer, i32 2, float 0.0)
  call spir_func void @_Z13__spirv_StorePU3AS1Dv4_fS_ii(ptr addrspace(1) %p, <4 x float> %texel, i32 2, i32 16)
  %again = call spir_func <4 x float> @_Z12__spirv_LoadPU3AS1Dv4_f(ptr addrspace(1) %p)
  call spir_func void @_Z17__spirv_IAddCarryii(ptr sret(%pair) %carry, i32 %x, i32 %x)
  %mine = call spir_func i32 @_Z22__spirv_some_of_my_owni(i32 %x)
  ret void
}

define spir_func void @matrices(ptr addrspace(1) %p) {
  %m = call spir_func target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhii(ptr addrspace(1) %p, i32 0, i32 16)
  ret void
}

declare spir_func target("spirv.SampledImage", float, 1, 0, 0, 0, 0, 0, 0) @_Z20__spirv_SampledImage(target("spirv.Image", float, 1, 0, 0, 0, 0, 0, 0), target("spirv.Sampler"))
declare spir_func <4 x float> @_Z38__spirv_ImageSampleExplicitLod_Rfloat4(target("spirv.SampledImage", float, 1, 0, 0, 0, 0, 0, 0), <2 x float>, i32, float)
declare spir_func void @_Z13__spirv_StorePU3AS1Dv4_fS_ii(ptr addrspace(1), <4 x float>, i32, i32)
declare spir_func <4 x float> @_Z12__spirv_LoadPU3AS1Dv4_f(ptr addrspace(1))
declare spir_func void @_Z17__spirv_IAddCarryii(ptr sret(%pair), i32, i32)
declare spir_func i32 @_Z22__spirv_some_of_my_owni(i32)
declare spir_func target("spirv.CooperativeMatrixKHR", half, 3, 8, 16, 0) @_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dhii(ptr addrspace(1), i32, i32)
