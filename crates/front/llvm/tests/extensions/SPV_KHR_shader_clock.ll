target triple = "spir64-unknown-unknown"

define spir_func i64 @used() {
  %r = call spir_func i64 @_Z17clock_read_devicev()
  ret i64 %r
}

declare spir_func i64 @_Z17clock_read_devicev()
