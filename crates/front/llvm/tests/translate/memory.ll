; Pointers: inference through phis and calls, pointers in memory, structures, copies.
target triple = "spir64-unknown-unknown"

%node = type { i32, ptr addrspace(1), [2 x float] }
%packed = type <{ i8, i32 }>

@table = internal addrspace(2) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4], align 4
@tables = internal addrspace(1) constant [2 x ptr addrspace(2)] [ptr addrspace(2) @table, ptr addrspace(2) getelementptr inbounds (i8, ptr addrspace(2) @table, i64 8)], align 8
@shared = internal addrspace(3) global [16 x float] undef, align 4

define spir_kernel void @list(ptr addrspace(1) %first, ptr addrspace(1) %out) {
entry:
  br label %loop
loop:
  %at = phi ptr addrspace(1) [ %first, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %value = load i32, ptr addrspace(1) %at, align 8
  %more = add nsw i32 %sum, %value
  %link = getelementptr inbounds %node, ptr addrspace(1) %at, i64 0, i32 1
  %next = load ptr addrspace(1), ptr addrspace(1) %link, align 8
  %end = icmp eq ptr addrspace(1) %next, null
  br i1 %end, label %done, label %loop
done:
  store i32 %more, ptr addrspace(1) %out, align 4
  ret void
}

define internal spir_func ptr addrspace(1) @either(i1 %c, ptr addrspace(1) %a, ptr addrspace(1) %b) {
  %p = select i1 %c, ptr addrspace(1) %a, ptr addrspace(1) %b
  ret ptr addrspace(1) %p
}

define spir_kernel void @through_calls(i32 %n, ptr addrspace(1) %a, ptr addrspace(1) %b) {
  %c = icmp ugt i32 %n, 3
  %p = call spir_func ptr addrspace(1) @either(i1 %c, ptr addrspace(1) %a, ptr addrspace(1) %b)
  %x = load double, ptr addrspace(1) %p, align 8
  store double %x, ptr addrspace(1) %a, align 8
  ret void
}

define spir_kernel void @by_value(ptr byval(%node) align 8 %n, ptr addrspace(1) %out) {
  %copy = alloca %node, align 8
  %flag = alloca i1, align 1
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %n, i64 24, i1 false)
  %p = getelementptr inbounds %node, ptr %copy, i32 0, i32 2, i64 1
  %x = load float, ptr %p, align 4
  %positive = fcmp ogt float %x, 0.0
  store i1 %positive, ptr %flag, align 1
  %again = load i1, ptr %flag, align 1
  %y = select i1 %again, float %x, float 0.0
  store float %y, ptr addrspace(1) %out, align 4
  ret void
}

define spir_kernel void @fill(ptr addrspace(1) %to, i64 %n, i8 %with) {
  %local = alloca [64 x i32], align 4
  call void @llvm.memset.p0.i64(ptr align 4 %local, i8 0, i64 256, i1 false)
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 1 %to, i8 %with, i64 %n, i1 false)
  %generic = addrspacecast ptr %local to ptr addrspace(4)
  %x = load i32, ptr addrspace(4) %generic, align 4
  %s = getelementptr inbounds [16 x float], ptr addrspace(3) @shared, i64 0, i64 %n
  store float 1.0, ptr addrspace(3) %s, align 4
  store volatile i32 %x, ptr addrspace(1) %to, align 4
  ret void
}

define spir_kernel void @look_up(ptr addrspace(1) %out, i64 %i) {
  %slot = getelementptr inbounds [2 x ptr addrspace(2)], ptr addrspace(1) @tables, i64 0, i64 %i
  %t = load ptr addrspace(2), ptr addrspace(1) %slot, align 8
  %e = getelementptr inbounds i32, ptr addrspace(2) %t, i64 1
  %x = load i32, ptr addrspace(2) %e, align 4
  %p = getelementptr inbounds %packed, ptr addrspace(1) %out, i64 %i, i32 1
  store i32 %x, ptr addrspace(1) %p, align 1
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
