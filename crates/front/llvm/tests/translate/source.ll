; The language of the source in SPIR-V's own numbers goes before that of OpenCL C.
target triple = "spir64-unknown-unknown"

define spir_kernel void @kernel() {
  ret void
}

!spirv.Source = !{!0}
!opencl.ocl.version = !{!1}
!0 = !{i32 6, i32 100000}
!1 = !{i32 2, i32 0}
