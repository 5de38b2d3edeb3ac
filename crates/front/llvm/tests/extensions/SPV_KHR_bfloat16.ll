target triple = "spir64-unknown-unknown"

define spir_func bfloat @used(bfloat %a, bfloat %b) {
  %c = fadd bfloat %a, %b
  ret bfloat %c
}
