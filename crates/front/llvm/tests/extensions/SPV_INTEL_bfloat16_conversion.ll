target triple = "spir64-unknown-unknown"

define spir_func i16 @used(float %a0) {
  %r = call spir_func i16 @_Z27__spirv_ConvertFToBF16INTELf(float %a0)
  ret i16 %r
}

declare spir_func i16 @_Z27__spirv_ConvertFToBF16INTELf(float)
