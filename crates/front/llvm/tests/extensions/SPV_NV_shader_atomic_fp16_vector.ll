target triple = "spir64-unknown-unknown"

define spir_func <2 x half> @used(ptr addrspace(1) %p, <2 x half> %x) {
  %r = atomicrmw fadd ptr addrspace(1) %p, <2 x half> %x syncscope("device") monotonic, align 4
  ret <2 x half> %r
}
