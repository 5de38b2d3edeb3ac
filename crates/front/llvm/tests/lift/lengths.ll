target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64"
target triple = "spirv-unknown-vulkan-compute"
%array.16 = type { [16 x <2 x float>] }
%array.17 = type { [8 x float] }
@__spirv_BuiltInLocalInvocationIndex = external addrspace(7) global i32
@tile = internal addrspace(3) global %array.16 undef

define spir_func void @main() #0 {
0:
  %rows = alloca [2 x %array.17], align 4
  %1 = load i32, ptr addrspace(7) @__spirv_BuiltInLocalInvocationIndex, align 4
  %2 = getelementptr [2 x %array.17], ptr %rows, i32 0, i32 1, i32 0, i32 %1
  store float 1.0e+0, ptr %2, align 4
  %3 = getelementptr [2 x %array.17], ptr %rows, i32 0, i32 1
  %4 = load %array.17, ptr %3, align 1
  %5 = insertvalue %array.17 %4, float 1.0e+0, 0, 2
  %6 = extractvalue %array.17 %5, 0, 1
  store %array.17 %5, ptr %3, align 1
  %7 = getelementptr %array.16, ptr addrspace(3) @tile, i32 0, i32 0, i32 %1, i32 1
  store float %6, ptr addrspace(3) %7, align 4
  ret void
}

attributes #0 = { nounwind "hlsl.shader"="compute" "hlsl.numthreads"="8,1,1" }
!spirv.Lengths = !{!0, !1}
!0 = !{%array.16 undef, !2}
!1 = !{%array.17 undef, !3}
!2 = !{i32 132, i32 undef, !3, !4}
!3 = !{i32 50, i32 3, i32 8}
!4 = !{i32 169, i32 undef, !5, i32 2, i32 1}
!5 = !{i32 50, i32 4, i1 true}
