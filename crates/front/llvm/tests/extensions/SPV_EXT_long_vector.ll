target triple = "spir64-unknown-unknown"

define spir_func <17 x float> @used(<17 x float> %a, <17 x float> %b) {
  %c = fadd <17 x float> %a, %b
  ret <17 x float> %c
}
