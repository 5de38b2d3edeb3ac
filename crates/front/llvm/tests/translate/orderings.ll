; Orderings of an exchange: none is stronger where it does not take place; those of one thread order nothing.
target triple = "spir64-unknown-unknown"

define spir_func void @orderings(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %a = cmpxchg ptr addrspace(1) %p, i32 1, i32 2 monotonic acquire
  %b = cmpxchg ptr addrspace(1) %p, i32 1, i32 2 release acquire
  %c = cmpxchg ptr addrspace(1) %p, i32 1, i32 2 acquire seq_cst
  %d = cmpxchg ptr addrspace(1) %p, i32 1, i32 2 acq_rel monotonic
  %e = cmpxchg weak ptr addrspace(1) %p, i32 1, i32 2 syncscope("singlethread") seq_cst seq_cst
  %f = cmpxchg ptr addrspace(1) %q, ptr addrspace(1) %p, ptr addrspace(1) null release seq_cst
  fence syncscope("singlethread") seq_cst
  fence syncscope("workgroup") acquire
  ret void
}
