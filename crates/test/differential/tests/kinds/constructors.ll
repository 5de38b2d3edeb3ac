; gives 2 12 23 32
; Constructors run once, in the order of their priorities, before the kernel.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)

@llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [
  { i32, ptr, ptr } { i32 200, ptr @second, ptr null },
  { i32, ptr, ptr } { i32 100, ptr @first, ptr null }]
@table = internal addrspace(1) global [4 x i64] zeroinitializer
@place = internal addrspace(1) global ptr addrspace(1) null
define internal spir_func void @first() {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %ten = mul i64 %i, 10
  %v = add i64 %ten, 2
  %p = getelementptr inbounds [4 x i64], ptr addrspace(1) @table, i64 0, i64 %i
  store i64 %v, ptr addrspace(1) %p
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 4
  br i1 %more, label %loop, label %end
end:
  store ptr addrspace(1) getelementptr (i64, ptr addrspace(1) @table, i64 2), ptr addrspace(1) @place
  ret void
}
declare spir_func i32 @__cxa_atexit(ptr, ptr addrspace(4), ptr addrspace(1))
define internal spir_func void @gone(ptr addrspace(4) %object) {
  ret void
}
define internal spir_func void @second() {
  %registered = call spir_func i32 @__cxa_atexit(ptr @gone, ptr addrspace(4) null, ptr addrspace(1) null)
  %p = load ptr addrspace(1), ptr addrspace(1) @place
  %v = load i64, ptr addrspace(1) %p
  %w = add i64 %v, 1
  store i64 %w, ptr addrspace(1) %p
  ret void
}
define spir_kernel void @k(ptr addrspace(1) %out) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr inbounds [4 x i64], ptr addrspace(1) @table, i64 0, i64 %i
  %v = load i64, ptr addrspace(1) %p
  %place = getelementptr inbounds i64, ptr addrspace(1) %out, i64 %i
  store i64 %v, ptr addrspace(1) %place
  ret void
}
