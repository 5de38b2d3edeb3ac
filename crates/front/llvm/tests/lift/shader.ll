target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64"
target triple = "spirv-unknown-vulkan-compute"
%Data = type { [4 x <4 x float>], [0 x <4 x float>] }
%Params = type { i32 }
@d = external addrspace(11) global %Data, !spirv.Decorations !0
@p = external addrspace(13) global %Params
@__spirv_BuiltInGlobalInvocationId = external addrspace(7) global <3 x i32>
@variable.36 = internal addrspace(3) global float undef

define internal spir_func <4 x float> @function.37(<4 x float> %0, ptr %1) #0 !spirv.ParameterTypes !1 {
2:
  %3 = load i1, ptr %1, align 1
  %4 = fadd <4 x float> %0, %0
  %5 = select i1 %3, <4 x float> %4, <4 x float> %0
  ret <4 x float> %5
}

define spir_func void @main() #1 {
0:
  %1 = call spir_func i32 @_Z20__spirv_SpecConstantii(i32 1, i32 3)
  %2 = alloca i1, align 1
  store i1 true, ptr %2, align 1
  %3 = getelementptr <3 x i32>, ptr addrspace(7) @__spirv_BuiltInGlobalInvocationId, i32 0, i32 0
  %4 = load i32, ptr addrspace(7) %3, align 4
  %5 = getelementptr %Params, ptr addrspace(13) @p, i32 0, i32 0
  %6 = load i32, ptr addrspace(13) %5, align 4
  %7 = add i32 %6, %1
  %8 = call spir_func i32 @_Z24__spirv_ArrayLength_RintPU4AS115type4i(ptr addrspace(11) @d, i32 1)
  %9 = icmp ult i32 %4, %7
  br i1 %9, label %10, label %39
10:
  %11 = getelementptr %Data, ptr addrspace(11) @d, i32 0, i32 0
  %12 = load [4 x <4 x float>], ptr addrspace(11) %11, align 1
  %13 = getelementptr %Data, ptr addrspace(11) @d, i32 0, i32 1, i32 %4
  %14 = load <4 x float>, ptr addrspace(11) %13, align 4
  %15 = extractvalue [4 x <4 x float>] %12, 0
  %16 = extractvalue [4 x <4 x float>] %12, 1
  %17 = extractvalue [4 x <4 x float>] %12, 2
  %18 = extractvalue [4 x <4 x float>] %12, 3
  %19 = extractelement <4 x float> %14, i32 0
  %20 = insertelement <4 x float> poison, float %19, i32 0
  %21 = shufflevector <4 x float> %20, <4 x float> poison, <4 x i32> zeroinitializer
  %22 = fmul <4 x float> %15, %21
  %23 = extractelement <4 x float> %14, i32 1
  %24 = insertelement <4 x float> poison, float %23, i32 0
  %25 = shufflevector <4 x float> %24, <4 x float> poison, <4 x i32> zeroinitializer
  %26 = fmul <4 x float> %16, %25
  %27 = fadd <4 x float> %22, %26
  %28 = extractelement <4 x float> %14, i32 2
  %29 = insertelement <4 x float> poison, float %28, i32 0
  %30 = shufflevector <4 x float> %29, <4 x float> poison, <4 x i32> zeroinitializer
  %31 = fmul <4 x float> %17, %30
  %32 = fadd <4 x float> %27, %31
  %33 = extractelement <4 x float> %14, i32 3
  %34 = insertelement <4 x float> poison, float %33, i32 0
  %35 = shufflevector <4 x float> %34, <4 x float> poison, <4 x i32> zeroinitializer
  %36 = fmul <4 x float> %18, %35
  %37 = fadd <4 x float> %32, %36
  %38 = call spir_func <4 x float> @_Z17__spirv_glsl_SqrtDv4_f(<4 x float> %37)
  %sum = call spir_func <4 x float> @function.37(<4 x float> %38, ptr %2)
  store <4 x float> %sum, ptr addrspace(11) %13, align 4
  call spir_func void @_Z22__spirv_ControlBarrieriii(i32 2, i32 2, i32 264)
  br label %39
39:
  ret void
}

declare spir_func i32 @_Z20__spirv_SpecConstantii(i32, i32)

declare spir_func i32 @_Z24__spirv_ArrayLength_RintPU4AS115type4i(ptr addrspace(11), i32) #2

declare spir_func <4 x float> @_Z17__spirv_glsl_SqrtDv4_f(<4 x float>) #2

declare spir_func void @_Z22__spirv_ControlBarrieriii(i32, i32, i32) #3

attributes #0 = { nounwind }
attributes #1 = { nounwind "hlsl.shader"="compute" "hlsl.numthreads"="64,1,1" }
attributes #2 = { nounwind willreturn memory(none) }
attributes #3 = { nounwind convergent }
!spirv.Layouts = !{!2, !3}
!0 = !{!4, !5}
!1 = !{<4 x float> undef, i1 undef}
!2 = !{%Data undef, !6, !7, !8}
!3 = !{%Params undef, !9, !10}
!4 = !{i32 34, i32 0}
!5 = !{i32 33, i32 3}
!6 = !{!11}
!7 = !{!12, !13}
!8 = !{!14, !15, !13}
!9 = !{!16}
!10 = !{!17}
!11 = !{i32 2}
!12 = !{i32 35, i32 0}
!13 = !{i32 6, i32 16}
!14 = !{i32 35, i32 64}
!15 = !{i32 24}
!16 = !{i32 2}
!17 = !{i32 35, i32 0}
