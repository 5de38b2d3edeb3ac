target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64"
target triple = "spirv-unknown-vulkan-compute"

define spir_func void @main() #0 {
0:
  %1 = call spir_func i32 @_Z20__spirv_SpecConstantii(i32 3, i32 8)
  %2 = add i32 %1, 1
  ret void
}

declare spir_func i32 @_Z20__spirv_SpecConstantii(i32, i32)

attributes #0 = { nounwind "hlsl.shader"="compute" "hlsl.numthreads"="8,2,1" "spirv.LocalSizeIds"="3,4," }
