target triple = "spir64-unknown-unknown"

define spir_func half @used(i8 %a0) {
  %r = call spir_func half @_Z36__builtin_spirv_ConvertE4M3ToFP16EXTc(i8 %a0)
  ret half %r
}

declare spir_func half @_Z36__builtin_spirv_ConvertE4M3ToFP16EXTc(i8)
