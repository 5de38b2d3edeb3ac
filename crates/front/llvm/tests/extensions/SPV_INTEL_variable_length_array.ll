target triple = "spir64-unknown-unknown"

define spir_func i32 @used(i64 %n) {
  %a = alloca i32, i64 %n, align 4
  store i32 1, ptr %a, align 4
  %b = load i32, ptr %a, align 4
  ret i32 %b
}
