; Lanes that are moved, halves as bits, clocks, and reductions under their older names.
target triple = "spir64-unknown-unknown"

define spir_func <4 x i32> @moved(<4 x i32> %v, <2 x i32> %w) {
  %back = call <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32> %v)
  %low = call <2 x i32> @llvm.vector.extract.v2i32.v4i32(<4 x i32> %back, i64 2)
  %sum = add <2 x i32> %low, %w
  %all = call <4 x i32> @llvm.vector.insert.v4i32.v2i32(<4 x i32> %back, <2 x i32> %sum, i64 0)
  ret <4 x i32> %all
}

define spir_func float @halves(float %x, <4 x i32> %v) {
  %bits = call i16 @llvm.convert.to.fp16.f32(float %x)
  %more = add i16 %bits, 1
  %y = call float @llvm.convert.from.fp16.f32(i16 %more)
  %sum = call i32 @llvm.experimental.vector.reduce.add.v4i32(<4 x i32> %v)
  %f = sitofp i32 %sum to float
  %time = call i64 @llvm.readcyclecounter()
  %t = uitofp i64 %time to float
  %a = fadd float %y, %f
  %b = fadd float %a, %t
  ret float %b
}

declare <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32>)
declare <2 x i32> @llvm.vector.extract.v2i32.v4i32(<4 x i32>, i64)
declare <4 x i32> @llvm.vector.insert.v4i32.v2i32(<4 x i32>, <2 x i32>, i64)
declare i16 @llvm.convert.to.fp16.f32(float)
declare float @llvm.convert.from.fp16.f32(i16)
declare i32 @llvm.experimental.vector.reduce.add.v4i32(<4 x i32>)
declare i64 @llvm.readcyclecounter()
