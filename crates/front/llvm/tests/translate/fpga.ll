; Metadata and annotations of compilers for FPGAs.
target triple = "spir64-unknown-unknown"

@lsu = private unnamed_addr addrspace(1) constant [26 x i8] c"{params:7}{cache-size:64}\00", section "llvm.metadata"

define spir_func void @stalls() !stall_enable !0 !prefer_dsp !0 {
  ret void
}

define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(4) %c) !kernel_arg_buffer_location !1 !initiation_interval !0 {
  %p = call ptr addrspace(4) @llvm.ptr.annotation.p4.p1(ptr addrspace(4) %c, ptr addrspace(1) @lsu, ptr addrspace(1) undef, i32 0, ptr addrspace(1) null)
  store i8 0, ptr addrspace(4) %p
  ret void
}

declare ptr addrspace(4) @llvm.ptr.annotation.p4.p1(ptr addrspace(4), ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1))

!0 = !{i32 1}
!1 = !{i32 -1, i32 5, i32 -1}
