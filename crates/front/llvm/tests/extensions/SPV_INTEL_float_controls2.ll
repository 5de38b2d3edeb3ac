target triple = "spir64-unknown-unknown"

define spir_kernel void @used() "VCFloatControl"="48" {
  ret void
}
