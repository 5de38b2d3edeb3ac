; Operations on the lanes that a mask names and that are before a length.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

define spir_kernel void @arithmetic(ptr addrspace(1) %p, <4 x i32> %a, <4 x i32> %b, <4 x float> %x, <4 x i1> %m, i32 %n) {
  %sum = call <4 x i32> @llvm.vp.add.v4i32(<4 x i32> %a, <4 x i32> %b, <4 x i1> %m, i32 %n)
  %quotient = call <4 x i32> @llvm.vp.sdiv.v4i32(<4 x i32> %sum, <4 x i32> %b, <4 x i1> %m, i32 %n)
  %whole = call <4 x i32> @llvm.vp.urem.v4i32(<4 x i32> %quotient, <4 x i32> %b, <4 x i1> splat (i1 true), i32 4)
  %most = call <4 x i32> @llvm.vp.smax.v4i32(<4 x i32> %whole, <4 x i32> %a, <4 x i1> %m, i32 %n)
  %float = call <4 x float> @llvm.vp.sitofp.v4f32.v4i32(<4 x i32> %most, <4 x i1> %m, i32 %n)
  %fused = call <4 x float> @llvm.vp.fma.v4f32(<4 x float> %float, <4 x float> %x, <4 x float> %x, <4 x i1> %m, i32 %n)
  %negated = call fast <4 x float> @llvm.vp.fneg.v4f32(<4 x float> %fused, <4 x i1> %m, i32 %n)
  %down = call <4 x float> @llvm.vp.roundtozero.v4f32(<4 x float> %negated, <4 x i1> %m, i32 %n)
  %less = call <4 x i1> @llvm.vp.fcmp.v4f32(<4 x float> %down, <4 x float> %x, metadata !"olt", <4 x i1> %m, i32 %n)
  %chosen = call <4 x float> @llvm.vp.select.v4f32(<4 x i1> %less, <4 x float> %down, <4 x float> %x, i32 %n)
  %merged = call <4 x float> @llvm.vp.merge.v4f32(<4 x i1> %less, <4 x float> %chosen, <4 x float> %x, i32 %n)
  store <4 x float> %merged, ptr addrspace(1) %p, align 16
  ret void
}

define spir_kernel void @reductions(ptr addrspace(1) %p, <4 x i32> %a, <4 x float> %x, <4 x i1> %m, i32 %n) {
  %sum = call i32 @llvm.vp.reduce.add.v4i32(i32 7, <4 x i32> %a, <4 x i1> %m, i32 %n)
  %least = call i32 @llvm.vp.reduce.smin.v4i32(i32 %sum, <4 x i32> %a, <4 x i1> %m, i32 4)
  %all = call float @llvm.vp.reduce.fadd.v4f32(float 0.0, <4 x float> %x, <4 x i1> <i1 true, i1 false, i1 true, i1 true>, i32 3)
  %first = call i32 @llvm.vp.cttz.elts.i32.v4i32(<4 x i32> %a, i1 false, <4 x i1> %m, i32 %n)
  %number = add i32 %least, %first
  store i32 %number, ptr addrspace(1) %p, align 4
  %q = getelementptr i8, ptr addrspace(1) %p, i64 4
  store float %all, ptr addrspace(1) %q, align 4
  ret void
}

define spir_kernel void @memory(ptr addrspace(1) %from, ptr addrspace(1) %to, <4 x i1> %m, i32 %n) {
  %a = call <4 x i32> @llvm.vp.load.v4i32.p1(ptr addrspace(1) align 4 %from, <4 x i1> splat (i1 true), i32 3)
  call void @llvm.vp.store.v4i32.p1(<4 x i32> %a, ptr addrspace(1) align 4 %to, <4 x i1> %m, i32 %n)
  ret void
}

declare <4 x i32> @llvm.vp.add.v4i32(<4 x i32>, <4 x i32>, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.sdiv.v4i32(<4 x i32>, <4 x i32>, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.urem.v4i32(<4 x i32>, <4 x i32>, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.smax.v4i32(<4 x i32>, <4 x i32>, <4 x i1>, i32)
declare <4 x float> @llvm.vp.sitofp.v4f32.v4i32(<4 x i32>, <4 x i1>, i32)
declare <4 x float> @llvm.vp.fma.v4f32(<4 x float>, <4 x float>, <4 x float>, <4 x i1>, i32)
declare <4 x float> @llvm.vp.fneg.v4f32(<4 x float>, <4 x i1>, i32)
declare <4 x float> @llvm.vp.roundtozero.v4f32(<4 x float>, <4 x i1>, i32)
declare <4 x i1> @llvm.vp.fcmp.v4f32(<4 x float>, <4 x float>, metadata, <4 x i1>, i32)
declare <4 x float> @llvm.vp.select.v4f32(<4 x i1>, <4 x float>, <4 x float>, i32)
declare <4 x float> @llvm.vp.merge.v4f32(<4 x i1>, <4 x float>, <4 x float>, i32)
declare i32 @llvm.vp.reduce.add.v4i32(i32, <4 x i32>, <4 x i1>, i32)
declare i32 @llvm.vp.reduce.smin.v4i32(i32, <4 x i32>, <4 x i1>, i32)
declare float @llvm.vp.reduce.fadd.v4f32(float, <4 x float>, <4 x i1>, i32)
declare i32 @llvm.vp.cttz.elts.i32.v4i32(<4 x i32>, i1, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.load.v4i32.p1(ptr addrspace(1), <4 x i1>, i32)
declare void @llvm.vp.store.v4i32.p1(<4 x i32>, ptr addrspace(1), <4 x i1>, i32)
