target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64"
target triple = "spirv-unknown-vulkan-compute"
%struct.5 = type { [3 x <2 x float>], [3 x [3 x <2 x float>]] }
@variable.2 = external addrspace(11) global %struct.5, !spirv.Decorations !0
@__spirv_BuiltInGlobalInvocationId = external addrspace(7) global <3 x i32>

define spir_func void @main() #0 {
0:
  %1 = load <3 x i32>, ptr addrspace(7) @__spirv_BuiltInGlobalInvocationId, align 4
  %2 = extractelement <3 x i32> %1, i32 0
  %3 = getelementptr %struct.5, ptr addrspace(11) @variable.2, i32 0, i32 0
  %4 = load [3 x <2 x float>], ptr addrspace(11) %3, align 1
  %5 = extractvalue [3 x <2 x float>] %4, 2
  %6 = getelementptr %struct.5, ptr addrspace(11) @variable.2, i32 0, i32 1, i32 0, i32 1
  store <2 x float> %5, ptr addrspace(11) %6, align 4
  %7 = getelementptr %struct.5, ptr addrspace(11) @variable.2, i32 0, i32 1, i32 1, i32 %2, i32 1
  %8 = load float, ptr addrspace(11) %7, align 4
  %9 = extractvalue [3 x <2 x float>] %4, 0
  %10 = extractvalue [3 x <2 x float>] %4, 1
  %11 = extractvalue [3 x <2 x float>] %4, 2
  %12 = insertelement <2 x float> poison, float %8, i32 0
  %13 = shufflevector <2 x float> %12, <2 x float> poison, <2 x i32> zeroinitializer
  %14 = fmul <2 x float> %9, %13
  %15 = insertelement <2 x float> poison, float %8, i32 0
  %16 = shufflevector <2 x float> %15, <2 x float> poison, <2 x i32> zeroinitializer
  %17 = fmul <2 x float> %10, %16
  %18 = insertelement <2 x float> poison, float %8, i32 0
  %19 = shufflevector <2 x float> %18, <2 x float> poison, <2 x i32> zeroinitializer
  %20 = fmul <2 x float> %11, %19
  %21 = insertvalue [3 x <2 x float>] poison, <2 x float> %14, 0
  %22 = insertvalue [3 x <2 x float>] %21, <2 x float> %17, 1
  %23 = insertvalue [3 x <2 x float>] %22, <2 x float> %20, 2
  %24 = getelementptr %struct.5, ptr addrspace(11) @variable.2, i32 0, i32 1, i32 2
  store [3 x <2 x float>] %23, ptr addrspace(11) %24, align 1
  %25 = getelementptr %struct.5, ptr addrspace(11) @variable.2, i32 0, i32 1
  %26 = load [3 x [3 x <2 x float>]], ptr addrspace(11) %25, align 1
  %27 = extractvalue [3 x [3 x <2 x float>]] %26, 2
  store [3 x <2 x float>] %27, ptr addrspace(11) %3, align 1
  ret void
}

attributes #0 = { nounwind "hlsl.shader"="compute" "hlsl.numthreads"="4,1,1" }
!spirv.Source = !{!1}
!spirv.Layouts = !{!2}
!0 = !{!3, !4}
!1 = !{i32 5, i32 600}
!2 = !{%struct.5 undef, !5, !6, !7}
!3 = !{i32 34, i32 0}
!4 = !{i32 33, i32 0}
!5 = !{!8}
!6 = !{!9, !10, !11}
!7 = !{!12, !13, !14, !11}
!8 = !{i32 2}
!9 = !{i32 35, i32 0}
!10 = !{i32 4}
!11 = !{i32 7, i32 16}
!12 = !{i32 35, i32 32}
!13 = !{i32 4}
!14 = !{i32 6, i32 32}
