target triple = "spir64-unknown-unknown"

define spir_func float @used(float %a0, float %a1, float %a2) {
  %r = call spir_func float @_Z14__spirv_FmaKHRfff(float %a0, float %a1, float %a2)
  ret float %r
}

declare spir_func float @_Z14__spirv_FmaKHRfff(float, float, float)
