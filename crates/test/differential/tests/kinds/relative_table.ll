; gives 1 5 0 9
; A table of distances to what it chooses from (`llvm.load.relative`), as it is made of a match over constants.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)

@a = private unnamed_addr addrspace(1) constant [3 x i64] [i64 1, i64 2, i64 3]
@b = private unnamed_addr addrspace(1) constant [3 x i64] [i64 4, i64 5, i64 6], align 16
@c = private unnamed_addr addrspace(1) constant <{ i8, i64 }> <{ i8 1, i64 0 }>, align 1
@d = private unnamed_addr addrspace(1) constant [3 x i64] [i64 9, i64 8, i64 7]
@table = private unnamed_addr addrspace(1) constant [4 x i32] [
  i32 trunc (i64 sub (i64 ptrtoint (ptr addrspace(1) @a to i64), i64 ptrtoint (ptr addrspace(1) @table to i64)) to i32),
  i32 trunc (i64 sub (i64 ptrtoint (ptr addrspace(1) getelementptr (i64, ptr addrspace(1) @b, i64 1) to i64), i64 ptrtoint (ptr addrspace(1) @table to i64)) to i32),
  i32 trunc (i64 sub (i64 ptrtoint (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @c, i64 1) to i64), i64 ptrtoint (ptr addrspace(1) @table to i64)) to i32),
  i32 trunc (i64 sub (i64 ptrtoint (ptr addrspace(1) @d to i64), i64 ptrtoint (ptr addrspace(1) @table to i64)) to i32)]
declare ptr addrspace(1) @llvm.load.relative.p1.i64(ptr addrspace(1), i64)
define spir_kernel void @k(ptr addrspace(1) %out) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %offset = shl i64 %i, 2
  %p = call ptr addrspace(1) @llvm.load.relative.p1.i64(ptr addrspace(1) @table, i64 %offset)
  %v = load i64, ptr addrspace(1) %p, align 1
  %place = getelementptr inbounds i64, ptr addrspace(1) %out, i64 %i
  store i64 %v, ptr addrspace(1) %place
  ret void
}
