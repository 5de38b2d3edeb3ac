target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64"
target triple = "spirv-unknown-vulkan-compute"
%struct.5 = type { [0 x float] }
@variable.2 = external addrspace(11) global %struct.5, !spirv.Decorations !0

define spir_func void @main() #0 {
0:
  %1 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) @_Z34__spirv_CompositeConstruct_Rtype17f(float 5.0e-1)
  %2 = alloca target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17)
  %3 = getelementptr %struct.5, ptr addrspace(11) @variable.2, i32 0, i32 0, i32 0
  %4 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) @_Z40__spirv_CooperativeMatrixLoadKHR_Rtype17PU4AS11fiii(ptr addrspace(11) %3, i32 0, i32 16, i32 32)
  %5 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) @_Z12__spirv_FAdd45spirv_CooperativeMatrixKHR_float_3_16_32_2_17S_(target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) %4, target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) %1)
  %6 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) @_Z25__spirv_MatrixTimesScalar45spirv_CooperativeMatrixKHR_float_3_16_32_2_17f(target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) %5, float 5.0e-1)
  store target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) %6, ptr %2, align 1
  %7 = call spir_func ptr @_Z19__spirv_AccessChainPfi(ptr %2, i32 5)
  %8 = load float, ptr %7, align 4
  %9 = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @_Z34__spirv_CompositeConstruct_Rtype18f(float %8)
  %10 = load target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17), ptr %2, align 1
  call spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU4AS11f45spirv_CooperativeMatrixKHR_float_3_16_32_2_17iii(ptr addrspace(11) %3, target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) %10, i32 0, i32 16, i32 32)
  call spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU4AS11f42spirv_CooperativeMatrixKHR_float_3_16_16_2iii(ptr addrspace(11) %3, target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) %9, i32 0, i32 16, i32 32)
  ret void
}

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) @_Z34__spirv_CompositeConstruct_Rtype17f(float) #1

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) @_Z40__spirv_CooperativeMatrixLoadKHR_Rtype17PU4AS11fiii(ptr addrspace(11), i32, i32, i32) #2

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) @_Z12__spirv_FAdd45spirv_CooperativeMatrixKHR_float_3_16_32_2_17S_(target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17), target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17)) #1

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) @_Z25__spirv_MatrixTimesScalar45spirv_CooperativeMatrixKHR_float_3_16_32_2_17f(target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17), float) #1

declare spir_func ptr @_Z19__spirv_AccessChainPfi(ptr, i32) #1

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2) @_Z34__spirv_CompositeConstruct_Rtype18f(float) #1

declare spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU4AS11f45spirv_CooperativeMatrixKHR_float_3_16_32_2_17iii(ptr addrspace(11), target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17), i32, i32, i32) #2

declare spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU4AS11f42spirv_CooperativeMatrixKHR_float_3_16_16_2iii(ptr addrspace(11), target("spirv.CooperativeMatrixKHR", float, 3, 16, 16, 2), i32, i32, i32) #2

attributes #0 = { nounwind "hlsl.shader"="compute" "hlsl.numthreads"="32,1,1" }
attributes #1 = { nounwind willreturn memory(none) }
attributes #2 = { nounwind convergent }
!spirv.Layouts = !{!1}
!spirv.Lengths = !{!2}
!spirv.MemoryModel = !{!3}
!0 = !{!4, !5}
!1 = !{%struct.5 undef, !6, !7}
!2 = !{target("spirv.CooperativeMatrixKHR", float, 3, 16, 32, 2, 17) undef, i32 3, !8, !9, i32 2}
!3 = !{i32 0, i32 3}
!4 = !{i32 34, i32 0}
!5 = !{i32 33, i32 0}
!6 = !{!10}
!7 = !{!11, !12}
!8 = !{i32 50, i32 1, i32 16}
!9 = !{i32 132, i32 undef, !8, i32 2}
!10 = !{i32 2}
!11 = !{i32 35, i32 0}
!12 = !{i32 6, i32 4}
