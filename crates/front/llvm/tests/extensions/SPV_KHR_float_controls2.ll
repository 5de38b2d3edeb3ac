; options: extensions=SPV_KHR_float_controls2
target triple = "spir64-unknown-unknown"

define spir_func float @used(float %a, float %b) {
  %c = fadd contract reassoc float %a, %b
  %d = fmul fast float %c, %b
  ret float %d
}
