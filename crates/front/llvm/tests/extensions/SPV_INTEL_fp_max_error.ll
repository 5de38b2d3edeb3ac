; options: extensions=SPV_INTEL_fp_max_error
target triple = "spir64-unknown-unknown"

define spir_func float @used(float %a, float %b) {
  %c = fdiv float %a, %b, !fpmath !0
  ret float %c
}

!0 = !{float 2.5}
