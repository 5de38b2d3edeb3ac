; Kernels of every way to pass something, and of none.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

%pair = type { i32, float }

@text = internal addrspace(2) constant [6 x i8] c"c %d\0A\00"
@counter = internal addrspace(1) global i32 5

declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func i64 @_Z12get_local_idj(i32)
declare spir_func i64 @_Z14get_local_sizej(i32)
declare spir_func void @_Z7barrierj(i32)
declare spir_func i32 @printf(ptr addrspace(2), ...)

define spir_kernel void @nothing() {
  %was = atomicrmw add ptr addrspace(1) @counter, i32 1 seq_cst
  %now = add i32 %was, 1
  %printed = call spir_func i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @text, i32 %now)
  ret void
}

define spir_kernel void @all(ptr addrspace(1) %out, <3 x i32> %v, ptr byval(%pair) %s, ptr addrspace(3) %l) {
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %own = call spir_func i64 @_Z12get_local_idj(i32 0)
  %size = call spir_func i64 @_Z14get_local_sizej(i32 0)
  %place = getelementptr i32, ptr addrspace(3) %l, i64 %own
  %n = trunc i64 %id to i32
  store i32 %n, ptr addrspace(3) %place
  call spir_func void @_Z7barrierj(i32 1)
  %count = sub i64 %size, 1
  %other = sub i64 %count, %own
  %there = getelementptr i32, ptr addrspace(3) %l, i64 %other
  %m = load i32, ptr addrspace(3) %there
  %z = extractelement <3 x i32> %v, i32 2
  %a = load i32, ptr %s
  %t = add i32 %z, %a
  %sum = add i32 %m, %t
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %id
  store i32 %sum, ptr addrspace(1) %to
  ret void
}

define spir_kernel void @sized(ptr addrspace(1) %out) !reqd_work_group_size !0 {
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %size = call spir_func i64 @_Z14get_local_sizej(i32 0)
  %n = trunc i64 %size to i32
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %id
  store i32 %n, ptr addrspace(1) %to
  ret void
}

define spir_kernel void @parts(ptr addrspace(1) %bytes, ptr addrspace(1) %halves) {
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %byte = getelementptr i8, ptr addrspace(1) %bytes, i64 %id
  %half = getelementptr i16, ptr addrspace(1) %halves, i64 %id
  %b = load i8, ptr addrspace(1) %byte
  %h = load i16, ptr addrspace(1) %half
  %c = add i8 %b, 1
  %g = add i16 %h, 1
  store i8 %c, ptr addrspace(1) %byte
  store i16 %g, ptr addrspace(1) %half
  ret void
}

define spir_kernel void @meeting(ptr addrspace(1) %bytes) {
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %half = lshr i64 %id, 1
  %byte = getelementptr i8, ptr addrspace(1) %bytes, i64 %half
  %c = trunc i64 %id to i8
  store i8 %c, ptr addrspace(1) %byte
  ret void
}

!0 = !{i32 4, i32 1, i32 1}
