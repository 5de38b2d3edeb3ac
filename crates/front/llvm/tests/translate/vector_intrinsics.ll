; Intrinsics that move lanes, and funnel shifts of odd widths.
target triple = "spir64-unknown-unknown"

define spir_func <4 x i32> @moved(<2 x i32> %a, <2 x i32> %b, <4 x i32> %c) {
  %i = call <4 x i32> @llvm.vector.interleave2.v4i32(<2 x i32> %a, <2 x i32> %b)
  %d = call { <2 x i32>, <2 x i32> } @llvm.vector.deinterleave2.v4i32(<4 x i32> %i)
  %e = extractvalue { <2 x i32>, <2 x i32> } %d, 1
  %s = call <4 x i32> @llvm.vector.splice.v4i32(<4 x i32> %i, <4 x i32> %c, i32 -1)
  %n = call <4 x i32> @llvm.stepvector.v4i32()
  %t = add <4 x i32> %s, %n
  %p = call <2 x i32> @llvm.vector.partial.reduce.add.v2i32.v4i32(<2 x i32> %e, <4 x i32> %t)
  %r = call <4 x i32> @llvm.vector.insert.v4i32.v2i32(<4 x i32> %t, <2 x i32> %p, i64 2)
  ret <4 x i32> %r
}

define spir_func <4 x i1> @active(i32 %first, i32 %end) {
  %m = call <4 x i1> @llvm.get.active.lane.mask.v4i1.i32(i32 %first, i32 %end)
  ret <4 x i1> %m
}

define spir_func i24 @funnel(i24 %a, i24 %b, i24 %n) {
  %l = call i24 @llvm.fshl.i24(i24 %a, i24 %b, i24 %n)
  %r = call i24 @llvm.fshr.i24(i24 %l, i24 %b, i24 %n)
  ret i24 %r
}

declare <4 x i32> @llvm.vector.interleave2.v4i32(<2 x i32>, <2 x i32>)
declare { <2 x i32>, <2 x i32> } @llvm.vector.deinterleave2.v4i32(<4 x i32>)
declare <4 x i32> @llvm.vector.splice.v4i32(<4 x i32>, <4 x i32>, i32)
declare <4 x i32> @llvm.stepvector.v4i32()
declare <2 x i32> @llvm.vector.partial.reduce.add.v2i32.v4i32(<2 x i32>, <4 x i32>)
declare <4 x i32> @llvm.vector.insert.v4i32.v2i32(<4 x i32>, <2 x i32>, i64)
declare <4 x i1> @llvm.get.active.lane.mask.v4i1.i32(i32, i32)
declare i24 @llvm.fshl.i24(i24, i24, i24)
declare i24 @llvm.fshr.i24(i24, i24, i24)
