; Operations on some lanes; what they mean is in plain.ll.

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

declare spir_func i64 @_Z13get_global_idj(i32)

define spir_kernel void @kernel(ptr addrspace(1) %input, ptr addrspace(1) %output, i32 %p0, float %p1, i64 %p2, <4 x i32> %p3) {
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %from.offset = mul i64 %id, 64
  %from = getelementptr i8, ptr addrspace(1) %input, i64 %from.offset
  %to.offset = mul i64 %id, 2048
  %to = getelementptr i8, ptr addrspace(1) %output, i64 %to.offset
  %first = load <4 x i32>, ptr addrspace(1) %from, align 4
  %second = getelementptr i8, ptr addrspace(1) %from, i64 16
  %b = load <4 x i32>, ptr addrspace(1) %second, align 4
  %a = xor <4 x i32> %first, %p3
  %third = getelementptr i8, ptr addrspace(1) %from, i64 32
  %bits = load i32, ptr addrspace(1) %third, align 4
  %n = and i32 %bits, 3
  %shifted = lshr <4 x i32> %a, splat (i32 7)
  %odd = and <4 x i32> %shifted, splat (i32 1)
  %m = icmp ne <4 x i32> %odd, zeroinitializer
  %small = and <4 x i32> %b, splat (i32 3)
  %n.1 = insertelement <4 x i32> poison, i32 %n, i64 0
  %n.all = shufflevector <4 x i32> %n.1, <4 x i32> poison, <4 x i32> zeroinitializer
  %within = icmp ult <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %n.all
  %active = and <4 x i1> %within, %m
  %to1 = getelementptr i8, ptr addrspace(1) %to, i64 16
  %to2 = getelementptr i8, ptr addrspace(1) %to, i64 32
  %to3 = getelementptr i8, ptr addrspace(1) %to, i64 48
  %to4 = getelementptr i8, ptr addrspace(1) %to, i64 64
  %to5 = getelementptr i8, ptr addrspace(1) %to, i64 80
  %nonzero = icmp ne <4 x i32> %small, zeroinitializer
  %may = and <4 x i1> %m, %nonzero
  %sum = call <4 x i32> @llvm.vp.add.v4i32(<4 x i32> %a, <4 x i32> %b, <4 x i1> %may, i32 %n)
  %quotient = call <4 x i32> @llvm.vp.udiv.v4i32(<4 x i32> %sum, <4 x i32> %small, <4 x i1> %may, i32 %n)
  %least = call <4 x i32> @llvm.vp.smin.v4i32(<4 x i32> %quotient, <4 x i32> %b, <4 x i1> %may, i32 %n)
  %known = call <4 x i32> @llvm.vp.merge.v4i32(<4 x i1> %may, <4 x i32> %least, <4 x i32> %b, i32 %n)
  store <4 x i32> %known, ptr addrspace(1) %to, align 16
  %less = call <4 x i1> @llvm.vp.icmp.v4i32(<4 x i32> %a, <4 x i32> %b, metadata !"slt", <4 x i1> splat (i1 true), i32 4)
  %wide = zext <4 x i1> %less to <4 x i32>
  store <4 x i32> %wide, ptr addrspace(1) %to1, align 16
  %total = call i32 @llvm.vp.reduce.add.v4i32(i32 %bits, <4 x i32> %a, <4 x i1> %m, i32 %n)
  %top = call i32 @llvm.vp.reduce.smax.v4i32(i32 %p0, <4 x i32> %b, <4 x i1> %m, i32 %n)
  store i32 %total, ptr addrspace(1) %to2, align 4
  %to2.1 = getelementptr i8, ptr addrspace(1) %to, i64 36
  store i32 %top, ptr addrspace(1) %to2.1, align 4
  %lane = call i32 @llvm.vp.cttz.elts.i32.v4i32(<4 x i32> %small, i1 false, <4 x i1> %m, i32 %n)
  %to2.2 = getelementptr i8, ptr addrspace(1) %to, i64 40
  store i32 %lane, ptr addrspace(1) %to2.2, align 4
  store <4 x i32> %b, ptr addrspace(1) %to3, align 16
  call void @llvm.vp.store.v4i32.p1(<4 x i32> %a, ptr addrspace(1) align 16 %to3, <4 x i1> %m, i32 %n)
  %part = call <4 x i32> @llvm.vp.load.v4i32.p1(ptr addrspace(1) align 4 %from, <4 x i1> %m, i32 %n)
  %loaded = select <4 x i1> %active, <4 x i32> %part, <4 x i32> %b
  store <4 x i32> %loaded, ptr addrspace(1) %to4, align 16
  %chosen = call <4 x i32> @llvm.ct.select.v4i32(i1 true, <4 x i32> %a, <4 x i32> %b)
  store <4 x i32> %chosen, ptr addrspace(1) %to5, align 16
  ret void
}

declare <4 x i32> @llvm.vp.add.v4i32(<4 x i32>, <4 x i32>, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.udiv.v4i32(<4 x i32>, <4 x i32>, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.smin.v4i32(<4 x i32>, <4 x i32>, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.merge.v4i32(<4 x i1>, <4 x i32>, <4 x i32>, i32)
declare <4 x i1> @llvm.vp.icmp.v4i32(<4 x i32>, <4 x i32>, metadata, <4 x i1>, i32)
declare i32 @llvm.vp.reduce.add.v4i32(i32, <4 x i32>, <4 x i1>, i32)
declare i32 @llvm.vp.reduce.smax.v4i32(i32, <4 x i32>, <4 x i1>, i32)
declare i32 @llvm.vp.cttz.elts.i32.v4i32(<4 x i32>, i1, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.load.v4i32.p1(ptr addrspace(1), <4 x i1>, i32)
declare void @llvm.vp.store.v4i32.p1(<4 x i32>, ptr addrspace(1), <4 x i1>, i32)
declare <4 x i32> @llvm.ct.select.v4i32(i1, <4 x i32>, <4 x i32>)
