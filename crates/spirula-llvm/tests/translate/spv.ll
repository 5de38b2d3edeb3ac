; LLVM's own intrinsics for SPIR-V.
target triple = "spirv64-unknown-unknown"

define spir_kernel void @items(ptr addrspace(1) %out, i32 %d) {
  %x = call i64 @llvm.spv.thread.id.i64(i32 0)
  %y = call i64 @llvm.spv.workgroup.size.i64(i32 %d)
  %lane = call i32 @llvm.spv.subgroup.local.invocation.id()
  %wide = zext i32 %lane to i64
  %1 = add i64 %x, %y
  %2 = add i64 %1, %wide
  store i64 %2, ptr addrspace(1) %out, align 8
  ret void
}

define spir_func i1 @lanes(<4 x float> %v, i32 %n, i1 %c) {
  %all = call i1 @llvm.spv.all.v4f32(<4 x float> %v)
  %any = call i1 @llvm.spv.any.i32(i32 %n)
  %count = call i32 @llvm.spv.wave.active.countbits(i1 %c)
  %sum = call i32 @llvm.spv.wave.reduce.sum.i32(i32 %count)
  %clamped = call i32 @llvm.spv.sclamp.i32(i32 %sum, i32 0, i32 9)
  %first = call i1 @llvm.spv.wave.is.first.lane()
  %nonzero = icmp ne i32 %clamped, 0
  %1 = and i1 %all, %any
  %2 = and i1 %first, %nonzero
  %3 = or i1 %1, %2
  ret i1 %3
}

declare i64 @llvm.spv.thread.id.i64(i32)
declare i64 @llvm.spv.workgroup.size.i64(i32)
declare i32 @llvm.spv.subgroup.local.invocation.id()
declare i1 @llvm.spv.all.v4f32(<4 x float>)
declare i1 @llvm.spv.any.i32(i32)
declare i32 @llvm.spv.wave.active.countbits(i1)
declare i32 @llvm.spv.wave.reduce.sum.i32(i32)
declare i32 @llvm.spv.sclamp.i32(i32, i32, i32)
declare i1 @llvm.spv.wave.is.first.lane()
