target triple = "spir64-unknown-unknown"

define spir_func half @used(ptr addrspace(1) %p, half %x) {
  %r = atomicrmw fadd ptr addrspace(1) %p, half %x syncscope("device") monotonic, align 4
  ret half %r
}
