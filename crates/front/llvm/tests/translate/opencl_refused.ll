; options: target=opencl1.2
; What OpenCL has since a later version is refused with that version.
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %out, i32 %x) {
  %v = call spir_func i32 @_Z14work_group_alli(i32 %x)
  %g = addrspacecast ptr addrspace(1) %out to ptr addrspace(4)
  store i32 %v, ptr addrspace(4) %g
  ret void
}

declare spir_func i32 @_Z14work_group_alli(i32)
