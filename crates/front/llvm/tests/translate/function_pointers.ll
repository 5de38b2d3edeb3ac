; Addresses of functions, in tables and in registers, and calls through them.
target triple = "spir64-unknown-unknown"

@table = internal addrspace(1) constant [2 x ptr] [ptr @add, ptr @subtract], align 8

define internal spir_func i32 @add(i32 %a, i32 %b) {
  %c = add i32 %a, %b
  ret i32 %c
}

define internal spir_func i32 @subtract(i32 %a, i32 %b) {
  %c = sub i32 %a, %b
  ret i32 %c
}

define spir_kernel void @choose(i64 %n, i1 %c, ptr addrspace(1) %out) {
  %slot = getelementptr inbounds [2 x ptr], ptr addrspace(1) @table, i64 0, i64 %n
  %function = load ptr, ptr addrspace(1) %slot, align 8
  %x = call spir_func i32 %function(i32 3, i32 4)
  %either = select i1 %c, ptr @add, ptr @subtract
  %y = call spir_func i32 %either(i32 %x, i32 1)
  store i32 %y, ptr addrspace(1) %out, align 4
  ret void
}
