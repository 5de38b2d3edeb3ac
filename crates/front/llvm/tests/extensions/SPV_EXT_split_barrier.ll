target triple = "spir64-unknown-unknown"

define spir_func void @used() {
  call spir_func void @_Z31intel_work_group_barrier_arrivej(i32 1)
  ret void
}

declare spir_func void @_Z31intel_work_group_barrier_arrivej(i32)
