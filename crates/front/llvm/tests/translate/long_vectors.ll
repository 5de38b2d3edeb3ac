; options: extensions=none
; Vectors of more lanes than SPIR-V has without an extension are taken apart.
target triple = "spir64-unknown-unknown"

define spir_func void @sums(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %a = load <17 x float>, ptr addrspace(1) %p, align 4
  %b = load <17 x float>, ptr addrspace(1) %q, align 4
  %c = fmul fast <17 x float> %a, %b
  %d = call <17 x float> @llvm.fabs.v17f32(<17 x float> %c)
  %more = fcmp ogt <17 x float> %d, zeroinitializer
  %e = select <17 x i1> %more, <17 x float> %d, <17 x float> %a
  store <17 x float> %e, ptr addrspace(1) %p, align 4
  ret void
}

define spir_func float @lanes(<17 x float> %v, i32 %n, float %x) {
  %a = insertelement <17 x float> %v, float %x, i32 %n
  %b = insertelement <17 x float> %a, float 1.0, i32 3
  %c = extractelement <17 x float> %b, i32 %n
  %d = shufflevector <17 x float> %b, <17 x float> poison, <2 x i32> <i32 16, i32 0>
  %e = extractelement <2 x float> %d, i32 0
  %f = fadd float %c, %e
  %g = call float @llvm.vector.reduce.fadd.v17f32(float %f, <17 x float> %b)
  ret float %g
}

define spir_func <8 x i64> @bits(<32 x i16> %v) {
  %w = bitcast <32 x i16> %v to <8 x i64>
  ret <8 x i64> %w
}

declare <17 x float> @llvm.fabs.v17f32(<17 x float>)
declare float @llvm.vector.reduce.fadd.v17f32(float, <17 x float>)
