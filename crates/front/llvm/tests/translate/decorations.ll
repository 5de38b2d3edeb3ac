; Decorations and execution modes that metadata and annotations ask for.
target triple = "spir64-unknown-unknown"

@text = private unnamed_addr addrspace(1) constant [13 x i8] c"{44:128}{19}\00", section "llvm.metadata"
@other = private unnamed_addr addrspace(1) constant [9 x i8] c"any text\00", section "llvm.metadata"
@file = private unnamed_addr addrspace(1) constant [4 x i8] c"a.c\00", section "llvm.metadata"
@registers = addrspace(1) global i32 42, !spirv.Decorations !0
@llvm.global.annotations = appending addrspace(1) global [1 x { ptr addrspace(1), ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1) }] [{ ptr addrspace(1), ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1) } { ptr addrspace(1) @registers, ptr addrspace(1) @other, ptr addrspace(1) @file, i32 3, ptr addrspace(1) null }], section "llvm.metadata"

define spir_kernel void @kernel(ptr addrspace(1) %a, ptr addrspace(1) %b, float %c) !max_work_group_size !2 !kernel_arg_type_qual !3 !spirv.ParameterDecorations !4 {
  %p = call ptr addrspace(1) @llvm.ptr.annotation.p1.p1(ptr addrspace(1) %a, ptr addrspace(1) @text, ptr addrspace(1) @file, i32 80, ptr addrspace(1) null)
  %q = call ptr addrspace(1) @llvm.ptr.annotation.p1.p1(ptr addrspace(1) %b, ptr addrspace(1) @other, ptr addrspace(1) @file, i32 81, ptr addrspace(1) null)
  %x = load i32, ptr addrspace(1) %p, align 4, !spirv.DecorationCacheControlINTEL !8
  %y = add i32 %x, 1, !spirv.Decorations !10
  store i32 %y, ptr addrspace(1) %q, align 4
  ret void
}

declare ptr addrspace(1) @llvm.ptr.annotation.p1.p1(ptr addrspace(1), ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1))

!spirv.ExecutionMode = !{!12, !13}

!0 = !{!1}
!1 = !{i32 5635, !"for users"}
!2 = !{i32 8, i32 4}
!3 = !{!"volatile", !"", !""}
!4 = !{!5, !5, !5}
!5 = !{!6}
!6 = !{i32 19}
!8 = !{!9}
!9 = !{i32 6442, i32 0, i32 1, i32 0}
!10 = !{!11}
!11 = !{i32 4469}
!12 = !{ptr @kernel, i32 6028, float poison, i32 7}
!13 = !{ptr @kernel, i32 31}
