; Atomic accesses to bytes exchange the word around.
target triple = "spir64-unknown-unknown"

define spir_func i8 @bytes(ptr addrspace(3) %p, i8 %v, i8 %w) {
  %loaded = load atomic i8, ptr addrspace(3) %p acquire, align 1
  %sum = atomicrmw add ptr addrspace(3) %p, i8 %v acq_rel
  %most = atomicrmw max ptr addrspace(3) %p, i8 %sum monotonic
  %pair = cmpxchg ptr addrspace(3) %p, i8 %v, i8 %w seq_cst acquire
  %old = extractvalue { i8, i1 } %pair, 0
  %done = extractvalue { i8, i1 } %pair, 1
  store atomic i8 %most, ptr addrspace(3) %p release, align 1
  %result = select i1 %done, i8 %old, i8 %loaded
  ret i8 %result
}
