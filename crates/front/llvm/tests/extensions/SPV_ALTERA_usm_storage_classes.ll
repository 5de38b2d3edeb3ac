; options: extensions=-SPV_INTEL_usm_storage_classes
target triple = "spir64-unknown-unknown"

define spir_func i32 @used(ptr addrspace(5) %p) {
  %q = addrspacecast ptr addrspace(5) %p to ptr addrspace(1)
  %a = load i32, ptr addrspace(1) %q, align 4
  ret i32 %a
}
