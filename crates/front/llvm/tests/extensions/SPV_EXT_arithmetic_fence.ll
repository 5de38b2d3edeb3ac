target triple = "spir64-unknown-unknown"

define spir_func float @used(float %a0) {
  %r = call spir_func float @llvm.arithmetic.fence.f32(float %a0)
  ret float %r
}

declare spir_func float @llvm.arithmetic.fence.f32(float)
