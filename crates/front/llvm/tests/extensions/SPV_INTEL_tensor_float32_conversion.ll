target triple = "spir64-unknown-unknown"

define spir_func float @used(float %a0) {
  %r = call spir_func float @_Z25__spirv_RoundFToTF32INTELf(float %a0)
  ret float %r
}

declare spir_func float @_Z25__spirv_RoundFToTF32INTELf(float)
