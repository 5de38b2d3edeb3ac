target triple = "spir64-unknown-unknown"

define spir_kernel void @used() !max_work_group_size !0 !ip_interface !1 {
  ret void
}

!0 = !{i32 8, i32 1, i32 1}
!1 = !{!"streaming", !"stall_free_return"}
