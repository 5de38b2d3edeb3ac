target triple = "spir64-unknown-unknown"

define spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @used(float %x) {
  %m = call spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @_Z26__spirv_CompositeConstructf(float %x)
  ret target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) %m
}

declare spir_func target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2) @_Z26__spirv_CompositeConstructf(float)
