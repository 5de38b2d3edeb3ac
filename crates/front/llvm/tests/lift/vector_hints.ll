target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64"
target triple = "spir64-unknown-unknown"

define spir_kernel void @unsigned_hint() #0 !vec_type_hint !0 !kernel_arg_addr_space !1 !kernel_arg_access_qual !2 !kernel_arg_base_type !3 !kernel_arg_type !4 !kernel_arg_type_qual !5 {
0:
  ret void
}

define spir_kernel void @signed_hint() #0 !vec_type_hint !6 !kernel_arg_addr_space !1 !kernel_arg_access_qual !7 !kernel_arg_base_type !8 !kernel_arg_type !9 !kernel_arg_type_qual !10 {
0:
  ret void
}

attributes #0 = { nounwind }
!0 = !{<4 x i32> undef, i32 0}
!1 = !{}
!2 = !{}
!3 = !{}
!4 = !{}
!5 = !{}
!6 = !{i64 undef, i32 1}
!7 = !{}
!8 = !{}
!9 = !{}
!10 = !{}
