; options: extensions=-SPV_INTEL_task_sequence
target triple = "spir64-unknown-unknown"

define spir_func target("spirv.TaskSequenceINTEL") @used(target("spirv.TaskSequenceINTEL") %t) {
  call spir_func void @_Z32__spirv_TaskSequenceReleaseINTELPv(target("spirv.TaskSequenceINTEL") %t)
  ret target("spirv.TaskSequenceINTEL") %t
}

declare spir_func void @_Z32__spirv_TaskSequenceReleaseINTELPv(target("spirv.TaskSequenceINTEL"))
