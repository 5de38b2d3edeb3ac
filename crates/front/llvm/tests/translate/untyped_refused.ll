; options: pointers=untyped extensions=-SPV_KHR_untyped_pointers
target triple = "spir64-unknown-unknown"

define spir_func void @f(ptr %p) {
  ret void
}
