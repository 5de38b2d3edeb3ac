; Blocks in any order, edges that are doubled, loops with two entries, kernels that are called.
target triple = "spir64-unknown-unknown"

define spir_func i64 @twice(i64 %a) {
entry:
  switch i64 %a, label %rest [
    i64 1, label %join
    i64 -1, label %join
    i64 4294967297, label %rest
  ]
join:
  %x = phi i64 [ 7, %entry ], [ 7, %entry ], [ %y, %rest ]
  ret i64 %x
rest:
  %y = mul nuw i64 %a, 3
  br label %join
unused:
  br label %join.unused
join.unused:
  ret i64 0
}

define spir_func i32 @two_entries(i32 %a, i1 %c) {
entry:
  br i1 %c, label %left, label %right
left:
  %l = phi i32 [ %a, %entry ], [ %r1, %right ]
  %l1 = add i32 %l, 1
  %stop = icmp ugt i32 %l1, 100
  br i1 %stop, label %exit, label %right
right:
  %r = phi i32 [ 0, %entry ], [ %l1, %left ]
  %r1 = shl i32 %r, 1
  br label %left
exit:
  br i1 %c, label %end, label %end
end:
  ret i32 %l1
}

define spir_kernel void @inner(ptr addrspace(1) %p) !reqd_work_group_size !0 !vec_type_hint !1 {
  store i32 1, ptr addrspace(1) %p, align 4
  ret void
}

define spir_kernel void @outer(ptr addrspace(1) %p) !work_group_size_hint !2 !kernel_arg_type !3 {
  call spir_kernel void @inner(ptr addrspace(1) %p)
  unreachable
}

!opencl.ocl.version = !{!4}
!0 = !{i32 8, i32 4, i32 1}
!1 = !{<4 x float> undef, i32 0}
!2 = !{i32 16, i32 1, i32 1}
!3 = !{!"int*"}
!4 = !{i32 2, i32 0}
