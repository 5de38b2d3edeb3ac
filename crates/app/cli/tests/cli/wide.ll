; Integers and vectors of sizes that hardly any device has.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

define spir_kernel void @product(ptr addrspace(1) %a, i128 %x) {
  %v = load i128, ptr addrspace(1) %a
  %w = mul i128 %v, %x
  store i128 %w, ptr addrspace(1) %a
  ret void
}

define spir_kernel void @many(ptr addrspace(1) %p) {
  %a = load <64 x i32>, ptr addrspace(1) %p, align 4
  %b = add <64 x i32> %a, splat (i32 1)
  store <64 x i32> %b, ptr addrspace(1) %p, align 4
  ret void
}
