; Accesses that leave their alignment out have that of their type; atomic ones, their size.
source_filename = "alignments.ll"
target datalayout = "e-i64:64-v96:128"

define void @f(ptr %p, ptr addrspace(1) %q) {
  %slot = alloca { i8, i64 }
  %a = load <3 x float>, ptr %p
  store i16 1, ptr %p
  %b = atomicrmw add ptr addrspace(1) %q, i64 1 seq_cst
  %c = cmpxchg ptr addrspace(1) %q, i32 0, i32 1 acquire monotonic
  %d = load double, ptr %p, align 1
  ret void
}
