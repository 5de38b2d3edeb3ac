; Hints of unsigned and signed vector types: the mode has no sign, so that a string names the unsigned type.
target triple = "spir64-unknown-unknown"

define spir_kernel void @unsigned_hint() !vec_type_hint !0 {
  ret void
}

define spir_kernel void @signed_hint() !vec_type_hint !1 {
  ret void
}

!0 = !{<4 x i32> undef, i32 0}
!1 = !{i64 undef, i32 1}
