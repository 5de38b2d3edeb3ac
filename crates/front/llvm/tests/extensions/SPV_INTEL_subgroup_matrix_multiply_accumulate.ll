target triple = "spir64-unknown-unknown"

define spir_func i32 @used(i32 %a1, <8 x i32> %a2, i32 %a3) {
  %r = call spir_func i32 @_Z45__spirv_SubgroupMatrixMultiplyAccumulateINTELiiDv8_iii(i32 32, i32 %a1, <8 x i32> %a2, i32 %a3, i32 10)
  ret i32 %r
}

declare spir_func i32 @_Z45__spirv_SubgroupMatrixMultiplyAccumulateINTELiiDv8_iii(i32, i32, <8 x i32>, i32, i32)
