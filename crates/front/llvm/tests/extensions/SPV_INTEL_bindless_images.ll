target triple = "spir64-unknown-unknown"

define spir_func target("spirv.Sampler") @used(i64 %a0) {
  %r = call spir_func target("spirv.Sampler") @_Z35__spirv_ConvertHandleToSamplerINTELl(i64 %a0)
  ret target("spirv.Sampler") %r
}

declare spir_func target("spirv.Sampler") @_Z35__spirv_ConvertHandleToSamplerINTELl(i64)
