; options: extensions=SPV_KHR_float_controls2
; Defaults of floats take the place of the modes before them: what these preserved is preserved.
target triple = "spir64-unknown-unknown"

define spir_kernel void @defaults(half %h, float %f, double %d) {
  ret void
}

!spirv.ExecutionMode = !{!0, !1, !2, !3, !4}
!0 = !{ptr @defaults, i32 6028, float poison, i32 131079}
!1 = !{ptr @defaults, i32 31}
!2 = !{ptr @defaults, i32 4461, i32 16}
!3 = !{ptr @defaults, i32 4461, i32 32}
!4 = !{ptr @defaults, i32 4461, i32 7}
