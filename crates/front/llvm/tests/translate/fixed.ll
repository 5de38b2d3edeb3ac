; Numbers with a fixed point, products without carries, lanes before the first, choices.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

define spir_func <2 x i32> @products(<2 x i32> %a, <2 x i32> %b) {
  %1 = call <2 x i32> @llvm.smul.fix.v2i32(<2 x i32> %a, <2 x i32> %b, i32 15)
  %2 = call <2 x i32> @llvm.umul.fix.sat.v2i32(<2 x i32> %1, <2 x i32> %b, i32 32)
  %3 = call <2 x i32> @llvm.smul.fix.sat.v2i32(<2 x i32> %2, <2 x i32> %b, i32 0)
  ret <2 x i32> %3
}

define spir_func i24 @odd(i24 %a, i24 %b) {
  %1 = call i24 @llvm.smul.fix.sat.i24(i24 %a, i24 %b, i32 7)
  %2 = call i24 @llvm.udiv.fix.i24(i24 %1, i24 %b, i32 3)
  ret i24 %2
}

define spir_func i16 @quotients(i16 %a, i16 %b) {
  %1 = call i16 @llvm.sdiv.fix.sat.i16(i16 %a, i16 %b, i32 8)
  %2 = call i16 @llvm.clmul.i16(i16 %1, i16 %b)
  ret i16 %2
}

define spir_func i32 @lanes(<3 x i32> %v, i1 %c, <4 x i1> %m) {
  %1 = call i32 @llvm.experimental.cttz.elts.i32.v3i32(<3 x i32> %v, i1 false)
  %2 = call i32 @llvm.experimental.cttz.elts.i32.v4i1(<4 x i1> %m, i1 true)
  %3 = call i32 @llvm.ct.select.i32(i1 %c, i32 %1, i32 %2)
  ret i32 %3
}

declare <2 x i32> @llvm.smul.fix.v2i32(<2 x i32>, <2 x i32>, i32)
declare <2 x i32> @llvm.umul.fix.sat.v2i32(<2 x i32>, <2 x i32>, i32)
declare <2 x i32> @llvm.smul.fix.sat.v2i32(<2 x i32>, <2 x i32>, i32)
declare i24 @llvm.smul.fix.sat.i24(i24, i24, i32)
declare i24 @llvm.udiv.fix.i24(i24, i24, i32)
declare i16 @llvm.sdiv.fix.sat.i16(i16, i16, i32)
declare i16 @llvm.clmul.i16(i16, i16)
declare i32 @llvm.experimental.cttz.elts.i32.v3i32(<3 x i32>, i1)
declare i32 @llvm.experimental.cttz.elts.i32.v4i1(<4 x i1>, i1)
declare i32 @llvm.ct.select.i32(i1, i32, i32)
