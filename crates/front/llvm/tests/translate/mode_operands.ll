; A mode has the operands of its row in the grammar: what stands behind them says nothing.
target triple = "spir64-unknown-unknown"

define spir_kernel void @subgroups(i32 %x) {
  ret void
}

!spirv.ExecutionMode = !{!0, !1}
!0 = !{ptr @subgroups, i32 35, i32 16, i32 7}
!1 = !{ptr @subgroups, i32 31, i32 5}
