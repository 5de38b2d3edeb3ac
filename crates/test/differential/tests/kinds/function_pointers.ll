; gives 9 14 4 24
; Functions that take pointers to different types, called by pointers from a choice and a table.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)

@table = internal addrspace(2) constant [2 x ptr] [ptr @by_word, ptr @by_byte]
define internal spir_func i64 @by_word(i64 %a, ptr addrspace(4) %p) {
  %v = load i64, ptr addrspace(4) %p
  %r = add i64 %a, %v
  ret i64 %r
}
define internal spir_func i64 @by_byte(i64 %a, ptr addrspace(4) %p) {
  %v = load i8, ptr addrspace(4) %p
  %w = zext i8 %v to i64
  %r = mul i64 %a, %w
  ret i64 %r
}
define internal spir_func ptr addrspace(4) @next(ptr addrspace(4) %p) {
  %q = getelementptr inbounds { i32, i32 }, ptr addrspace(4) %p, i64 1, i32 0
  %v = load i32, ptr addrspace(4) %p
  store i32 %v, ptr addrspace(4) %q
  ret ptr addrspace(4) %q
}
define internal spir_func ptr addrspace(4) @same(ptr addrspace(4) %p) {
  ret ptr addrspace(4) %p
}
define spir_kernel void @k(ptr addrspace(1) %out) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %place = getelementptr inbounds i64, ptr addrspace(1) %out, i64 %i
  %room = alloca [2 x i64]
  %value = sub i64 7, %i
  store i64 %value, ptr %room
  %generic = addrspacecast ptr %room to ptr addrspace(4)
  %odd = and i64 %i, 1
  %one = icmp ne i64 %odd, 0
  %step = select i1 %one, ptr @next, ptr @same
  %at = call spir_func ptr addrspace(4) %step(ptr addrspace(4) %generic)
  %word = load i32, ptr addrspace(4) %at
  %entry = getelementptr inbounds [2 x ptr], ptr addrspace(2) @table, i64 0, i64 %odd
  %f = load ptr, ptr addrspace(2) %entry
  %b = add i64 %i, 2
  %r = call spir_func i64 %f(i64 %b, ptr addrspace(4) %generic)
  %low = icmp ult i64 %i, 2
  %wide = zext i32 %word to i64
  %extra = select i1 %low, i64 0, i64 %wide
  %s = sub i64 %r, %extra
  %more = icmp eq i64 %i, 3
  %adjust = select i1 %more, i64 8, i64 0
  %t = add i64 %s, %adjust
  %two = icmp eq i64 %i, 1
  %adjust2 = select i1 %two, i64 -4, i64 0
  %u = add i64 %t, %adjust2
  store i64 %u, ptr addrspace(1) %place
  ret void
}
