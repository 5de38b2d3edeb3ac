; Opaque types as pointers, as older modules have them: found by the names of functions, by the
; metadata of kernels, and followed through variables, selects and calls.
target triple = "spir64-unknown-unknown"

define spir_kernel void @image(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %s) !kernel_arg_type !0 !kernel_arg_access_qual !1 {
  %variable = alloca ptr addrspace(1), align 8
  store ptr addrspace(1) %in, ptr %variable, align 8
  %loaded = load ptr addrspace(1), ptr %variable, align 8
  %texel = call spir_func <4 x float> @_Z11read_imagef11ocl_image2d11ocl_samplerDv2_i(ptr addrspace(1) %loaded, i32 %s, <2 x i32> zeroinitializer)
  %other = call spir_func <4 x float> @_Z11read_imagef11ocl_image2d11ocl_samplerDv2_i(ptr addrspace(1) %in, i32 20, <2 x i32> zeroinitializer)
  %sum = fadd <4 x float> %texel, %other
  call spir_func void @_Z12write_imagef11ocl_image2dDv2_iDv4_f(ptr addrspace(1) %out, <2 x i32> zeroinitializer, <4 x float> %sum)
  call spir_func void @helper(ptr addrspace(1) %in)
  ret void
}

define internal spir_func void @helper(ptr addrspace(1) %image) {
  %w = call spir_func i32 @_Z15get_image_width11ocl_image2d(ptr addrspace(1) %image)
  ret void
}

define spir_kernel void @copy(ptr addrspace(3) %to, ptr addrspace(1) %from, i1 %c) {
  %events = alloca [2 x ptr], align 8
  %first = getelementptr [2 x ptr], ptr %events, i64 0, i64 0
  %e = call spir_func ptr @_Z21async_work_group_copyPU3AS3iPU3AS1Kim9ocl_event(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 16, ptr null)
  %f = call spir_func ptr @_Z21async_work_group_copyPU3AS3iPU3AS1Kim9ocl_event(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 16, ptr %e)
  %g = select i1 %c, ptr %e, ptr %f
  store ptr %g, ptr %first, align 8
  %generic = addrspacecast ptr %first to ptr addrspace(4)
  call spir_func void @_Z17wait_group_eventsiPU3AS49ocl_event(i32 1, ptr addrspace(4) %generic)
  ret void
}

declare spir_func <4 x float> @_Z11read_imagef11ocl_image2d11ocl_samplerDv2_i(ptr addrspace(1), i32, <2 x i32>)
declare spir_func void @_Z12write_imagef11ocl_image2dDv2_iDv4_f(ptr addrspace(1), <2 x i32>, <4 x float>)
declare spir_func i32 @_Z15get_image_width11ocl_image2d(ptr addrspace(1))
declare spir_func ptr @_Z21async_work_group_copyPU3AS3iPU3AS1Kim9ocl_event(ptr addrspace(3), ptr addrspace(1), i64, ptr)
declare spir_func void @_Z17wait_group_eventsiPU3AS49ocl_event(i32, ptr addrspace(4))

!0 = !{!"image2d_t", !"image2d_t", !"sampler_t"}
!1 = !{!"read_only", !"write_only", !"none"}
