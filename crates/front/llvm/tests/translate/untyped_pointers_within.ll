; options: pointers=untyped
; Steps over pointers, and literals of extended instructions that are numbers of other ids.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

declare spir_func <8 x double> @_Z6vload8mPU3AS1Kd(i64, ptr addrspace(1))
declare spir_func void @_Z7vstore8Dv8_dmPU3AS1d(<8 x double>, i64, ptr addrspace(1))

define spir_func i32 @through(ptr addrspace(4) %list, i32 %n) {
  %at = sext i32 %n to i64
  %p = getelementptr inbounds ptr addrspace(4), ptr addrspace(4) %list, i64 %at
  %q = load ptr addrspace(4), ptr addrspace(4) %p, align 8
  %v = load i32, ptr addrspace(4) %q, align 4
  ret i32 %v
}

define spir_kernel void @eight(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %n) {
  %v = call spir_func <8 x double> @_Z6vload8mPU3AS1Kd(i64 %n, ptr addrspace(1) %in)
  call spir_func void @_Z7vstore8Dv8_dmPU3AS1d(<8 x double> %v, i64 %n, ptr addrspace(1) %out)
  ret void
}
