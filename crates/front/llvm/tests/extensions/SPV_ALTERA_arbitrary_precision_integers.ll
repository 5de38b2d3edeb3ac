; options: extensions=-SPV_INTEL_arbitrary_precision_integers
target triple = "spir64-unknown-unknown"

define spir_func i128 @used(i128 %a, i128 %b) {
  %c = mul i128 %a, %b
  ret i128 %c
}
