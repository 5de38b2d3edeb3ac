; Arguments without names in the module have those of the source; a name in the module stays.
target triple = "spir64-unknown-unknown"

define spir_kernel void @kernel(ptr addrspace(1) %0, i32 %kept, i32 %2, i32 %3) !kernel_arg_name !0 {
  store i32 %2, ptr addrspace(1) %0, align 4
  ret void
}

!0 = !{!"out", !"other", !"n"}
