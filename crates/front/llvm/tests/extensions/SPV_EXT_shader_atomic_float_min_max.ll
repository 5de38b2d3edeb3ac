target triple = "spir64-unknown-unknown"

define spir_func float @used(ptr addrspace(1) %p, float %x) {
  %r = atomicrmw fmax ptr addrspace(1) %p, float %x syncscope("device") monotonic, align 4
  ret float %r
}
