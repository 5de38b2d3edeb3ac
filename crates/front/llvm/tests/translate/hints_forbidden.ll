; options: extensions=none
; Hints for loops that need an extension which is not allowed are left out.
target triple = "spir64-unknown-unknown"

define spir_func i32 @hinted(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %exit, !llvm.loop !0
exit:
  ret i32 %next
}

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.ii.count", i32 2}
!2 = !{!"llvm.loop.unroll.enable"}
