; What runs before and after all kernels, by priority; functions and data of comdats.
target triple = "spir64-unknown-unknown"

$shared = comdat any
$data = comdat largest

@data = linkonce_odr addrspace(1) constant i32 5, comdat
@table = internal addrspace(1) global i32 0
@llvm.global_ctors = appending global [3 x { i32, ptr, ptr }] [
  { i32, ptr, ptr } { i32 65535, ptr @late, ptr null },
  { i32, ptr, ptr } { i32 100, ptr @early, ptr null },
  { i32, ptr, ptr } { i32 65535, ptr null, ptr null }]
@llvm.global_dtors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @end, ptr null }]

define internal spir_func void @late() {
  store i32 7, ptr addrspace(1) @table
  ret void
}

define internal spir_func void @early() {
  store i32 3, ptr addrspace(1) @table
  ret void
}

define internal spir_func void @end() {
  ret void
}

define linkonce_odr spir_func i32 @shared() comdat {
  %v = load i32, ptr addrspace(1) @data
  ret i32 %v
}

define spir_kernel void @k(ptr addrspace(1) %out) {
  %a = call spir_func i32 @shared()
  %b = load i32, ptr addrspace(1) @table
  %c = add i32 %a, %b
  store i32 %c, ptr addrspace(1) %out
  ret void
}
