target triple = "spir64-unknown-unknown"

define spir_kernel void @used() {
  ret void
}

!spirv.ExecutionMode = !{!0}
!0 = !{ptr @used, i32 6461, i32 64}
