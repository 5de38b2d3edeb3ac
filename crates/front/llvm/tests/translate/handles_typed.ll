; Opaque types as pointers to opaque structures, as LLVM 14 has them.
target triple = "spir64-unknown-unknown"

%opencl.image2d_ro_t = type opaque
%opencl.image3d_wo_t = type opaque
%opencl.sampler_t = type opaque
%spirv.Image._float_1_0_0_0_0_0_0 = type opaque

define spir_kernel void @typed(%opencl.image2d_ro_t addrspace(1)* %in, %opencl.image3d_wo_t addrspace(1)* %out, %opencl.sampler_t addrspace(2)* %s, %spirv.Image._float_1_0_0_0_0_0_0 addrspace(1)* %friendly) {
  %variable = alloca %opencl.image2d_ro_t addrspace(1)*, align 8
  store %opencl.image2d_ro_t addrspace(1)* %in, %opencl.image2d_ro_t addrspace(1)** %variable, align 8
  %loaded = load %opencl.image2d_ro_t addrspace(1)*, %opencl.image2d_ro_t addrspace(1)** %variable, align 8
  %texel = call spir_func <4 x float> @_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i(%opencl.image2d_ro_t addrspace(1)* %loaded, %opencl.sampler_t addrspace(2)* %s, <2 x i32> zeroinitializer)
  call spir_func void @_Z12write_imagef14ocl_image3d_woDv4_iDv4_f(%opencl.image3d_wo_t addrspace(1)* %out, <4 x i32> zeroinitializer, <4 x float> %texel)
  ret void
}

declare spir_func <4 x float> @_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i(%opencl.image2d_ro_t addrspace(1)*, %opencl.sampler_t addrspace(2)*, <2 x i32>)
declare spir_func void @_Z12write_imagef14ocl_image3d_woDv4_iDv4_f(%opencl.image3d_wo_t addrspace(1)*, <4 x i32>, <4 x float>)
