target triple = "spir64-unknown-unknown"

define spir_func i32 @used(<4 x i8> %a0, <4 x i8> %a1) {
  %r = call spir_func i32 @_Z3dotDv4_cS_(<4 x i8> %a0, <4 x i8> %a1)
  ret i32 %r
}

declare spir_func i32 @_Z3dotDv4_cS_(<4 x i8>, <4 x i8>)
