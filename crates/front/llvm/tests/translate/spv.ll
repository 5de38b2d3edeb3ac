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

define spir_func i32 @waves(i32 %n, float %x) {
  %min = call i32 @llvm.spv.wave.reduce.min.i32(i32 %n)
  %umin = call i32 @llvm.spv.wave.reduce.umin.i32(i32 %min)
  %sum = call i32 @llvm.spv.wave.reduce.usum.i32(i32 %umin)
  %before = call i32 @llvm.spv.wave.prefix.usum.i32(i32 %sum)
  %bits = call i32 @llvm.spv.wave.reduce.xor.i32(i32 %before)
  %product = call float @llvm.spv.wave.product.f32(float %x)
  %float = fptoui float %product to i32
  call void @llvm.spv.group.memory.barrier()
  call void @llvm.spv.all.memory.barrier.with.group.sync()
  call void @llvm.spv.device.memory.barrier()
  %1 = add i32 %bits, %float
  ret i32 %1
}

declare i32 @llvm.spv.wave.reduce.min.i32(i32)
declare i32 @llvm.spv.wave.reduce.umin.i32(i32)
declare i32 @llvm.spv.wave.reduce.usum.i32(i32)
declare i32 @llvm.spv.wave.prefix.usum.i32(i32)
declare i32 @llvm.spv.wave.reduce.xor.i32(i32)
declare float @llvm.spv.wave.product.f32(float)
declare void @llvm.spv.group.memory.barrier()
declare void @llvm.spv.all.memory.barrier.with.group.sync()
declare void @llvm.spv.device.memory.barrier()
