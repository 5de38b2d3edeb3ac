; options: extensions=none
; Integers of more than 64 bits as limbs, where those of any width may not be used.
target triple = "spir64-unknown-unknown"

@table = addrspace(1) constant [2 x i128] [i128 18446744073709551617, i128 5]

define spir_func i64 @high_of_product(i64 %a, i64 %b) {
  %wide_a = zext i64 %a to i128
  %wide_b = zext i64 %b to i128
  %product = mul i128 %wide_a, %wide_b
  %high = lshr i128 %product, 64
  %result = trunc i128 %high to i64
  ret i64 %result
}

define spir_func i128 @loaded(ptr addrspace(1) %p, i128 %x) {
  %a = load i128, ptr addrspace(1) %p, align 8
  %b = add i128 %a, %x
  store i128 %b, ptr addrspace(1) %p, align 8
  %less = icmp slt i128 %a, %b
  %c = select i1 %less, i128 %a, i128 1
  ret i128 %c
}

define spir_func void @odd(ptr addrspace(1) %p, i32 %n) {
  %a = load i72, ptr addrspace(1) %p, align 1
  %m = sext i32 %n to i72
  %b = sub i72 %a, %m
  store i72 %b, ptr addrspace(1) %p, align 1
  ret void
}

define spir_func i32 @chosen(i128 %a) {
entry:
  switch i128 %a, label %other [
    i128 0, label %zero
    i128 18446744073709551616, label %large
  ]
zero:
  ret i32 1
large:
  ret i32 2
other:
  ret i32 3
}

define spir_func i1 @overflows(i128 %a, i128 %b) {
  %both = call { i128, i1 } @llvm.uadd.with.overflow.i128(i128 %a, i128 %b)
  %over = extractvalue { i128, i1 } %both, 1
  ret i1 %over
}

define spir_func i67 @reduced(<4 x i67> %v) {
  %all = call i67 @llvm.vector.reduce.mul.v4i67(<4 x i67> %v)
  ret i67 %all
}

define spir_func double @rounded(i128 %a) {
  %x = sitofp i128 %a to double
  ret double %x
}

define spir_func <4 x i32> @as_words(i128 %a) {
  %words = bitcast i128 %a to <4 x i32>
  ret <4 x i32> %words
}

define spir_func i128 @quotient(i128 %a, i128 %b) {
  %q = udiv i128 %a, %b
  ret i128 %q
}

declare { i128, i1 } @llvm.uadd.with.overflow.i128(i128, i128)
declare i67 @llvm.vector.reduce.mul.v4i67(<4 x i67>)
