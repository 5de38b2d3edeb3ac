; options: capabilities=Linkage
; What needs a capability that may not be declared is named with it.
target triple = "spir64-unknown-unknown"

define spir_func double @f(double %a, i64 %b, <8 x i32> %c) {
  ret double %a
}
