; gives 5 8 1 9 4 7
; Atomic operations on variables shorter than the words that are exchanged: private, of a workgroup, global.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"
@w = internal addrspace(3) global [3 x i8] undef
@g = internal addrspace(1) global i8 4
declare spir_func i64 @_Z13get_global_idj(i32)
define internal spir_func void @write(ptr addrspace(1) %out, i64 %at, i8 %x) {
  %p = getelementptr i64, ptr addrspace(1) %out, i64 %at
  %v = zext i8 %x to i64
  store i64 %v, ptr addrspace(1) %p
  ret void
}
define spir_kernel void @k(ptr addrspace(1) %out) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %only = icmp eq i64 %i, 0
  %a = alloca i8
  br i1 %only, label %first, label %end
first:
  store i8 5, ptr %a
  %old = atomicrmw add ptr %a, i8 3 seq_cst
  %new = load i8, ptr %a
  %place = getelementptr i8, ptr addrspace(3) @w, i64 2
  store i8 1, ptr addrspace(3) %place
  %was = atomicrmw xchg ptr addrspace(3) %place, i8 9 monotonic
  %now = load atomic i8, ptr addrspace(3) %place monotonic, align 1
  %before = atomicrmw add ptr addrspace(1) @g, i8 3 monotonic
  %after = load atomic i8, ptr addrspace(1) @g acquire, align 1
  call spir_func void @write(ptr addrspace(1) %out, i64 0, i8 %old)
  call spir_func void @write(ptr addrspace(1) %out, i64 1, i8 %new)
  call spir_func void @write(ptr addrspace(1) %out, i64 2, i8 %was)
  call spir_func void @write(ptr addrspace(1) %out, i64 3, i8 %now)
  call spir_func void @write(ptr addrspace(1) %out, i64 4, i8 %before)
  call spir_func void @write(ptr addrspace(1) %out, i64 5, i8 %after)
  br label %end
end:
  ret void
}
