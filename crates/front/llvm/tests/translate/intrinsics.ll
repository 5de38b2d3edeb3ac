; Intrinsics and atomic instructions of LLVM.
target triple = "spir64-unknown-unknown"

define spir_func i32 @bits(i32 %a, i32 %b, i16 %s) {
  %rot = call i32 @llvm.fshl.i32(i32 %a, i32 %a, i32 %b)
  %fun = call i32 @llvm.fshr.i32(i32 %rot, i32 %b, i32 5)
  %pop = call i32 @llvm.ctpop.i32(i32 %fun)
  %swap = call i16 @llvm.bswap.i16(i16 %s)
  %wide = zext i16 %swap to i32
  %lz = call i32 @llvm.ctlz.i32(i32 %pop, i1 false)
  %min = call i32 @llvm.umin.i32(i32 %lz, i32 %wide)
  %sat = call i32 @llvm.sadd.sat.i32(i32 %min, i32 %a)
  %flagged = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %sat, i32 %b)
  %sum = extractvalue { i32, i1 } %flagged, 0
  %over = extractvalue { i32, i1 } %flagged, 1
  %result = select i1 %over, i32 -1, i32 %sum
  ret i32 %result
}

define spir_func float @floats(float %a, <4 x float> %v, <4 x i32> %w) {
  call void @llvm.assume(i1 true)
  %mad = call fast float @llvm.fmuladd.f32(float %a, float %a, float 1.0)
  %abs = call float @llvm.fabs.f32(float %mad)
  %sum = call reassoc float @llvm.vector.reduce.fadd.v4f32(float %abs, <4 x float> %v)
  %total = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %w)
  %f = sitofp i32 %total to float
  %max = call float @llvm.maxnum.f32(float %f, float %sum)
  %fast = fdiv nnan ninf nsz arcp float %max, %a
  %all = fmul fast float %fast, %max
  ret float %all
}

define spir_func i32 @atomics(ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %x) {
  %old = atomicrmw umax ptr addrspace(1) %p, i32 %x syncscope("workgroup") acq_rel, align 4
  %pair = cmpxchg ptr addrspace(3) %l, i32 %old, i32 %x seq_cst monotonic, align 4
  %ok = extractvalue { i32, i1 } %pair, 1
  %now = load atomic i32, ptr addrspace(1) %p acquire, align 4
  store atomic i32 %now, ptr addrspace(1) %p release, align 4
  fence syncscope("device") seq_cst
  %y = select i1 %ok, i32 %now, i32 %old
  %frozen = freeze i32 %y
  ret i32 %frozen
}

define spir_func i32 @loops(ptr addrspace(1) %p, i32 %x) {
  %a = atomicrmw nand ptr addrspace(1) %p, i32 %x acq_rel, align 4
  %b = atomicrmw uinc_wrap ptr addrspace(1) %p, i32 %a monotonic, align 4
  %c = atomicrmw usub_sat ptr addrspace(1) %p, i32 %b seq_cst, align 4
  ret i32 %c
}

define spir_func i1 @classes(float %a, <2 x half> %v) {
  %finite = call i1 @llvm.is.fpclass.f32(float %a, i32 504)
  %signalling = call i1 @llvm.is.fpclass.f32(float %a, i32 33)
  %max = call half @llvm.vector.reduce.fmaximum.v2f16(<2 x half> %v)
  %ordered = fcmp ord half %max, 0.0
  %some = or i1 %finite, %signalling
  %all = and i1 %some, %ordered
  ret i1 %all
}

declare i1 @llvm.is.fpclass.f32(float, i32)
declare half @llvm.vector.reduce.fmaximum.v2f16(<2 x half>)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.fshr.i32(i32, i32, i32)
declare i32 @llvm.ctpop.i32(i32)
declare i16 @llvm.bswap.i16(i16)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)
declare void @llvm.assume(i1)
declare float @llvm.fmuladd.f32(float, float, float)
declare float @llvm.fabs.f32(float)
declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)
declare float @llvm.maxnum.f32(float, float)
