; options: extensions=SPV_INTEL_memory_access_aliasing
target triple = "spir64-unknown-unknown"

define spir_func i32 @used(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %a = load i32, ptr addrspace(1) %p, align 4, !alias.scope !2
  store i32 %a, ptr addrspace(1) %q, align 4, !noalias !2
  ret i32 %a
}

!0 = distinct !{!0, !"domain"}
!1 = distinct !{!1, !0, !"scope"}
!2 = !{!1}
