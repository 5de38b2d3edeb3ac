; Hints of loops: at the header, with the block behind the loop and the one that leads back.
target triple = "spir64-unknown-unknown"

define spir_kernel void @header_leaves(ptr addrspace(1) %p, i32 %n) {
entry:
  br label %head

head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i32 %i, %n
  br i1 %more, label %body, label %done

body:
  store i32 %i, ptr addrspace(1) %p, align 4
  %next = add i32 %i, 1
  br label %head, !llvm.loop !0

done:
  ret void
}

define spir_kernel void @latch_leaves(ptr addrspace(1) %p, i32 %n) {
entry:
  br label %body

body:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  store i32 %i, ptr addrspace(1) %p, align 4
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %body, label %done, !llvm.loop !2

done:
  ret void
}

; No hint, no merge; an endless loop has no block behind it.
define spir_kernel void @without(ptr addrspace(1) %p) {
entry:
  br label %body

body:
  store i32 1, ptr addrspace(1) %p, align 4
  br label %other, !llvm.loop !5

other:
  br label %body, !llvm.loop !0
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.count", i32 8}
!2 = distinct !{!2, !3, !4}
!3 = !{!"llvm.loop.unroll.disable"}
!4 = !{!"llvm.loop.ivdep.safelen", i32 4}
!5 = distinct !{!5, !6}
!6 = !{!"llvm.loop.mustprogress"}
