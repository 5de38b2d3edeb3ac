; Integers of widths and vectors of lengths that SPIR-V does not have.
target triple = "spir64-unknown-unknown"

define spir_func i32 @odd_arithmetic(i32 %a, i32 %b) {
  %x = trunc i32 %a to i24
  %y = trunc i32 %b to i24
  %sum = add i24 %x, %y
  %quotient = sdiv i24 %sum, %y
  %shifted = ashr i24 %quotient, 3
  %less = icmp slt i24 %shifted, %x
  %wide = sext i24 %shifted to i32
  %zero = zext i24 %x to i32
  %result = select i1 %less, i32 %wide, i32 %zero
  ret i32 %result
}

define spir_func i32 @mask(<4 x i32> %v, <4 x i32> %w) {
  %less = icmp ult <4 x i32> %v, %w
  %bits = bitcast <4 x i1> %less to i4
  %all = icmp eq i4 %bits, -1
  %result = zext i1 %all to i32
  ret i32 %result
}

define spir_func i32 @jump(i32 %a) {
entry:
  %low = trunc i32 %a to i2
  switch i2 %low, label %other [
    i2 0, label %none
    i2 -2, label %two
  ]
none:
  ret i32 10
two:
  ret i32 20
other:
  ret i32 30
}

define spir_func void @five(ptr addrspace(1) %to, ptr addrspace(1) %from) {
  %v = load <5 x float>, ptr addrspace(1) %from, align 4
  %w = fadd <5 x float> %v, <float 1.0, float 2.0, float 3.0, float 4.0, float 5.0>
  store <5 x float> %w, ptr addrspace(1) %to, align 4
  ret void
}

define spir_func void @three_bytes(ptr addrspace(1) %to, ptr addrspace(1) %from) {
  %v = load i24, ptr addrspace(1) %from, align 1
  store i24 %v, ptr addrspace(1) %to, align 1
  ret void
}

define spir_func i1 @truth(i1 %a, i1 %b) {
  %sum = add i1 %a, %b
  %less = icmp slt i1 %sum, %b
  %both = xor i1 %less, true
  ret i1 %both
}

define spir_func float @single(<1 x float> %v) {
  %x = extractelement <1 x float> %v, i32 0
  %w = insertelement <1 x float> poison, float %x, i32 0
  %y = bitcast <1 x float> %w to float
  ret float %y
}

define spir_func i128 @wide(i128 %a, <4 x i32> %v) {
  %sum = add i128 %a, 340282366920938463463374607431768211455
  %other = bitcast <4 x i32> %v to i128
  %both = xor i128 %sum, %other
  switch i128 %both, label %rest [
    i128 36893488147419103232, label %two
  ]
two:
  ret i128 18446744073709551616
rest:
  %less = icmp slt i128 %both, 0
  %small = sext i1 %less to i128
  ret i128 %small
}

define spir_func <20 x i32> @long(<20 x i32> %a, <20 x i32> %b) {
  %product = mul <20 x i32> %a, %b
  ret <20 x i32> %product
}
