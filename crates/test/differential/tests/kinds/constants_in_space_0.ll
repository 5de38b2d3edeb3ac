; gives 1090 1110 1030 1050
; Constants and variables in address space 0, that of allocations: passed on, chosen, joined, kept in memory.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)
@tab = private unnamed_addr constant [4 x i64] [i64 10, i64 20, i64 30, i64 40], align 8
@ptrs = private unnamed_addr constant [2 x ptr] [ptr @tab, ptr getelementptr (i64, ptr @tab, i64 2)], align 8
@cnt = internal global i32 5
define internal spir_func ptr @pick(ptr %a, ptr %b, i1 %c) noinline {
  %s = select i1 %c, ptr %a, ptr %b
  ret ptr %s
}
define spir_kernel void @k(ptr addrspace(1) %o) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %w = and i64 %i, 1
  %pp = getelementptr [2 x ptr], ptr @ptrs, i64 0, i64 %w
  %p = load ptr, ptr %pp
  %v = load i64, ptr %p
  %t = alloca [4 x i64]
  call void @llvm.memcpy.p0.p0.i64(ptr %t, ptr @tab, i64 32, i1 false)
  %te = getelementptr i64, ptr %t, i64 3
  %c = icmp ult i64 %i, 2
  %q = call spir_func ptr @pick(ptr %te, ptr @tab, i1 %c)
  %v2 = load i64, ptr %q
  %hold = alloca ptr
  store ptr addrspacecast (ptr addrspace(1) null to ptr), ptr %hold
  store ptr %q, ptr %hold
  %q2 = load ptr, ptr %hold
  %v3 = load i64, ptr %q2
  %ga = alloca ptr addrspace(1)
  store ptr addrspace(1) %o, ptr %ga
  %gp = load ptr addrspace(1), ptr %ga
  %fv = add i64 0, 1000
  %s1 = add i64 %v, %v2
  %s2 = add i64 %s1, %v3
  %s3 = add i64 %s2, %fv
  %old = atomicrmw add ptr @cnt, i32 1 monotonic
  %e = getelementptr i64, ptr addrspace(1) %gp, i64 %i
  store i64 %s3, ptr addrspace(1) %e
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
