target triple = "spir64-unknown-unknown"

define spir_func i32 @used(ptr addrspace(1) %p) {
  %a = load i32, ptr addrspace(1) %p, align 4, !spirv.DecorationCacheControlINTEL !1
  ret i32 %a
}

!0 = !{i32 6442, i32 0, i32 1, i32 0}
!1 = !{!0}
