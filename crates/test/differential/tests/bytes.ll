; Atomic accesses to bytes, which exchange the words around.

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

declare spir_func i64 @_Z13get_global_idj(i32)

define spir_kernel void @kernel(ptr addrspace(1) %input, ptr addrspace(1) %output, i32 %p0, float %p1, i64 %p2, <4 x i32> %p3) {
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %from.offset = mul i64 %id, 64
  %from = getelementptr i8, ptr addrspace(1) %input, i64 %from.offset
  %to.offset = mul i64 %id, 2048
  %to = getelementptr i8, ptr addrspace(1) %output, i64 %to.offset
  %a = load i32, ptr addrspace(1) %from, align 4
  %v = trunc i32 %a to i8
  store i32 %a, ptr addrspace(1) %to, align 4
  %b1 = getelementptr i8, ptr addrspace(1) %to, i64 1
  %b2 = getelementptr i8, ptr addrspace(1) %to, i64 2
  %b3 = getelementptr i8, ptr addrspace(1) %to, i64 3
  %o0 = atomicrmw add ptr addrspace(1) %to, i8 77 monotonic
  %o1 = atomicrmw max ptr addrspace(1) %b1, i8 %v monotonic
  %o2 = cmpxchg ptr addrspace(1) %b2, i8 %v, i8 3 monotonic monotonic
  %x2 = extractvalue { i8, i1 } %o2, 0
  %f2 = extractvalue { i8, i1 } %o2, 1
  %o4 = cmpxchg ptr addrspace(1) %b2, i8 %x2, i8 99 monotonic monotonic
  %f4 = extractvalue { i8, i1 } %o4, 1
  %l = load atomic i8, ptr addrspace(1) %b2 monotonic, align 1
  store atomic i8 %l, ptr addrspace(1) %b3 monotonic, align 1
  %o5 = atomicrmw sub ptr addrspace(1) %b3, i8 %v monotonic
  %o6 = atomicrmw umin ptr addrspace(1) %b3, i8 100 monotonic
  %o7 = atomicrmw xchg ptr addrspace(1) %b1, i8 %o6 monotonic
  %r = getelementptr i8, ptr addrspace(1) %to, i64 8
  store i8 %o0, ptr addrspace(1) %r, align 1
  %r1 = getelementptr i8, ptr addrspace(1) %to, i64 9
  store i8 %o1, ptr addrspace(1) %r1, align 1
  %r2 = getelementptr i8, ptr addrspace(1) %to, i64 10
  store i8 %x2, ptr addrspace(1) %r2, align 1
  %g2 = zext i1 %f2 to i8
  %g4 = zext i1 %f4 to i8
  %g = add i8 %g2, %g4
  %r3 = getelementptr i8, ptr addrspace(1) %to, i64 11
  store i8 %g, ptr addrspace(1) %r3, align 1
  %r4 = getelementptr i8, ptr addrspace(1) %to, i64 12
  store i8 %o7, ptr addrspace(1) %r4, align 1
  ret void
}
