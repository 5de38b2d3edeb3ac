target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64"
target triple = "spir64-unknown-unknown"
%struct.pair = type { i32, <4 x float> }
@variable.14 = internal addrspace(2) constant [4 x %struct.pair] [%struct.pair { i32 1, <4 x float> <float 1.0e+0, float 1.0e+0, float 1.0e+0, float 1.0e+0> }, %struct.pair zeroinitializer, %struct.pair { i32 1, <4 x float> <float 1.0e+0, float 1.0e+0, float 1.0e+0, float 1.0e+0> }, %struct.pair zeroinitializer], align 16
@shared = external addrspace(1) global i32
@__spirv_BuiltInGlobalInvocationId = external addrspace(7) constant <3 x i64>

define spir_func i32 @helper(i32 %0) #0 {
1:
  %2 = call spir_func i32 @_Z20__spirv_SpecConstantii(i32 7, i32 5)
  %3 = mul i32 %2, 2
  %4 = add i32 %0, %3
  ret i32 %4
}

define spir_kernel void @saxpy(ptr addrspace(1) align 4 noalias %x, ptr addrspace(1) %y, float %a) #1 !spirv.ParameterDecorations !0 !reqd_work_group_size !1 !vec_type_hint !2 !kernel_arg_addr_space !3 !kernel_arg_access_qual !4 !kernel_arg_base_type !5 !kernel_arg_type !6 !kernel_arg_type_qual !7 {
entry:
  %0 = alloca [4 x %struct.pair], align 16
  %1 = load <3 x i64>, ptr addrspace(7) @__spirv_BuiltInGlobalInvocationId, align 32
  %2 = extractelement <3 x i64> %1, i32 0
  %3 = icmp ult i64 %2, 10
  br i1 %3, label %body, label %26, !prof !8
body:
  %4 = phi i32 [ 0, %entry ], [ %24, %25 ], [ %24, %25 ]
  %5 = add nsw i32 %4, 1
  %6 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %2
  %7 = load float, ptr addrspace(1) %6, align 4
  %8 = fmul fast float %7, %a
  %9 = fadd float %8, 1.0e+0
  %10 = call spir_func float @_Z16__spirv_ocl_sqrtf(float %9)
  store volatile float %10, ptr addrspace(1) %6, align 4
  %11 = getelementptr inbounds [4 x %struct.pair], ptr %0, i32 0, i32 2, i32 1, i32 0
  store float %10, ptr %11, align 4
  %12 = shufflevector <4 x float> <float 1.0e+0, float 1.0e+0, float 1.0e+0, float 1.0e+0>, <4 x float> <float 1.0e+0, float 1.0e+0, float 1.0e+0, float 1.0e+0>, <2 x i32> <i32 0, i32 5>
  %13 = shufflevector <2 x float> %12, <2 x float> poison, <4 x i32> <i32 0, i32 1, i32 poison, i32 poison>
  %14 = shufflevector <4 x float> poison, <4 x float> %13, <4 x i32> <i32 4, i32 5, i32 2, i32 3>
  %15 = insertelement <4 x float> %14, float %10, i32 2
  %16 = insertelement <4 x float> %15, float %a, i32 3
  %17 = insertvalue %struct.pair zeroinitializer, <4 x float> %16, 1
  %18 = extractvalue %struct.pair %17, 1
  %19 = extractelement <4 x float> %18, i32 2
  %20 = getelementptr inbounds <4 x float>, ptr addrspace(1) %y, i64 0
  store <4 x float> %16, ptr addrspace(1) %20, align 16
  %21 = call spir_func i8 @_Z29__spirv_ConvertFToS_Rchar_satf(float %19)
  %22 = call spir_func float @_Z30__spirv_ConvertSToF_Rfloat_rtzi(i32 %4)
  %23 = call spir_func i32 @_Z18__spirv_AtomicIAddPU3AS1iiii(ptr addrspace(1) @shared, i32 1, i32 0, i32 %4)
  call spir_func void @_Z22__spirv_ControlBarrieriii(i32 2, i32 2, i32 272)
  %24 = call spir_func i32 @helper(i32 %5)
  br label %25
25:
  switch i32 %24, label %26 [ i32 1, label %body i32 2, label %body ]
26:
  ret void
}

declare spir_func i32 @_Z20__spirv_SpecConstantii(i32, i32)

declare spir_func float @_Z16__spirv_ocl_sqrtf(float) #2

declare spir_func i8 @_Z29__spirv_ConvertFToS_Rchar_satf(float) #1

declare spir_func float @_Z30__spirv_ConvertSToF_Rfloat_rtzi(i32) #2

declare spir_func i32 @_Z18__spirv_AtomicIAddPU3AS1iiii(ptr addrspace(1), i32, i32, i32) #3

declare spir_func void @_Z22__spirv_ControlBarrieriii(i32, i32, i32) #3

attributes #0 = { noinline nounwind }
attributes #1 = { nounwind }
attributes #2 = { nounwind willreturn memory(none) }
attributes #3 = { nounwind convergent }
!opencl.ocl.version = !{!9}
!spirv.Source = !{!10}
!0 = !{!11, !12, !11}
!1 = !{i32 64, i32 1, i32 1}
!2 = !{<4 x float> undef, i32 0}
!3 = !{i32 1, i32 1, i32 0}
!4 = !{!"none", !"none", !"none"}
!5 = !{!"float*", !"float4*", !"float"}
!6 = !{!"float*", !"float4*", !"float"}
!7 = !{!"", !"", !""}
!8 = !{!"branch_weights", i32 3, i32 5}
!9 = !{i32 2, i32 0}
!10 = !{i32 3, i32 200000}
!11 = !{}
!12 = !{!13}
!13 = !{i32 19}
