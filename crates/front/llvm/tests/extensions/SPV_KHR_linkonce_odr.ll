target triple = "spir64-unknown-unknown"

define linkonce_odr spir_func i32 @used(i32 %a) {
  ret i32 %a
}
