target triple = "spir64-unknown-unknown"

define spir_func i32 @used(i32 %a0, i32 %a1) {
  %r = call spir_func i32 @_Z16sub_group_rotateij(i32 %a0, i32 %a1)
  ret i32 %r
}

declare spir_func i32 @_Z16sub_group_rotateij(i32, i32)
