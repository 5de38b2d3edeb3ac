; options: extensions=SPV_INTEL_int4
target triple = "spir64-unknown-unknown"

define spir_func void @used(i4 %a, i4 %b, ptr addrspace(1) %p) {
  %sum = add i4 %a, %b
  store i4 %sum, ptr addrspace(1) %p, align 1
  ret void
}
