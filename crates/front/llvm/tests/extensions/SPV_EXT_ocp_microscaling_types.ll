target triple = "spir64-unknown-unknown"

define spir_func half @used(i4 %a0) {
  %r = call spir_func half @_Z36__builtin_spirv_ConvertE2M1ToFP16EXTi(i4 %a0)
  ret half %r
}

declare spir_func half @_Z36__builtin_spirv_ConvertE2M1ToFP16EXTi(i4)
