target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64"
target triple = "spirv-unknown-vulkan-compute"
%Args = type { ptr addrspace(14), ptr addrspace(14) }
%Node = type { i32, ptr addrspace(14) }
%Table = type { [4 x i32] }
@args = external addrspace(13) global %Args

define internal spir_func i32 @value_of(ptr addrspace(14) %0) #0 !spirv.ParameterDecorations !0 !spirv.ParameterTypes !1 {
1:
  %2 = getelementptr %Node, ptr addrspace(14) %0, i32 0, i32 0
  %3 = load i32, ptr addrspace(14) %2, align 16
  ret i32 %3
}

define spir_func void @main() #1 {
0:
  %1 = getelementptr %Args, ptr addrspace(13) @args, i32 0, i32 0
  %2 = load ptr addrspace(14), ptr addrspace(13) %1, align 1
  %3 = getelementptr %Args, ptr addrspace(13) @args, i32 0, i32 1
  %4 = load ptr addrspace(14), ptr addrspace(13) %3, align 1
  br label %5
5:
  %6 = phi ptr addrspace(14) [ %2, %0 ], [ %14, %10 ]
  %7 = phi i32 [ 0, %0 ], [ %12, %10 ]
  %8 = ptrtoint ptr addrspace(14) %6 to i64
  %9 = icmp eq i64 %8, 0
  br i1 %9, label %15, label %10
10:
  %11 = call spir_func i32 @value_of(ptr addrspace(14) %6)
  %12 = add i32 %7, %11
  %13 = getelementptr %Node, ptr addrspace(14) %6, i32 0, i32 1
  %14 = load ptr addrspace(14), ptr addrspace(14) %13, align 8
  br label %5
15:
  %16 = getelementptr %Table, ptr addrspace(14) %4, i32 0, i32 0
  %17 = getelementptr [4 x i32], ptr addrspace(14) %16, i32 0, i32 3
  store i32 %7, ptr addrspace(14) %17, align 4
  %18 = ptrtoint ptr addrspace(14) %4 to i64
  %19 = add i64 %18, 8
  %20 = inttoptr i64 %19 to ptr addrspace(14)
  store i32 %7, ptr addrspace(14) %20, align 4
  ret void
}

attributes #0 = { nounwind }
attributes #1 = { nounwind "hlsl.shader"="compute" "hlsl.numthreads"="1,1,1" }
!spirv.Layouts = !{!2, !3, !4}
!0 = !{!5}
!1 = !{%Node undef}
!2 = !{%Node undef, !6, !7, !8}
!3 = !{%Table undef, !9, !10}
!4 = !{%Args undef, !11, !12, !13}
!5 = !{!14}
!6 = !{!15}
!7 = !{!16}
!8 = !{!17}
!9 = !{!18}
!10 = !{!19, !20}
!11 = !{!21}
!12 = !{!22}
!13 = !{!23}
!14 = !{i32 20}
!15 = !{i32 2}
!16 = !{i32 35, i32 0}
!17 = !{i32 35, i32 8}
!18 = !{i32 2}
!19 = !{i32 35, i32 16}
!20 = !{i32 6, i32 16}
!21 = !{i32 2}
!22 = !{i32 35, i32 0}
!23 = !{i32 35, i32 8}
