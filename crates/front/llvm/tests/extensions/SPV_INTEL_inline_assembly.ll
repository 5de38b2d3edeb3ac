target triple = "spir64-unknown-unknown"

define spir_func i32 @used(i32 %a) {
  %b = call i32 asm sideeffect "mov $0, $1", "=r,r"(i32 %a)
  ret i32 %b
}
