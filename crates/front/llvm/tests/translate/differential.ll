; What programs made at random found: a shuffle of a vector with itself takes components of the second
; operand too; a size written as an address behind null is a number; funnel shifts of odd widths.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

define spir_func <4 x i32> @twice(<4 x i32> %v) {
  %r = shufflevector <4 x i32> %v, <4 x i32> %v, <4 x i32> <i32 5, i32 0, i32 7, i32 2>
  ret <4 x i32> %r
}

define spir_func i64 @size() {
  ret i64 ptrtoint (ptr getelementptr ({ i32, [2 x i64] }, ptr null, i32 1) to i64)
}

define spir_func i64 @offset() {
  ret i64 ptrtoint (ptr getelementptr ({ i32, [2 x i64] }, ptr null, i32 0, i32 1, i32 1) to i64)
}

define spir_func i24 @left(i24 %a, i24 %b, i24 %c) {
  %r = call i24 @llvm.fshl.i24(i24 %a, i24 %b, i24 %c)
  ret i24 %r
}

define spir_func i24 @right(i24 %a, i24 %b, i24 %c) {
  %r = call i24 @llvm.fshr.i24(i24 %a, i24 %b, i24 %c)
  ret i24 %r
}

declare i24 @llvm.fshl.i24(i24, i24, i24)
declare i24 @llvm.fshr.i24(i24, i24, i24)
